package tool

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Fault is one thing that is wrong with an input.
type Fault struct {
	Path    string // of the member, as todos[1].status; "" is the input itself
	Problem string // what it must be and what it is
}

func (f Fault) String() string {
	if f.Path == "" {
		return "the input: " + f.Problem
	}
	return fmt.Sprintf("%q: %s", f.Path, f.Problem)
}

// Faults is all that is wrong with an input. As an error it is the cause of the [*Failure]
// that the model gets.
type Faults []Fault

func (fs Faults) Error() string { return fs.list("; ") }

// list shows the first faults: a model that sees twenty has seen enough.
func (fs Faults) list(between string) string {
	const most = 20
	var out strings.Builder
	for i, f := range fs {
		if i > 0 {
			out.WriteString(between)
		}
		if i == most {
			fmt.Fprintf(&out, "and %d more", len(fs)-most)
			break
		}
		out.WriteString(f.String())
	}
	return out.String()
}

// invalidArguments is what the model reads when its input does not fit.
func invalidArguments(name string, fs Faults) error {
	return &Failure{
		Text: fmt.Sprintf("The arguments of %s are invalid, and it was not run:\n- %s\nRewrite the input so that it matches the schema of %[1]s and call it again.",
			name, fs.list("\n- ")),
		Err: fs,
	}
}

// invalidCall is invalidArguments with a call that would fit.
func invalidCall(t *checked, fs Faults) error {
	err := invalidArguments(t.spec.Name, fs)
	if f, ok := err.(*Failure); ok {
		f.Text += exampleOf(t)
	}
	return err
}

// Validate checks an input against a schema, without any repair. What does not fit is
// returned as [Faults]; a schema that cannot be read is a [*lathe.Error] of code invalid.
func Validate(schema, input json.RawMessage) error {
	if !json.Valid(schema) {
		return lathe.Errorf(lathe.Invalid, "the schema is not JSON")
	}
	s, err := compile(schema)
	if err != nil {
		return lathe.Errorf(lathe.Invalid, "the schema cannot be used: %w", err)
	}
	if !json.Valid(input) {
		return Faults{{Problem: "must be JSON"}}
	}
	if faults := check(s, input[skipSpace(input, 0):]); len(faults) > 0 {
		return faults
	}
	return nil
}
