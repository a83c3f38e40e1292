package tool

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/lathe-agent/lathe"
)

// Failure is a failure the model should know of: the call becomes an error with this
// text, and the turn continues.
type Failure struct {
	Text string // the problem, the facts, a call that would work
	Err  error  // the cause; may be nil
}

func (f *Failure) Error() string { return f.Text }

func (f *Failure) Unwrap() error { return f.Err }

// Failf makes a [*Failure]; %w keeps the cause.
func Failf(format string, args ...any) error {
	e := lathe.Errorf(lathe.Invalid, format, args...)
	return &Failure{Text: e.Message, Err: e.Err}
}

// Panic is the cause of the error of a tool that panicked.
type Panic struct {
	Value string
	Stack []byte // for the log; no model and no user sees it
}

func (p *Panic) Error() string { return "panic: " + p.Value }

// Run runs a tool and makes an internal error of a panic, with a [*Panic] as its cause:
// a mistake in one tool must not end the process and every other session in it. A panic
// in a goroutine that the tool started is the tool's own to catch.
func Run(ctx context.Context, t Tool, c *Call) (_ Result, err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		name := "?"
		func() {
			defer func() { _ = recover() }() // Spec may be what panicked
			name = t.Spec().Name
		}()
		p := &Panic{Value: fmt.Sprint(v), Stack: debug.Stack()}
		err = &lathe.Error{
			Code:    lathe.Internal,
			Message: fmt.Sprintf("tool %s failed inside: %s. This is a bug of the tool; work on without it.", name, p.Value),
			Err:     p,
		}
	}()
	return t.Run(ctx, c)
}

// InvalidName is the name of the hidden tool that answers calls nothing else can answer.
const InvalidName = "invalid"

// refusal is the replacement for a call that cannot be run.
type refusal struct {
	Tool  string `json:"tool" jsonschema:"the name that was called"`
	Error string `json:"error" jsonschema:"why it could not be run"`
}

// Invalid returns the tool that such calls are rewritten to. It succeeds, so that the model
// reads the reason as the result of its call and can call again.
func Invalid() Tool {
	spec := Spec{Name: InvalidName, Description: "Answer calls that cannot be run. Do not call it.", Hidden: true}
	return Define(spec, func(_ context.Context, _ *Call, in refusal) (Result, error) {
		return Result{Title: "Invalid Tool", Output: "The arguments of this call are invalid and nothing was run: " + in.Error}, nil
	})
}
