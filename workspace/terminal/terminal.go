package terminal

import (
	"os"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace"
)

// Terminal is one of a [Set].
type Terminal struct {
	set   *Set
	at    workspace.Place
	run   *sandbox.Terminal
	shown buffer

	mu   sync.Mutex // guards info
	info lathe.Pty
}

// Info is the terminal's current state as sent to clients.
func (t *Terminal) Info() lathe.Pty {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.info
}

// follow reads the output of the program until its end, and publishes that.
func (t *Terminal) follow() {
	defer t.set.work.Done()
	buf := make([]byte, 32<<10)
	for {
		n, err := t.run.Read(buf)
		if n > 0 {
			t.shown.add(buf[:n])
		}
		if err != nil {
			break
		}
	}
	<-t.run.Done()
	code := exitCode(t.run.Stop())
	t.mu.Lock()
	t.info.Status, t.info.ExitCode = "exited", &code
	id := t.info.ID
	t.mu.Unlock()
	in := t.set.leave(id)
	t.shown.finish()
	if in { // else it was removed, which was published
		t.set.publish(t.at, &lathe.PtyExited{ID: id, ExitCode: code})
		t.set.publish(t.at, &lathe.PtyDeleted{ID: id})
	}
}

// Remove ends the program and its processes, and publishes that. It does not wait for the end.
func (t *Terminal) Remove() {
	id := t.Info().ID
	if !t.set.leave(id) {
		return
	}
	t.set.publish(t.at, &lathe.PtyDeleted{ID: id})
	go t.run.Stop() // the reader waits for the end of it
}

// Rename changes its title and publishes that.
func (t *Terminal) Rename(title string) error {
	if err := checkTitle(title); err != nil {
		return err
	}
	t.mu.Lock()
	t.info.Title = title
	info := t.info
	t.mu.Unlock()
	t.set.publish(t.at, &lathe.PtyChanged{Info: info})
	return nil
}

// Resize sets the size of the terminal.
func (t *Terminal) Resize(rows, cols int) error {
	const most = 10_000
	if rows < 1 || cols < 1 || rows > most || cols > most {
		return lathe.Errorf(lathe.Invalid, "size: rows and cols are from 1 to %d", most)
	}
	return t.run.Resize(rows, cols)
}

// writeTime is how long typed input waits for the program before it is dropped.
const writeTime = 3 * time.Second

// Type sends input to the program. Input that overflows the terminal's buffer is lost, as
// with any terminal.
func (t *Terminal) Type(input []byte) error {
	_ = t.run.SetWriteDeadline(time.Now().Add(writeTime)) // a terminal that is closed says so next
	_, err := t.run.Write(input)
	if os.IsTimeout(err) {
		return nil
	}
	return err
}

// Read returns what was shown from a position on, up to limit characters. It skips output that
// is no longer in the buffer.
func (t *Terminal) Read(from int64, limit int) Output { return t.shown.read(from, limit) }

// Bounds are the positions of the oldest character in the buffer, and after the newest.
func (t *Terminal) Bounds() (start, end int64) { return t.shown.bounds() }
