package model

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/lathe-agent/lathe"
)

// TransportError converts a connection failure to an error with a code: canceled, timed out or broken.
func TransportError(ctx context.Context, err error) error {
	var known *lathe.Error
	var netErr net.Error
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err // it shows the address, and keys travel in its query
	}
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		if cause := context.Cause(ctx); errors.As(cause, &known) {
			return known // one of our deadlines: it says which
		}
		return &lathe.Error{Code: lathe.Canceled, Message: "Aborted", Fault: &lathe.AbortedFault{Message: "Aborted"}, Err: err}
	case errors.As(err, &netErr) && netErr.Timeout():
		return broken("the provider timed out", err, "code", "timeout")
	case isGarbledZip(err):
		return broken("Response decompression failed", err, "code", "decompression")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return broken("the answer ended early", err, "code", "incomplete")
	case strings.Contains(err.Error(), "connection reset"):
		return broken("Connection reset by server", err, "code", "ECONNRESET", "syscall", syscallOf(err), "message", rootCause(err))
	case strings.Contains(err.Error(), "connection refused"):
		return broken("the provider cannot be reached: the connection"+calledHost(err)+" was refused", err, "code", "ECONNREFUSED")
	default:
		return broken("the connection to the provider failed: "+rootCause(err), err, "code", "transport")
	}
}

// calledHost names the called host, which may be a proxy, or a local server that is not running.
func calledHost(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil {
		return " to " + op.Addr.String()
	}
	return ""
}

// rootCause is the text of the first cause, without what each layer put before it.
func rootCause(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

// IncompleteError is the error of a stream that ended without its last event.
func IncompleteError() error {
	return broken("the answer ended early", io.ErrUnexpectedEOF, "code", "incomplete")
}

// isGarbledZip reports whether a body could not be unpacked.
func isGarbledZip(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)
}

// syscallOf is the system call that failed when a connection broke.
func syscallOf(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op
	}
	return "read"
}

// broken is a failure that may be tried again; meta are names and values in turns.
func broken(message string, err error, meta ...string) *lathe.Error {
	told := map[string]string{}
	for i := 0; i+1 < len(meta); i += 2 {
		told[meta[i]] = meta[i+1]
	}
	raw, _ := json.Marshal(told) // texts always can be
	return &lathe.Error{
		Code: lathe.Unavailable, Message: message, Err: err,
		Fault: &lathe.APIFault{Message: message, Retryable: true, Metadata: raw},
	}
}
