package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// The exit codes of a turn, besides those of every command and of signals. The help of run documents them, and
// scripts depend on them.
const (
	ExitRefused    = 3   // a permission request was refused
	ExitBudget     = 4   // a limit on cost, tokens, steps or time was reached
	ExitNoModel    = 5   // no provider, or no valid credentials
	ExitNoProgress = 6   // the command of --until failed with the same output too often
	ExitNoTries    = 7   // the command of --until failed as often as --tries allows
	exitAborted    = 130 // interrupted here, or canceled by another client
)

// coded is an error with its own exit code.
type coded struct {
	error
	code int
}

// WithExit adds an exit code to an error.
func WithExit(err error, code int) error { return coded{err, code} }

func (c coded) Unwrap() error { return c.error }

// ExitStatus returns the exit code.
func (c coded) ExitStatus() int { return c.code }

// FaultExitCode returns the exit code of a turn that ended with a fault.
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
			return ExitBudget
		}
	default:
	}
	return ExitFailed
}

// ExitCodeOf returns the exit code of a turn that could not start or was lost.
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

// WithExitCode adds the documented exit code to an error of run.
func WithExitCode(err error) error {
	if code := ExitCodeOf(err); code == ExitNoModel || code == ExitBudget {
		return coded{err, code}
	}
	return err
}

// CheckAgent refuses an agent that is not in the list, as a usage error that suggests similar names.
func CheckAgent(name string, all []lathe.Agent) error {
	var names []string
	for _, g := range all {
		if g.Name == name {
			return nil
		}
		if !g.Hidden.On() {
			names = append(names, g.Name)
		}
	}
	slices.Sort(names)
	end := "."
	if near := phrase.Similar(name, names); len(near) > 0 {
		end = phrase.DidYouMean(near)
	}
	return WithExit(lathe.Errorf(lathe.NotFound, "Agent not found: %s%s Available agents: %s", termtext.Quote(name), end, termtext.Plain(strings.Join(names, ", "))), ExitUsage)
}

// StatusOf names an exit code in the result of --format stream-json.
func StatusOf(code int) string {
	return cmp.Or(map[int]string{
		exitDone: "done", ExitUsage: "usage", ExitRefused: "refused", ExitBudget: "budget", ExitNoModel: "no_provider", ExitFailed: "error",
		ExitNoProgress: "no_progress", ExitNoTries: "no_tries",
	}[code], "interrupted")
}
