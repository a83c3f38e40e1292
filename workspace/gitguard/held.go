package gitguard

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A mount that covers a file for a command goes away when a process outside replaces the file,
// which is how the user's git changes its configuration. From then on, processes of that
// command can write the real one. So while commands run, files that were replaced are looked at
// often, and keys that are not allowed are set back: their author is unknown.

// lookTime is how often they are looked at: sooner than editors that watch a repository run git.
const lookTime = 20 * time.Millisecond

// heldFile is a configuration file that commands must not change.
type heldFile struct {
	path string
	open *os.File // as it was, so that its number is not given to another
	text []byte   // the last content that the user's git wrote, as far as known
	seen stamp
	// linked says that it lies where no command can reach it, even after a replacement (see
	// [Link]).
	linked bool
	loose  bool // it was replaced, or is not linked any more
}

// heldFiles are those of one project, while commands run.
type heldFiles struct {
	aside func(path string) error

	mu    sync.Mutex
	files []*heldFile
	found []Finding
	stop  chan struct{}
	ended chan struct{}
}

// hold begins to look after files; those that do not exist are left out.
func (h *heldFiles) hold(paths []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, path := range paths {
		if slices.ContainsFunc(h.files, func(f *heldFile) bool { return f.path == path }) {
			continue
		}
		text, err := readConfig(path)
		if err != nil {
			continue
		}
		real, linked := RealConfig(path)
		f := &heldFile{path: path, text: text, linked: linked}
		if f.open, err = os.OpenFile(real, os.O_RDONLY|openFlags, 0); err == nil {
			h.files = append(h.files, f)
		}
	}
	if h.stop != nil || len(h.files) == 0 {
		return
	}
	h.stop, h.ended = make(chan struct{}), make(chan struct{})
	go h.run(h.stop, h.ended)
}

func (h *heldFiles) run(stop <-chan struct{}, ended chan<- struct{}) {
	defer close(ended)
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			h.look()
		}
	}
}

// look resets forbidden keys in replaced files.
func (h *heldFiles) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.files {
		if finding, bad := f.look(h.aside); bad {
			h.found = append(h.found, finding)
		}
	}
}

// take returns what was found since the last time.
func (h *heldFiles) take() []Finding {
	h.look()
	h.mu.Lock()
	defer h.mu.Unlock()
	found := h.found
	h.found = nil
	return found
}

// release ends it. What was found stays.
func (h *heldFiles) release() {
	h.look()
	h.mu.Lock()
	stop, ended := h.stop, h.ended
	for _, f := range h.files {
		_ = f.open.Close() // it was only read
	}
	h.files, h.stop, h.ended = nil, nil, nil
	h.mu.Unlock()
	if stop != nil {
		close(stop)
		<-ended
	}
}

func (f *heldFile) look(aside func(string) error) (Finding, bool) {
	real, linked := RealConfig(f.path)
	info, err := os.Lstat(real)
	if err != nil || stampOf(info) == f.seen && linked == f.linked {
		return Finding{}, false
	}
	was, err := f.open.Stat()
	if f.loose = f.loose || linked != f.linked || !linked && (err != nil || !os.SameFile(was, info)); !f.loose {
		if text, err := readRegular(real); err == nil {
			f.text, f.seen = text, stampOf(info) // no command can have written it
		}
		return Finding{}, false
	}
	bad, err := f.restore(aside)
	if info, statErr := os.Lstat(real); err == nil && statErr == nil && time.Since(stampOf(info).time) > settled {
		f.seen = stampOf(info)
	}
	return Finding{
		Path: f.path, Err: err,
		Why: "set " + strings.Join(bad[:min(len(bad), 10)], ", ") + " while a command ran that could reach the file, since another program had replaced it; it is as it was, and can be set again when no command runs",
	}, len(bad) > 0
}

// restore resets forbidden keys, and returns them. Git's lock is taken only for that, or git of
// the user would fail when it meets ours. It is not waited for: a command can make one and keep
// it. A git that holds it replaces the file, which is looked at again then.
func (f *heldFile) restore(aside func(string) error) (bad []string, err error) {
	if _, _, bad, err = f.findForbidden(); err == nil && len(bad) == 0 || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	real, _ := RealConfig(f.path)
	if inPlace(real) != nil {
		return nil, nil // it is no longer what git of the user finds
	}
	if unlock, err := lockConfig(real, 0); err == nil {
		defer unlock()
	}
	now, m, bad, err := f.findForbidden()
	switch {
	case errors.Is(err, errUnreadable):
		if err = aside(f.path); err == nil {
			err = writeNew(f.path, f.text)
		}
		return []string{"lines that git cannot read"}, err
	case err != nil || len(bad) == 0:
		return nil, err
	}
	return bad, writeInPlace(real, now, m.Text)
}

// findForbidden finds the forbidden keys. It reads again what git replaces meanwhile.
func (f *heldFile) findForbidden() (now []byte, m Merged, bad []string, err error) {
	for range 10 {
		if now, err = readConfig(f.path); !errors.Is(err, errUnreadable) {
			break
		}
	}
	if err == nil {
		m, bad, err = setBack(f.text, now)
	}
	return now, m, bad, err
}

func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// setBack gives the keys that are not allowed the values that they had.
func setBack(was, now []byte) (m Merged, keys []string, err error) {
	old, err1 := parse(was)
	has, err2 := parse(now)
	if err2 != nil || err1 != nil && !bytes.Equal(was, now) {
		return m, nil, errUnreadable
	}
	text := now
	for _, key := range changedKeys(old, has) {
		if mayChange(key, old.values[key], has.values[key], nil) {
			continue
		}
		name := has.names[key]
		if name == "" {
			name = old.names[key]
		}
		if text, err = setValues(text, key, name, old.values[key]); err != nil {
			return m, nil, errUnreadable
		}
		keys = append(keys, key)
		m.Text = text
	}
	return m, keys, nil
}
