package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Run runs a command and returns when it has ended, or soon after ctx has. What it prints, both
// streams in the order they came, goes to output in pieces that are only valid during the call.
//
// A command that ran is no error, whatever its exit code. Of one that was canceled the result may
// come before its end: its processes are then being ended and have [Config.Grace] to do so.
func (r *Runner) Run(ctx context.Context, c Command, output func([]byte)) (Result, error) {
	if ctx.Err() != nil { // a cancel that comes before the start wins
		return Result{Exit: -1, Canceled: true}, nil
	}
	began := time.Now()
	var t tree
	var out *os.File
	c, err := r.fenced(c)
	if err != nil {
		return Result{Exit: -1}, err
	}
	err = r.enter(c, func() (_ tree, err error) {
		t, out, err = r.startPiped(c)
		return t, err
	})
	if err != nil {
		return Result{Exit: -1}, err
	}
	f := follow(out)
	defer close(f.left)
	if c.Started != nil {
		c.Started(func() []Process { return r.number(c.Owner, t, t.rest()) })
	}
	res, err := r.watch(ctx, c, t, func(limit time.Duration, until ...<-chan struct{}) int {
		return f.pump(output, limit, until...)
	})
	res.Took, res.Sandbox = time.Since(began), t.confined()
	if k := c.Profile.Monitor; k != nil {
		res.Notes = k.Check(CommandEnded)
	}
	if n, ok := t.(interface{ notes() []string }); ok {
		res.Notes = append(res.Notes, n.notes()...)
	}
	return res, err
}

// startPiped starts a command that prints into one pipe.
func (r *Runner) startPiped(c Command) (tree, *os.File, error) {
	stdin, err := c.stdin()
	if err != nil {
		return nil, nil, err
	}
	if c.Stdin == nil {
		defer func() { _ = stdin.Close() }()
	}
	out, in, err := pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("a pipe for the output: %w", err)
	}
	defer func() { _ = in.Close() }()
	s := streams{in: stdin, out: in, err: in}
	if c.Stderr != nil {
		s.err = c.Stderr
	}
	if c.Leftovers == DetachLeftovers {
		s.drain = out
	}
	t, err := r.startMonitored(c, s)
	if err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	return t, out, nil
}

// streams are the ends that a command has of its pipes. The starter closes them.
type streams struct {
	in, out, err *os.File
	drain        *os.File // the other end of its output, for what may be let go; nil means none
}

// environment is that of a command, with what its profile sets: none of its own is not ours.
func (c Command) environment() []string {
	if !c.Profile.Confined() || len(c.Profile.Env) == 0 {
		return slices.Concat([]string{}, c.Env)
	}
	set := map[string]bool{}
	for _, v := range c.Profile.Env {
		name, _, _ := strings.Cut(v, "=")
		set[name] = true
	}
	out := slices.DeleteFunc(slices.Clone(c.Env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return set[name]
	})
	return append(out, c.Profile.Env...)
}

// pump passes output on until one of the channels is closed, and returns which; -1 means that
// the limit, if there is one, has passed.
type pump func(limit time.Duration, until ...<-chan struct{}) int

// unlimited is the index of [Command.Unlimited] among the channels that watch waits for.
const unlimited = 2

func (r *Runner) watch(ctx context.Context, c Command, t tree, pump pump) (Result, error) {
	var res Result
	how := pump(c.Timeout, t.exited(), ctx.Done(), c.Unlimited)
	if how == unlimited {
		how = pump(0, t.exited(), ctx.Done())
	}
	switch how {
	case 0:
		return r.ended(ctx, c, t, pump)
	case 1:
		res.Canceled = true
	default:
		res.TimedOut = true
	}
	t.kill()
	if res.TimedOut {
		pump(r.grace+killTime, t.gone(), ctx.Done())
	}
	if pump(settleTime, t.gone()) == 0 {
		pump(settleTime, nil) // the end of the output, when all writers have ended
	}
	res.Exit = -1
	select {
	case <-t.exited():
		s := t.status()
		res.Exit, res.Signal, res.Restored, res.RestoreError = s.code, s.signal, s.undone, s.lost
	default:
	}
	return res, nil
}

// ended is the result of a command that ended by itself.
func (r *Runner) ended(ctx context.Context, c Command, t tree, pump pump) (Result, error) {
	s := t.status()
	if s.err != nil {
		t.kill()
		return Result{Exit: -1}, fmt.Errorf("run %s: %w", filepath.Base(c.Path), s.err)
	}
	pump(lateOutput, nil)
	switch {
	case c.Leftovers == EndLeftovers || ctx.Err() != nil:
		t.kill()
		pump(r.grace+killTime, t.gone(), ctx.Done())
		pump(settleTime, nil)
	case c.Leftovers == DetachLeftovers:
		r.letGo(t)
	}
	return Result{Exit: s.code, Signal: s.signal, Leftovers: r.number(c.Owner, t, t.rest()), Restored: s.undone, RestoreError: s.lost}, nil
}

// check finds what a system call would only have a number for.
func (c Command) check() error {
	if !filepath.IsAbs(c.Path) || !filepath.IsAbs(c.Dir) {
		return fmt.Errorf("run %q in %q: both paths must be absolute", c.Path, c.Dir)
	}
	info, err := os.Stat(c.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the directory %s does not exist: %w", c.Dir, err)
	case err != nil:
		return fmt.Errorf("the directory %s cannot be used: %w", c.Dir, err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", c.Dir)
	}
	return c.Profile.check()
}

func explain(c Command, err error) error {
	if tooLong(err) {
		n := 0
		for _, a := range c.Args {
			n = max(n, len(a))
		}
		return fmt.Errorf("the command is too long to be started (%d bytes; most systems take 128 KB): write it to a file and run that: %w", n, err)
	}
	if errors.Is(err, ErrUnavailable) {
		return err
	}
	return fmt.Errorf("start %s: %w", c.Path, err)
}

// follower reads the output of a tree to its end. Output after Run has returned is dropped, so
// that a background process neither blocks nor fails.
type follower struct {
	pieces chan []byte   // the buffer, full; nil is the end
	taken  chan struct{} // it may be filled again
	left   chan struct{} // the reader is gone
	ended  bool
}

// follow starts the reader. It ends with the last process that holds the other side.
func follow(out *os.File) *follower {
	f := &follower{pieces: make(chan []byte), taken: make(chan struct{}), left: make(chan struct{})}
	go func() {
		defer func() { _ = out.Close() }() // it was only read
		buf := make([]byte, 64<<10)
		for {
			n, err := out.Read(buf)
			if n > 0 && !f.pass(buf[:n]) {
				buf = buf[:4<<10] // discarded output needs no speed
			}
			if err != nil {
				f.pass(nil)
				return
			}
		}
	}()
	return f
}

func (f *follower) pass(piece []byte) bool {
	select {
	case f.pieces <- piece:
	case <-f.left:
		return false
	}
	if piece == nil {
		return true
	}
	select {
	case <-f.taken:
		return true
	case <-f.left:
		return false
	}
}

// pump is the type of that name, for up to three channels; a first one that is nil channel stands for the end of the output.
func (f *follower) pump(output func([]byte), limit time.Duration, until ...<-chan struct{}) int {
	var timeout <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeout = timer.C
	}
	var others [2]<-chan struct{}
	copy(others[:], until[1:])
	a, b, c := until[0], others[0], others[1]
	for {
		if a == nil && f.ended {
			return 0
		}
		pieces := f.pieces
		if f.ended {
			pieces = nil
		}
		select {
		case piece := <-pieces:
			if f.ended = piece == nil; !f.ended {
				output(piece)
				f.taken <- struct{}{}
			}
		case <-a:
			return 0
		case <-b:
			return 1
		case <-c:
			return unlimited
		case <-timeout:
			return -1
		}
	}
}

// stdin is the input of the command; the caller closes it if it is not the command's own.
func (c Command) stdin() (*os.File, error) {
	if c.Stdin != nil {
		return c.Stdin, nil
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("an empty input: %w", err)
	}
	return f, nil
}
