package cli

import (
	"cmp"
	"errors"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
)

// The exit codes of a turn, besides those of every command and of signals. Scripts decide by them,
// so they are documented in the help of run and stay what they are.
const (
	ExitRefused = 3   // it ended because something needed a permission nobody gave
	exitBudget  = 4   // a limit of money, tokens, steps or time was reached
	ExitNoModel = 5   // there is no provider, or no credential that it takes
	exitAborted = 130 // someone ended the turn: here by an interrupt, or another client of its server
)

// coded is an error with an exit code of its own.
type coded struct {
	error
	code int
}

// WithExit gives an error the exit code of a turn.
func WithExit(err error, code int) error { return coded{err, code} }

func (c coded) Unwrap() error { return c.error }

// ExitStatus is that code.
func (c coded) ExitStatus() int { return c.code }

// FaultExitCode is the exit code of a turn that ended with a fault.
func FaultExitCode(f lathe.Fault) int {
	switch f := f.(type) {
	case *lathe.AbortedFault:
		return exitAborted
	case *lathe.ProviderAuthFault:
		return ExitNoModel
	case *lathe.APIFault:
		if f.StatusCode == 401 {
			return ExitNoModel
		}
	case *lathe.UnknownFault:
		if f.Ref == engine.BudgetRef {
			return exitBudget
		}
	default:
	}
	return ExitFailed
}

// ExitCodeOf is the exit code of a turn that could not begin, or was lost.
func ExitCodeOf(err error) int {
	var c coded
	var told Reported
	var i Interrupt
	var e *lathe.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &told):
		return told.Code
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &i):
		return i.ExitCode()
	case errors.As(err, new(usageError)):
		return ExitUsage
	case errors.Is(err, lathe.ErrNoModel), lathe.CodeOf(err) == lathe.Unauthorized:
		return ExitNoModel
	case errors.As(err, &e) && e.Fault != nil:
		return FaultExitCode(e.Fault)
	}
	return ExitFailed
}

// WithExitCode gives an error of run the exit code that the help promises.
func WithExitCode(err error) error {
	if code := ExitCodeOf(err); code == ExitNoModel || code == exitBudget {
		return coded{err, code}
	}
	return err
}

// StatusOf is the word for an exit code in the result of --format stream-json.
func StatusOf(code int) string {
	return cmp.Or(map[int]string{
		exitDone: "done", ExitUsage: "usage", ExitRefused: "refused", exitBudget: "budget", ExitNoModel: "no_provider", ExitFailed: "error",
	}[code], "interrupted")
}
