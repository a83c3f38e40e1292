package main

import (
	"errors"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
)

// The exit codes of a turn, besides those of every command and of signals. Scripts decide by them,
// so they are documented in the help of run and stay what they are.
const (
	exitRefused = 3   // it ended because something needed a permission nobody gave
	exitBudget  = 4   // a limit of money, tokens, steps or time was reached
	exitNoModel = 5   // there is no provider, or no credential that it takes
	exitAborted = 130 // someone ended the turn: here by an interrupt, or another client of its server
)

// coded is an error with an exit code of its own.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

// codeOfFault is the exit code of a turn that ended with a fault.
func codeOfFault(f lathe.Fault) int {
	switch f := f.(type) {
	case *lathe.AbortedFault:
		return exitAborted
	case *lathe.ProviderAuthFault:
		return exitNoModel
	case *lathe.APIFault:
		if f.StatusCode == 401 {
			return exitNoModel
		}
	case *lathe.UnknownFault:
		if f.Ref == engine.BudgetRef {
			return exitBudget
		}
	default:
	}
	return exitFailed
}

// codeOfError is the exit code of a turn that could not begin, or was lost.
func codeOfError(err error) int {
	var c coded
	var told failed
	var i interrupt
	var e *lathe.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &told):
		return told.code
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &i):
		return i.exitCode()
	case errors.As(err, new(usageError)):
		return exitUsage
	case errors.Is(err, lathe.ErrNoModel), lathe.CodeOf(err) == lathe.Unauthorized:
		return exitNoModel
	case errors.As(err, &e) && e.Fault != nil:
		return codeOfFault(e.Fault)
	}
	return exitFailed
}

// withCode gives an error of run the exit code that the help promises.
func withCode(err error) error {
	if code := codeOfError(err); code == exitNoModel || code == exitBudget {
		return coded{err, code}
	}
	return err
}

// statusOf is the word for an exit code in the result of --format stream-json.
func statusOf(code int) string {
	switch code {
	case exitDone:
		return "done"
	case exitUsage:
		return "usage"
	case exitRefused:
		return "refused"
	case exitBudget:
		return "budget"
	case exitNoModel:
		return "no_provider"
	case exitFailed:
		return "error"
	default:
		return "interrupted"
	}
}
