package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool/args"
)

// Define makes a tool whose input is a T, a struct.
//
// Its schema comes from T, unless s has one: members are named by json tags, described by
// jsonschema tags and required unless omitempty or omitzero; an enum tag lists the words a
// text may be. It is made when it is first needed. Members T does not know are ignored, and
// run is only called with an input that fits; its call has the input as it was repaired.
func Define[T any](s Spec, run func(ctx context.Context, c *Call, in T) (Result, error)) Tool {
	derived := reflect.TypeFor[T]()
	return &checked{spec: s, derived: derived, run: func(ctx context.Context, c *Call) (Result, error) {
		var in T
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return Result{}, InvalidArguments(s.Name, decodeFaults(err))
		}
		return run(ctx, c, in)
	}}
}

// Raw makes a tool with the schema its Spec has, as tools of other processes do. run gets
// only input that fits the schema. A schema that cannot be read checks nothing: the other
// side will.
func Raw(s Spec, run func(ctx context.Context, c *Call) (Result, error)) Tool {
	return &checked{spec: s, run: run}
}

// checked is a tool that never sees input which does not fit its schema.
type checked struct {
	derived reflect.Type // nil where the schema is given
	run     func(ctx context.Context, c *Call) (Result, error)

	once   sync.Once
	spec   Spec // its schema only after once
	schema *args.Schema
	err    error // why no schema could be made
}

func (t *checked) prepare() {
	t.once.Do(func() {
		if t.derived == nil || len(t.spec.Schema) > 0 {
			t.given()
			return
		}
		var root *jsonschema.Schema
		if root, t.err = args.Derive(t.derived); t.err != nil {
			t.spec.Schema = json.RawMessage(`{"type":"object","required":[],"properties":{}}`)
			return
		}
		t.spec.Schema = args.AppendSchema(nil, root)
		t.schema = args.PrepareSchema(root, t.spec.Schema)
	})
}

func (t *checked) given() {
	if len(t.spec.Schema) == 0 {
		t.spec.Schema = json.RawMessage(`{"type":"object"}`)
	}
	t.schema, _ = args.Compile(t.spec.Schema) // Raw says why
}

func (t *checked) Spec() Spec {
	t.prepare()
	return t.spec
}

// fitting is the schema a [Set] repairs input by; nil if there is none.
func (t *checked) fitting() *args.Schema {
	t.prepare()
	return t.schema
}

func (t *checked) Run(ctx context.Context, c *Call) (Result, error) {
	t.prepare()
	if t.err != nil {
		return Result{}, lathe.Errorf(lathe.Internal, "tool %s: no schema can be made: %w", t.spec.Name, t.err)
	}
	call := *c
	if call.Input = bytes.TrimSpace(c.Input); len(call.Input) == 0 {
		call.Input = json.RawMessage(`{}`)
	}
	if !json.Valid(call.Input) {
		return Result{}, InvalidArguments(t.spec.Name, args.Faults{{Problem: "must be a JSON object"}})
	}
	if t.schema != nil {
		call.Input, _ = args.RepairInput(t.schema, call.Input)
		if faults := args.Check(t.schema, call.Input); len(faults) > 0 {
			return Result{}, invalidCall(t, faults)
		}
	}
	return t.run(ctx, &call)
}

// decodeFaults says what no schema could: a number that is too large for its field, a text
// that is no time.
func decodeFaults(err error) args.Faults {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return args.Faults{{Path: wrong.Field, Problem: fmt.Sprintf("%s cannot be used here", phrase.Clip(wrong.Value))}}
	}
	return args.Faults{{Problem: phrase.Clip(err.Error())}}
}

// InvalidArguments is the message to the model for input that does not fit.
func InvalidArguments(name string, fs args.Faults) error {
	return &Failure{
		Text: fmt.Sprintf("The arguments of %s are invalid, and it was not run:\n- %s\nRewrite the input so that it matches the schema of %[1]s and call it again.",
			name, fs.List("\n- ")),
		Err: fs,
	}
}

// invalidCall is invalidArguments with a call that would fit.
func invalidCall(t *checked, fs args.Faults) error {
	err := InvalidArguments(t.spec.Name, fs)
	if f, ok := err.(*Failure); ok {
		f.Text += exampleOf(t)
	}
	return err
}

// exampleOf shows a call of a tool that fits its schema, for a model whose call did not; "" for a
// tool of others, whose schema says too little.
func exampleOf(t Tool) string {
	c, ok := t.(*checked)
	if !ok || c.derived == nil || c.fitting() == nil {
		return ""
	}
	return fmt.Sprintf(" A call of %s looks like this: %s", c.spec.Name, args.Example(c.schema, c.schema.Root, 0))
}
