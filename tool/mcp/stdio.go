package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// openLocal starts the program of a server and greets it.
func (l *conn) openLocal() error {
	o, def := &l.p.hub.o, l.p.def
	if o.Runner == nil {
		return errors.New("programs cannot be started here")
	}
	dir := o.Dir
	if def.Dir != "" {
		dir = def.Dir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(o.Dir, dir)
		}
	}
	env := environ.With(o.Env, def.Environment)
	path, err := program(def.Command[0], dir, env)
	if err != nil {
		return err
	}
	var profile sandbox.Profile
	if o.Confine != nil {
		if profile, err = o.Confine(def); err != nil {
			return err
		}
	}
	l.confined = profile.Confined()
	return l.greet(func() (sdk.Transport, error) {
		if l.service != nil { // it did not like how it was greeted, and its pipes are closed
			_, _ = l.service.Stop()
		}
		s, err := o.Runner.Start(sandbox.Command{Path: path, Args: def.Command[1:], Dir: dir, Env: env, Profile: profile})
		if err != nil {
			return nil, err
		}
		l.service = s
		return pipes{s, o.Log.With("server", def.Name), l.fail}, nil
	})
}

// program finds a program as a shell does that has this environment.
func program(name, dir string, env []string) (string, error) {
	if path := environ.Find(env, dir, name); path != "" {
		return path, nil
	}
	switch {
	case filepath.Base(name) == name:
		return "", fmt.Errorf("program %s not found in PATH; install it, or use its full path", name)
	case !filepath.IsAbs(name):
		name = filepath.Join(dir, name)
	}
	return "", fmt.Errorf("program %s not found", name)
}

// last makes of the bare end of a connection how the program ended, and adds to any other reason
// what it said at last.
func (l *conn) last(err error) error {
	exit := ""
	if bare(err) {
		select {
		case <-l.service.Done():
			res, _ := l.service.Stop() // it has ended
			switch {
			case res.Signal != "":
				exit = "the program was ended by " + res.Signal
			case res.Exit >= 0:
				exit = fmt.Sprintf("the program ended with code %d", res.Exit)
			}
		case <-time.After(endTime): // its end may be a moment after that of its output
		}
	}
	said := line(tailOf(l.service.Stderr(), 600), 600)
	if l.confined && refused().MatchString(said) {
		said = strings.TrimSuffix(said, ".") + fmt.Sprintf(" (it runs in the sandbox; if it needs more than that gives, set mcp.%s.sandbox)", l.p.def.Name)
	}
	switch {
	case exit != "" && said != "":
		return fmt.Errorf("%s: %s", exit, said)
	case exit != "":
		return errors.New(exit)
	case said != "":
		return fmt.Errorf("%w; it said: %s", err, said)
	}
	return err
}

// refused is how programs say that they were not let do something.
var refused = phrase.Regexp(`(?i)permission denied|not permitted|read-only|no such file|cannot connect|cannot open|\b(EACCES|EPERM|EROFS|ENOENT)\b`)

// bare reports whether an error says no more than that there is a connection no longer.
func bare(err error) bool {
	return slices.ContainsFunc([]error{io.EOF, errEnded, io.ErrClosedPipe, fs.ErrClosed, syscall.EPIPE, sdk.ErrConnectionClosed}, func(end error) bool {
		return errors.Is(err, end)
	})
}

// endTime is how long the end of a program is waited for when its output has ended.
const endTime = 200 * time.Millisecond

// tailOf is the end of a text, from the beginning of a line if there is one.
func tailOf(s string, most int) string {
	s = strings.TrimSpace(s)
	if len(s) <= most {
		return s
	}
	s = s[len(s)-most:]
	if _, rest, ok := strings.Cut(s, "\n"); ok {
		return rest
	}
	return s
}

// pipes is the transport over a program's input and output: a message a line.
type pipes struct {
	service *sandbox.Service
	log     *slog.Logger
	fail    func(error)
}

// Connect implements the SDK's Transport.
func (t pipes) Connect(context.Context) (sdk.Connection, error) {
	return newPipeConn(t.service.Stdout, t.service.Stdin, t.log, t.fail), nil
}

// pipeConn is a connection over pipes. The SDK's own would end with the first line that is no
// message, and many programs print something before they know that they must not.
type pipeConn struct {
	in    *bufio.Reader
	from  io.Closer
	out   io.WriteCloser
	log   *slog.Logger
	fail  func(error)
	queue []jsonrpc.Message // of a batch; belongs to the reader, as junk
	junk  int

	turn   chan struct{} // held by who writes
	closed chan struct{}
	once   sync.Once
}

func newPipeConn(from io.ReadCloser, to io.WriteCloser, log *slog.Logger, fail func(error)) *pipeConn {
	return &pipeConn{
		in: bufio.NewReaderSize(from, 64<<10), from: from, out: to, log: log, fail: fail,
		turn: make(chan struct{}, 1), closed: make(chan struct{}),
	}
}

// SessionID implements the SDK's Connection: pipes have none.
func (c *pipeConn) SessionID() string { return "" }

// Read returns the next message, passing over what is none.
func (c *pipeConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := readLine(c.in, mostMessage)
		if err != nil {
			if errors.Is(err, errLarge) {
				c.fail(err)
			}
			return nil, err
		}
		c.queue = c.messages(line)
	}
	msg := c.queue[0]
	c.queue = c.queue[1:]
	return msg, nil
}

// errLarge ends a connection: what comes after cannot be waited for.
var errLarge = fmt.Errorf("the server sent a message larger than %d MiB", mostMessage>>20)

// readLine reads a line that is at most so long, without holding more than that.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var all []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(all)+len(piece) > most {
			return nil, errLarge
		}
		if err == nil && all == nil {
			return bytes.Clone(bytes.TrimSpace(piece)), nil
		}
		all = append(all, piece...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(bytes.TrimSpace(all)) > 0:
			return bytes.TrimSpace(all), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// mostJunk is how many lines that are no messages are logged of a connection.
const mostJunk = 5

// messages are those of a line: one, those of a batch, or none.
func (c *pipeConn) messages(line []byte) []jsonrpc.Message {
	if len(line) == 0 {
		return nil
	}
	raws := []json.RawMessage{line}
	if line[0] == '[' && json.Unmarshal(line, &raws) != nil {
		raws = []json.RawMessage{line}
	}
	var out []jsonrpc.Message
	for _, raw := range raws {
		msg, err := jsonrpc.DecodeMessage(raw)
		if err == nil {
			out = append(out, msg)
			continue
		}
		if reply := unreadable(raw); reply != nil {
			out = append(out, reply)
			continue
		}
		if c.junk++; c.junk <= mostJunk {
			c.log.Warn("mcp server printed a line that is not a message", "size", len(raw))
		}
	}
	return out
}

// unreadable turns an answer that the SDK rejects, such as one nested too deeply, into an
// error, so that its caller does not wait.
func unreadable(raw []byte) jsonrpc.Message {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(raw, &m) != nil || !present(m.ID) || m.Method != "" {
		return nil
	}
	text := append([]byte(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"the answer cannot be read"},"id":`), m.ID...)
	msg, err := jsonrpc.DecodeMessage(append(text, '}'))
	if err != nil {
		return nil
	}
	return msg
}

// Write sends a message. A program that does not read makes it wait until the context ends; the
// message is then still on its way.
func (c *pipeConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(outgoing(msg))
	if err != nil {
		return err
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return io.ErrClosedPipe
	}
	done := make(chan error, 1)
	go func() { // it ends with the pipe at the latest, which Close closes
		_, err := c.out.Write(append(data, '\n'))
		<-c.turn
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return io.ErrClosedPipe
	}
}

// Close ends the connection, and whatever waits in it.
func (c *pipeConn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		_ = c.out.Close() // the program ends by that; both may be closed already
		_ = c.from.Close()
	})
	return nil
}
