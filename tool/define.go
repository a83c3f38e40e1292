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
			return Result{}, invalidArguments(s.Name, decodeFaults(err))
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
	schema *schema
	err    error // why no schema could be made
}

func (t *checked) prepare() {
	t.once.Do(func() {
		if t.derived == nil || len(t.spec.Schema) > 0 {
			t.given()
			return
		}
		var root *jsonschema.Schema
		if root, t.err = derive(t.derived); t.err != nil {
			t.spec.Schema = json.RawMessage(`{"type":"object","required":[],"properties":{}}`)
			return
		}
		t.spec.Schema = appendSchema(nil, root)
		t.schema = ready(root, t.spec.Schema)
	})
}

func (t *checked) given() {
	if len(t.spec.Schema) == 0 {
		t.spec.Schema = json.RawMessage(`{"type":"object"}`)
	}
	t.schema, _ = compile(t.spec.Schema) // Raw says why
}

func (t *checked) Spec() Spec {
	t.prepare()
	return t.spec
}

// fitting is the schema a [Set] repairs input by; nil where there is none.
func (t *checked) fitting() *schema {
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
		return Result{}, invalidArguments(t.spec.Name, Faults{{Problem: "must be a JSON object"}})
	}
	if t.schema != nil {
		call.Input, _ = mend(t.schema, call.Input)
		if faults := check(t.schema, call.Input); len(faults) > 0 {
			return Result{}, invalidCall(t, faults)
		}
	}
	return t.run(ctx, &call)
}

// decodeFaults says what no schema could: a number that is too large for its field, a text
// that is no time.
func decodeFaults(err error) Faults {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return Faults{{Path: wrong.Field, Problem: fmt.Sprintf("%s cannot be used here", clip(wrong.Value))}}
	}
	return Faults{{Problem: clip(err.Error())}}
}
