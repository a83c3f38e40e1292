package mini

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/term"
)

// Input of the user besides tea.KeyPressMsg and tea.PasteMsg.
type (
	// line is a line that the terminal edited, or several that were pasted.
	line struct{ text string }
	// resized says that the terminal has another size.
	resized struct{}
	// interrupted is Ctrl-C on a terminal that is not in raw mode.
	interrupted struct{}
)

// source reads the input of the user.
type source struct {
	events chan any
	close  func() // restores the terminal
}

// openInput takes the terminal: key by key, or line by line for a linear face.
func (p *program) openInput(ctx context.Context) (*source, error) {
	s := &source{events: make(chan any, 64)}
	if p.o.Accessible {
		p.readLines(ctx, s)
		return s, nil
	}
	return s, p.readKeys(ctx, s)
}

// The modes of the terminal: pastes are marked, and modified keys are told apart.
const (
	setModes   = "\x1b[?2004h\x1b[>1u"
	resetModes = "\x1b[?2004l\x1b[<u"
)

// tty is the terminal in raw mode.
type rawTTY struct {
	file, out *os.File
	was       *term.State
}

func (t *rawTTY) take() (err error) {
	if t.was, err = term.MakeRaw(int(t.file.Fd())); err != nil {
		return fmt.Errorf("read keys from the terminal: %w", err)
	}
	_, err = t.out.WriteString(setModes)
	return err
}

func (t *rawTTY) give() {
	_, _ = t.out.WriteString(resetModes) // a terminal that is gone has no modes
	_ = term.Restore(int(t.file.Fd()), t.was)
}

// readKeys reads keys in raw mode until the context ends.
func (p *program) readKeys(ctx context.Context, s *source) error {
	p.tty = &rawTTY{file: p.o.In, out: p.o.Out}
	if err := p.tty.take(); err != nil {
		return err
	}
	cancelable, err := uv.NewCancelReader(p.o.In)
	if err != nil {
		p.tty.give()
		return fmt.Errorf("read keys from the terminal: %w", err)
	}
	keys := make(chan uv.Event)
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = uv.NewTerminalReader(cancelable, envValue(p.o.Env, "TERM")).StreamEvents(ctx, keys)
		close(keys)
	}()
	sizes := uv.NewSizeNotifier(p.o.Out)
	_ = sizes.Start() // without it, the next key redraws
	go func() {
		defer close(s.events)
		translate(ctx, keys, sizes.C, s.events)
	}()
	s.close = func() {
		stop()
		_ = sizes.Stop()
		cancelable.Cancel()
		for open := true; open; { // the reader may be about to send
			select {
			case _, open = <-keys:
			case <-time.After(time.Second): // a read that nothing can cancel
				open = false
			}
		}
		p.tty.give()
	}
	return nil
}

// translate passes keys and pastes on as the editor knows them.
func translate(ctx context.Context, keys <-chan uv.Event, sizes <-chan os.Signal, to chan<- any) {
	send := func(v any) {
		select {
		case to <- v:
		case <-ctx.Done():
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-sizes:
			send(resized{})
		case k, open := <-keys:
			if !open {
				return
			}
			switch k := k.(type) {
			case uv.KeyPressEvent:
				send(tea.KeyPressMsg(k))
			case uv.PasteEvent:
				send(tea.PasteMsg(k))
			case uv.WindowSizeEvent:
				send(resized{})
			}
		}
	}
}

// envValue is the value of a variable.
func envValue(env []string, name string) (out string) {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			out = v
		}
	}
	return out
}

// pasteTime is how soon after a line the next one belongs to the same paste.
const pasteTime = 30 * time.Millisecond

// readLines reads lines that the terminal itself edits and shows. Lines that arrive at once are one paste.
func (p *program) readLines(ctx context.Context, s *source) {
	typed := make(chan string)
	go func() { // it ends with the program, since nothing can interrupt the read
		defer close(typed)
		readTo(p.o.In, typed)
	}()
	var interrupts <-chan os.Signal
	stop := func() {}
	if p.o.Interrupts != nil {
		interrupts, stop = p.o.Interrupts()
	}
	s.close = stop
	go func() {
		defer close(s.events)
		collect(ctx, typed, interrupts, s.events)
	}()
}

// readTo sends the lines of a terminal until its end.
func readTo(in io.Reader, typed chan<- string) {
	buf := make([]byte, 4096)
	var rest []byte
	for {
		n, err := in.Read(buf)
		rest = append(rest, buf[:n]...)
		for {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			typed <- strings.TrimSuffix(string(rest[:i]), "\r")
			rest = rest[i+1:]
		}
		if err != nil {
			return
		}
	}
}

// collect joins lines to pastes.
func collect(ctx context.Context, typed <-chan string, interrupts <-chan os.Signal, to chan<- any) {
	var lines []string
	var wait <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-interrupts:
			to <- interrupted{}
		case text, open := <-typed:
			if !open {
				if lines != nil {
					to <- line{strings.Join(lines, "\n")}
				}
				return
			}
			lines, wait = append(lines, text), time.After(pasteTime)
		case <-wait:
			to <- line{strings.Join(lines, "\n")}
			lines, wait = nil, nil
		}
	}
}
