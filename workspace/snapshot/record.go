package snapshot

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/filelock"
)

// record describes a step, or the changes applied under a key.
type record struct {
	Key    string      `json:"key"`
	Time   time.Time   `json:"time"`
	Before string      `json:"before,omitempty"`
	After  string      `json:"after,omitempty"`
	Files  []fileTrace `json:"files"`
	// Running is an incomplete change. It is reverted when its process dies.
	Running []fileTrace `json:"running,omitempty"`
	// Temp is in the names of the temporary files of that change, so that the next process can remove one.
	Temp string `json:"temp,omitempty"`
	// Intent is what the caller has still to do; see [Worktree.ApplyWith].
	Intent string `json:"intent,omitempty"`
}

type fileTrace struct {
	Path    string // below the root, with slashes
	Changes []fileChange
}

// jsonTrace is a fileTrace on disk. A file name need not be valid UTF-8.
type jsonTrace struct {
	Path    pathText     `json:"path"`
	Changes []fileChange `json:"spans"`
}

// MarshalJSON preserves names that are not valid UTF-8.
func (f fileTrace) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonTrace{pathText(f.Path), f.Changes})
}

// UnmarshalJSON reads the output of MarshalJSON.
func (f *fileTrace) UnmarshalJSON(data []byte) error {
	var j jsonTrace
	err := json.Unmarshal(data, &j)
	f.Path, f.Changes = string(j.Path), j.Changes
	return err
}

// pathText is a path in JSON: as is if it is valid UTF-8, otherwise encoded.
type pathText string

const pathBytes = "base64:"

// MarshalText encodes the path.
func (p pathText) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(p)) && !strings.HasPrefix(string(p), pathBytes) {
		return []byte(p), nil
	}
	return []byte(pathBytes + base64.StdEncoding.EncodeToString([]byte(p))), nil
}

// UnmarshalText decodes the path.
func (p *pathText) UnmarshalText(text []byte) error {
	coded, ok := bytes.CutPrefix(text, []byte(pathBytes))
	if !ok {
		*p = pathText(text)
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(string(coded))
	*p = pathText(data)
	return err
}

const recordSuffix = ".json"

func (t *sharedTree) recordPath(key string) string {
	return t.path(stepsDir, fileName(key)+recordSuffix)
}

// readRecord reads one; nil if there is none. It is the last line of its file: that of a step was its
// journal.
func readRecord(file string) (*record, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data = bytes.TrimSuffix(data, []byte("\n"))
	data = data[bytes.LastIndexByte(data, '\n')+1:]
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("the record %s is damaged: %w", filepath.Base(file), err)
	}
	return &r, nil
}

// writeRecord writes one down; of one that says nothing any more the file goes.
func (t *sharedTree) writeRecord(file string, r *record) error {
	if len(r.Files)+len(r.Running) == 0 && r.Intent == "" {
		return t.disk.remove(file)
	}
	data, err := json.Marshal(r)
	if err == nil {
		err = t.disk.write(file, data, true)
	}
	if err != nil {
		return fmt.Errorf("save the undo record: %w", err)
	}
	return nil
}

// settle makes traces a record with its two trees.
func (t *sharedTree) settle(key string, traces map[string]*trace) (*record, error) {
	r := &record{Key: key, Time: t.store.o.Now().UTC()}
	known, _ := t.moment()
	before, after := known, known
	for _, path := range slices.Sorted(maps.Keys(traces)) {
		spans := netChanges(traces[path].changes)
		if len(spans) == 0 {
			continue
		}
		r.Files = append(r.Files, fileTrace{path, spans})
		before = before.with(path, spans[0].Before.item())
		after = after.with(path, spans[len(spans)-1].After.item())
	}
	var err error
	if r.Before, err = t.objects.keepRoot(before); err == nil {
		r.After, err = t.objects.keepRoot(after)
	}
	return r, err
}

// item is the state as a tree can have it.
func (s state) item() item {
	id, ok := parseOID(s.ID)
	if s.Lost || !ok {
		return item{}
	}
	return item{mode: s.Mode, id: id, stat: stat{perm: s.Perm}}
}

func (t *sharedTree) patchOf(r *record) Patch {
	p := Patch{Before: r.Before, After: r.After}
	for _, f := range r.Files {
		p.Files = append(p.Files, t.abs(f.Path))
	}
	return p
}

// journal is the file of a running step. The lock of the file says that it does.
type journal struct {
	file *os.File
	path string
}

// entry is one line of a journal: a capture, what was written, or what a window found.
type entry struct {
	Path   pathText `json:"path"`
	Before *state   `json:"b,omitempty"`
	After  *state   `json:"a,omitempty"`
	Made   int      `json:"d,omitempty"`
	From   uint64   `json:"from,omitempty"`
	To     uint64   `json:"to,omitempty"`
	Time   int64    `json:"time,omitempty"` // of a capture, in nanoseconds
}

func (t *sharedTree) journalPath(key string) string { return t.path(openDir, fileName(key)) }

// openJournal makes the journal of a step. One that another process left is taken over with what is
// in it.
func (t *sharedTree) openJournal(key string) (*journal, error) {
	path := t.journalPath(key)
	t.disk.at("create", path)
	var err error
	for range 100 { // Tidy may remove the file or its folder before it is locked
		var f *os.File
		if f, err = lockJournal(path); err == nil {
			return &journal{f, path}, nil
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return nil, fmt.Errorf("save the step's changes: %w", err)
			}
		case errors.Is(err, filelock.ErrLocked):
			time.Sleep(time.Millisecond)
		default:
			return nil, fmt.Errorf("save the step's changes: %w", err)
		}
	}
	return nil, fmt.Errorf("save the step's changes: %w", err)
}

// lockJournal opens a journal that is there or new, and makes it ours. That it is gone again is
// fs.ErrNotExist.
func lockJournal(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err = filelock.TryLock(f); err == nil {
		var here, there os.FileInfo
		if here, err = f.Stat(); err == nil {
			there, err = os.Stat(path)
		}
		if err == nil && !os.SameFile(here, there) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

func (j *journal) append(d *disk, entries ...entry) error {
	var b bytes.Buffer
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	d.at("append", j.path)
	if _, err := j.file.Write(b.Bytes()); err != nil {
		return fmt.Errorf("save the step's changes: %w", err)
	}
	return nil
}

// readJournal reads a journal. A last line that is not whole was never acted upon.
func readJournal(f *os.File) (map[string]*trace, map[string]time.Time, error) {
	traces, captured := map[string]*trace{}, map[string]time.Time{}
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return traces, captured, nil
		}
		var e entry
		if err := json.Unmarshal([]byte(strings.TrimSuffix(line, "\n")), &e); err != nil {
			continue
		}
		path := string(e.Path)
		if path == "" { // the end, whose process died before it was done
			continue
		}
		tr := traces[path]
		if tr == nil {
			tr = &trace{}
			traces[path] = tr
		}
		switch {
		case e.Before != nil && e.After != nil:
			tr.add(fileChange{Before: *e.Before, After: *e.After, Made: e.Made, from: e.From, to: e.To})
		case e.Before != nil:
			if tr.open == nil {
				tr.open = &fileChange{Before: *e.Before, Made: e.Made, Time: e.Time, from: e.From}
			}
			captured[path] = time.Unix(0, e.Time)
		case e.After != nil && tr.open != nil:
			tr.open.After, tr.open.to = *e.After, e.To
			tr.add(*tr.open)
			tr.open = nil
		}
	}
}

// writeTime is how long after a capture a tool has written its file. What a file became later may be
// the work of a person.
const writeTime = 10 * time.Second

// Recover returns the writes of a step whose process died, and records them as if the step had
// ended. A Patch without files means that nothing is known, or that the step still runs.
func (w *Worktree) Recover(ctx context.Context, key string) (Patch, error) {
	t := w.t
	if r, err := readRecord(t.recordPath(key)); r != nil || err != nil {
		if r == nil {
			return Patch{}, err
		}
		return t.patchOf(r), nil
	}
	f, err := os.OpenFile(t.journalPath(key), os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Patch{}, nil
	}
	if err != nil {
		return Patch{}, fmt.Errorf("recover a step: %w", err)
	}
	defer f.Close()
	if err := filelock.TryLock(f); err != nil {
		if errors.Is(err, filelock.ErrLocked) {
			err = nil
		}
		return Patch{}, err
	}
	t.load()
	traces, captured, err := readJournal(f)
	if err != nil {
		return Patch{}, fmt.Errorf("recover a step: %w", err)
	}
	for path, tr := range traces {
		if err := ctx.Err(); err != nil {
			return Patch{}, context.Cause(ctx)
		}
		if tr.open != nil {
			if err := t.recoverOpen(path, tr, captured[path]); err != nil {
				return Patch{}, err
			}
		}
	}
	return t.finish(key, traces, &journal{f, f.Name()})
}

// recoverOpen ends a capture after which the process died: the tool may have written or not.
func (t *sharedTree) recoverOpen(path string, tr *trace, captured time.Time) error {
	now, err := t.look(path, true)
	if err != nil {
		return fmt.Errorf("recover a step: %w", err)
	}
	after := now.state
	if changed := time.Unix(0, max(now.item.stat.mtime, now.item.stat.ctime)); !after.absent() && changed.Sub(captured) > writeTime && !after.same(tr.open.Before) {
		after = state{Mode: after.Mode, Lost: true} // too late to be the tool's
	}
	tr.open.After, tr.open.to = after, ^uint64(0)
	tr.add(*tr.open)
	tr.open = nil
	return nil
}

// finish makes the journal of a step its record: by one line more and another name, which costs less
// than a new file. Without a journal there is nothing to keep.
func (t *sharedTree) finish(key string, traces map[string]*trace, j *journal) (Patch, error) {
	r, err := t.settle(key, traces)
	if err != nil {
		return Patch{}, err
	}
	p := t.patchOf(r)
	if j == nil {
		return p, nil
	}
	if len(r.Files) == 0 {
		err = t.disk.remove(j.path)
	} else {
		err = t.record(j, r)
	}
	if err != nil {
		return p, fmt.Errorf("save the undo record: %w", err)
	}
	return p, nil
}

func (t *sharedTree) record(j *journal, r *record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	t.disk.at("append", j.path)
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	t.disk.at("rename", j.path)
	for range 100 { // Tidy may remove the empty folder again
		if err = os.Rename(j.path, t.recordPath(r.Key)); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err := os.MkdirAll(t.path(stepsDir), 0o700); err != nil {
			return err
		}
	}
	return err
}
