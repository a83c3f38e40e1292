package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// SQLite reads its log up to the first frame with a wrong checksum and silently drops the
// rest, which is right only after a power cut. This file reads the log without SQLite, to
// detect commits after such a frame.

// The layout of a log: a header, then frames of a header and a page each.
const (
	logHead   = 32
	frameHead = 24
	// Pages of 8 KB fit seven parts of a kilobyte. Those of 4 KB fit three and waste a fifth.
	pageBytes = 8192
)

// logView describes the contents of a database log.
type logView struct {
	pages map[uint32]bool // readable by SQLite
	lost  int             // commits it cannot read, because a frame before them is damaged
	salt  [8]byte         // identifies this generation of the log
}

// holds reports whether all these pages can be read from the log.
func (v logView) holds(from, to uint32) bool {
	for p := from; p <= to; p++ {
		if !v.pages[p] {
			return false
		}
	}
	return true
}

// readLog reads a log. A missing log is empty.
func readLog(path string) (logView, error) {
	v := logView{pages: map[uint32]bool{}}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return v, err
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReaderSize(f, 1<<16)
	head := make([]byte, logHead)
	if _, err := io.ReadFull(r, head); err != nil {
		return v, ignoreEnd(err)
	}
	order, known := logOrder(head)
	sum := readSum(head[24:])
	whole := known && binary.BigEndian.Uint32(head[8:]) == pageBytes && sum == checksum{}.add(order, head[:24])
	v.salt = [8]byte(head[16:24])
	return v, v.readFrames(r, order, sum, whole)
}

// readFrames reads the frames of this generation. Older ones, with another salt, may
// follow. whole means that nothing before was damaged.
func (v *logView) readFrames(r io.Reader, order binary.ByteOrder, sum checksum, whole bool) error {
	buf := make([]byte, frameHead+pageBytes)
	var open []uint32 // pages of a transaction whose commit has not come yet
	for first := true; ; first = false {
		if _, err := io.ReadFull(r, buf); err != nil {
			return ignoreEnd(err)
		}
		page, commit := binary.BigEndian.Uint32(buf), binary.BigEndian.Uint32(buf[4:]) != 0
		salt, stored := [8]byte(buf[8:16]), readSum(buf[16:])
		fits := stored == sum.add(order, buf[:8]).add(order, buf[frameHead:])
		sum = stored // so that one damaged frame does not hide the next ones
		if first && !whole {
			v.salt = salt // the header may be wrong about it
		}
		if whole = whole && fits && salt == v.salt; !whole {
			if fits && salt == v.salt && commit {
				v.lost++
			}
			continue
		}
		open = append(open, page)
		if commit {
			for _, p := range open {
				v.pages[p] = true
			}
			open = nil
		}
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// checksum is SQLite's for its log.
type checksum struct{ a, b uint32 }

func readSum(b []byte) checksum {
	return checksum{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

// add continues the sum over data, whose length is a multiple of eight.
func (c checksum) add(order binary.ByteOrder, data []byte) checksum {
	for ; len(data) >= 8; data = data[8:] {
		c.a += order.Uint32(data) + c.b
		c.b += order.Uint32(data[4:]) + c.a
	}
	return c
}

// logOrder returns the byte order of the checksums, and whether the header is valid.
func logOrder(head []byte) (order binary.ByteOrder, known bool) {
	switch binary.BigEndian.Uint32(head) {
	case 0x377f0682:
		return binary.LittleEndian, true
	case 0x377f0683:
		return binary.BigEndian, true
	default:
		return binary.LittleEndian, false // the byte order of nearly all machines
	}
}

// keepDamagedLog copies a log with commits that SQLite would drop, before SQLite opens it.
// [Driver.Check] reports the copy. It returns the number of lost commits.
func keepDamagedLog(path string) (lost int, copied string, err error) {
	view, err := readLog(path + "-wal")
	if err != nil || view.lost == 0 {
		return 0, "", err
	}
	again, err := readLog(path + "-wal")
	if err != nil || again.lost != view.lost || again.salt != view.salt {
		return 0, "", err // it is being written, so it is not damaged
	}
	copied = fmt.Sprintf("%s-wal.damaged-%x", path, view.salt)
	data, err := os.ReadFile(path + "-wal")
	if err != nil {
		return view.lost, copied, err
	}
	f, err := os.OpenFile(copied, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return view.lost, copied, nil
	}
	if err != nil {
		return view.lost, copied, err
	}
	_, err = f.Write(data)
	return view.lost, copied, errors.Join(err, f.Close())
}

// damagedLogs lists the saved copies.
func damagedLogs(path string) []string {
	names, _ := filepath.Glob(path + "-wal.damaged-*")
	return names
}
