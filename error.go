package lathe

import (
	"context"
	"errors"
	"fmt"
)

// Code says who must act on an error. The engine, the server and the command line
// decide by code, never by text.
type Code string

// The codes. Each names who must act.
const (
	Invalid      Code = "invalid"      // the caller: what was asked makes no sense
	NotFound     Code = "notFound"     // the caller: there is no such thing
	Conflict     Code = "conflict"     // the caller: it is busy, taken or changed meanwhile
	Denied       Code = "denied"       // the user: a rule said no
	Rejected     Code = "rejected"     // the user: a person said no
	Canceled     Code = "canceled"     // nobody
	Unauthorized Code = "unauthorized" // the user: a credential is missing or wrong
	Limited      Code = "limited"      // time: too many requests
	Unavailable  Code = "unavailable"  // time: the other side is down, the disk is full
	Overflow     Code = "overflow"     // the engine: the context is too long
	Refused      Code = "refused"      // the user: the model declined
	Internal     Code = "internal"     // us
)

// Error is the one error that crosses packages. Foreign errors become one where they
// enter; from there on only the code is looked at.
type Error struct {
	Code    Code
	Message string // for people: the failure and the next step
	Fault   Fault  // the wire's form where the failure ended an answer; may be nil
	Err     error  // the cause; may be nil
}

// ErrNoModel says that neither the prompt nor the config names a model, and no provider can be used.
var ErrNoModel = errors.New("no model is configured")

// Errorf makes an Error; %w keeps the cause, also several.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	cause := errors.Unwrap(err)
	if _, many := err.(interface{ Unwrap() []error }); many {
		cause = err
	}
	return &Error{Code: code, Message: err.Error(), Err: cause}
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first Error in the chain. A context that ended is
// Canceled, anything else Internal; nil has no code.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Canceled
	default:
		return Internal
	}
}
