package args

import (
	"encoding/json"
	"fmt"
)

// Fault is one thing that is wrong with an input.
type Fault struct {
	Path    string // of the member, as todos[1].status; "" is the input itself
	Problem string // the expected and the actual value
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

func (fs Faults) Error() string { return fs.List("; ") }

// List shows the first faults: a model that sees twenty has seen enough.
func (fs Faults) List(between string) string {
	var out []string
	for _, f := range fs {
		out = append(out, f.String())
	}
	return clipList(out, 20, between)
}

// Validate checks an input against a schema, without any repair. What does not fit is
// returned as [Faults]; a schema that cannot be read is a [*lathe.Error] of code invalid.
func Validate(schema, input json.RawMessage) error {
	s, err := compileGiven(schema)
	if err != nil {
		return err
	}
	if !json.Valid(input) {
		return Faults{{Problem: "must be JSON"}}
	}
	if faults := Check(s, input[skipSpace(input, 0):]); len(faults) > 0 {
		return faults
	}
	return nil
}
