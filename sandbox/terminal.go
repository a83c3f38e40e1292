package sandbox

import (
	"fmt"
	"os"
	"time"
)

// Terminal is a program that runs in its own terminal, for a person to type into. Reading it
// returns the output of the program; without a reader the program waits. It ends as a [Service]
// does: by itself, with its runner, and with our program, and all that it started with it.
//
// The starter calls [Terminal.Stop] when it is no longer needed, also when it ended by itself.
type Terminal struct {
	*os.File // our side of it

	tree  tree
	grace time.Duration
	pid   int
	done  chan struct{}
	res   Result // valid when done is closed
}

// Terminal starts a program in a terminal of this many rows and columns. It has no other input, no
// time limit, and leaves nothing behind.
func (r *Runner) Terminal(c Command, rows, cols int) (*Terminal, error) {
	if c.Stdin != nil || c.Timeout != 0 {
		return nil, fmt.Errorf("start %s: a terminal has neither an input of its caller nor a time limit", c.Path)
	}
	var t *Terminal
	err := r.enter(c, func() (_ tree, err error) {
		if t, err = r.terminal(c, rows, cols); err != nil {
			return nil, err
		}
		return t.tree, nil
	})
	if err != nil {
		return nil, err
	}
	go t.watch()
	return t, nil
}

// watch waits for the end of the program, and ends what it left behind.
func (t *Terminal) watch() {
	defer close(t.done)
	<-t.tree.exited()
	s := t.tree.status()
	t.tree.kill()
	await(t.tree.gone(), t.grace+killTime)
	t.res = Result{Exit: s.code, Signal: s.signal}
}

// PID is the number of the program's process.
func (t *Terminal) PID() int { return t.pid }

// Done is closed when the program and all its processes have ended.
func (t *Terminal) Done() <-chan struct{} { return t.done }

// Stop hangs up, which ends shells at once, ends what runs on after the grace, and returns how the
// program ended. It may be called more than once.
func (t *Terminal) Stop() Result {
	_ = t.Close() // it may be closed already
	if !await(t.done, t.grace) {
		t.tree.kill()
		<-t.done
	}
	return t.res
}
