package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// MaxLine is how long a message of a client may be, in bytes.
const MaxLine = 16 << 20

// lockedWriter lets two write whole lines to one place. Closing it is left to the program.
type lockedWriter struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func (l *lockedWriter) Close() error { return nil }

// sieve passes on the lines that are messages. What is none is answered with what is wrong, as the
// protocol has it, and the connection goes on: the library would end it.
type sieve struct {
	in    *bufio.Reader
	out   io.Writer
	log   *slog.Logger
	ended func()
	rest  []byte // of the message that is being read
}

func newSieve(in io.Reader, out io.Writer, log *slog.Logger, ended func()) *sieve {
	return &sieve{in: bufio.NewReaderSize(in, 64<<10), out: out, log: log, ended: ended}
}

// Read is called by one goroutine.
func (s *sieve) Read(b []byte) (int, error) {
	for len(s.rest) == 0 {
		line, err := s.line()
		if line = bytes.TrimSpace(line); len(line) > 0 && !errors.Is(err, errTooLong) {
			s.rest = s.judged(line)
		}
		switch {
		case len(s.rest) > 0:
		case errors.Is(err, errTooLong):
			s.refuse(jsonrpcInvalid, fmt.Sprintf("a message has at most %d bytes", MaxLine))
		case err != nil:
			s.ended()
			return 0, err
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close lets go of nothing: nothing can wake a read of standard input.
func (s *sieve) Close() error { return nil }

var errTooLong = errors.New("a line is too long")

// line reads one line, or passes over one that is too long.
func (s *sieve) line() (line []byte, err error) {
	long := false
	for {
		piece, err := s.in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > MaxLine; !long {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return nil, errTooLong
		}
		return line, err
	}
}

// The codes of JSON-RPC for what is no request.
const (
	jsonrpcParse   = -32700
	jsonrpcInvalid = -32600
)

// judged is a line that the library can read, nil if it is none.
func (s *sieve) judged(line []byte) []byte {
	if !json.Valid(line) {
		s.refuse(jsonrpcParse, "this is not JSON; a message is one object on one line")
		return nil
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		s.refuse(jsonrpcInvalid, "this is no message of JSON-RPC 2.0")
		return nil
	}
	return append(bytes.Clone(line), '\n')
}

// refuse answers what cannot be answered by the library.
func (s *sieve) refuse(code int, why string) {
	s.log.Warn("a line that is no message", "why", why)
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	line, _ := json.Marshal(struct { // strings and numbers always can be
		Version string `json:"jsonrpc"`
		ID      *int   `json:"id"`
		Error   fault  `json:"error"`
	}{"2.0", nil, fault{code, why}})
	_, _ = s.out.Write(append(line, '\n')) // who does not read it will notice on the next answer
}
