package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/blakesmith/ar"
	"github.com/cavaliergopher/cpio"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// file is a regular file of an archive.
type file struct {
	mode int64
	data []byte
}

// unpack returns the regular files of an archive or a package, by their path without a leading slash.
func unpack(data []byte, format string) (map[string]file, error) {
	switch format {
	case "zip":
		return unpackZip(data)
	case "deb":
		return unpackDeb(data)
	case "rpm":
		return unpackRPM(data)
	default: // tar.gz, and apk, which is several compressed tar files after each other
		return unpackTar(data)
	}
}

// decompress recognizes the format by its first bytes.
func decompress(data []byte) (io.Reader, error) {
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		return gzip.NewReader(bytes.NewReader(data))
	case bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstd.NewReader(bytes.NewReader(data))
	case bytes.HasPrefix(data, []byte("\xfd7zXZ")):
		return xz.NewReader(bytes.NewReader(data))
	}
	return nil, fmt.Errorf("unknown compression %x", data[:min(6, len(data))])
}

func unpackTar(data []byte) (map[string]file, error) {
	from, err := decompress(data)
	if err != nil {
		return nil, err
	}
	out := map[string]file{}
	for all := tar.NewReader(from); ; {
		head, err := all.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case head.Typeflag != tar.TypeReg:
			continue
		}
		text, err := io.ReadAll(all)
		if err != nil {
			return nil, err
		}
		out[clean(head.Name)] = file{head.Mode & 0o777, text}
	}
}

func clean(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

func unpackZip(data []byte) (map[string]file, error) {
	all, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	out := map[string]file{}
	for _, f := range all.File {
		from, err := f.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(from)
		if err := errors.Join(err, from.Close()); err != nil {
			return nil, err
		}
		out[clean(f.Name)] = file{int64(f.Mode().Perm()), text}
	}
	return out, nil
}

// unpackDeb reads data.tar.* of an ar archive.
func unpackDeb(data []byte) (map[string]file, error) {
	for all := ar.NewReader(bytes.NewReader(data)); ; {
		head, err := all.Next()
		if err != nil {
			return nil, fmt.Errorf("no data in the package: %w", err)
		}
		if strings.HasPrefix(head.Name, "data.tar") {
			text, err := io.ReadAll(all)
			if err != nil {
				return nil, err
			}
			return unpackTar(text)
		}
	}
}

// unpackRPM skips the lead and two headers; a compressed cpio archive follows.
func unpackRPM(data []byte) (map[string]file, error) {
	at := 96
	for i := range 2 {
		if len(data) < at+16 || !bytes.HasPrefix(data[at:], []byte{0x8e, 0xad, 0xe8, 1}) {
			return nil, errors.New("not an RPM package")
		}
		at += 16 + 16*int(binary.BigEndian.Uint32(data[at+8:])) + int(binary.BigEndian.Uint32(data[at+12:]))
		if i == 0 {
			at = (at + 7) / 8 * 8 // only the signature is padded
		}
	}
	if at > len(data) {
		return nil, errors.New("the package is cut off")
	}
	from, err := decompress(data[at:])
	if err != nil {
		return nil, err
	}
	out := map[string]file{}
	for all := cpio.NewReader(from); ; {
		head, err := all.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case !head.Mode.IsRegular():
			continue
		}
		text, err := io.ReadAll(all)
		if err != nil {
			return nil, err
		}
		out[clean(head.Name)] = file{int64(head.Mode.Perm()), text}
	}
}
