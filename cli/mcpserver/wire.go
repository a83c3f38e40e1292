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

// MaxLine is the maximum size of a client's message, in bytes.
const MaxLine = 16 << 20

// lockedWriter lets two goroutines write whole lines. Close does nothing.
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

// sieve passes valid messages on and answers invalid lines with an error. The library would close the connection
// instead.
type sieve struct {
	in    *bufio.Reader
	out   io.Writer
	log   *slog.Logger
	ended func()
	rest  []byte // rest of the current message
}

func newSieve(in io.Reader, out io.Writer, log *slog.Logger, ended func()) *sieve {
	return &sieve{in: bufio.NewReaderSize(in, 64<<10), out: out, log: log, ended: ended}
}

// Read is called by one goroutine.
func (s *sieve) Read(b []byte) (int, error) {
	for len(s.rest) == 0 {
		line, err := s.line()
		if line = bytes.TrimSpace(line); len(line) > 0 && !errors.Is(err, errTooLong) {
			s.rest = s.validate(line)
		}
		switch {
		case len(s.rest) > 0:
		case errors.Is(err, errTooLong):
			s.refuse(jsonrpcInvalid, fmt.Sprintf("a message can have at most %d bytes", MaxLine))
		case err != nil:
			s.ended()
			return 0, err
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close does nothing, because nothing can interrupt a read of standard input.
func (s *sieve) Close() error { return nil }

var errTooLong = errors.New("line too long")

// line reads one line and skips one that is too long.
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

// The JSON-RPC error codes of invalid messages.
const (
	jsonrpcParse   = -32700
	jsonrpcInvalid = -32600
)

// validate returns a valid message, or nil.
func (s *sieve) validate(line []byte) []byte {
	if !json.Valid(line) {
		s.refuse(jsonrpcParse, "not JSON; a message is one object on one line")
		return nil
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		s.refuse(jsonrpcInvalid, "not a JSON-RPC 2.0 message")
		return nil
	}
	return append(bytes.Clone(line), '\n')
}

// refuse answers an invalid message.
func (s *sieve) refuse(code int, why string) {
	s.log.Warn("invalid message", "why", why)
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	line, _ := json.Marshal(struct { // strings and numbers can always be encoded
		Version string `json:"jsonrpc"`
		ID      *int   `json:"id"`
		Error   fault  `json:"error"`
	}{"2.0", nil, fault{code, why}})
	_, _ = s.out.Write(append(line, '\n')) // the next write reports a closed output
}
