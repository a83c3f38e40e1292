package acptest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema checks messages against the schema of the protocol. It is safe for use by many goroutines.
type Schema struct {
	root     jsonschema.Schema
	requests map[string]string // the type of the parameters, by method
	results  map[string]string
	resolved *jsonschema.Resolved
}

// Stable and Unstable return the two schemas, which are read once.
var (
	Stable   = sync.OnceValues(func() (*Schema, error) { return load("schema.json") })
	Unstable = sync.OnceValues(func() (*Schema, error) { return load("schema.unstable.json") })
)

func load(name string) (*Schema, error) {
	_, here, _, _ := runtime.Caller(0)
	data, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "wire", "schema", name))
	if err != nil {
		return nil, err
	}
	s := &Schema{requests: map[string]string{}, results: map[string]string{}}
	if err := json.Unmarshal(data, &s.root); err != nil {
		return nil, err
	}
	var named struct {
		Defs map[string]struct {
			Method string `json:"x-method"`
			Side   string `json:"x-side"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(data, &named); err != nil {
		return nil, err
	}
	s.root.AnyOf, s.root.Properties = nil, map[string]*jsonschema.Schema{}
	for name, d := range named.Defs {
		s.root.Properties[name] = &jsonschema.Schema{Ref: "#/$defs/" + name}
		switch {
		case d.Method == "":
		case len(name) > 8 && name[len(name)-8:] == "Response":
			s.results[d.Side+" "+d.Method] = name
		default:
			s.requests[d.Side+" "+d.Method] = name
		}
	}
	s.resolved, err = s.root.Resolve(nil)
	return s, err
}

// Params checks the parameters of a request or notification that a side answers: agent, client or protocol.
func (s *Schema) Params(side, method string, params json.RawMessage) error {
	name, ok := s.requests[side+" "+method]
	if !ok {
		return fmt.Errorf("the schema has no method %s for the %s", method, side)
	}
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	return s.check(name, params)
}

// Result checks the answer of a side.
func (s *Schema) Result(side, method string, result json.RawMessage) error {
	name, ok := s.results[side+" "+method]
	if !ok {
		return fmt.Errorf("the schema has no answer to %s of the %s", method, side)
	}
	if string(result) == "null" { // an answer without members
		result = json.RawMessage("{}")
	}
	return s.check(name, result)
}

// Methods returns the methods that a side answers.
func (s *Schema) Methods(side string) (out []string) {
	for key := range s.requests {
		if at := len(side); len(key) > at && key[:at] == side && key[at] == ' ' {
			out = append(out, key[at+1:])
		}
	}
	return out
}

// UpdateKinds returns the kinds of session updates.
func (s *Schema) UpdateKinds() (out []string) {
	for _, v := range s.root.Defs["SessionUpdate"].OneOf {
		if p := v.Properties["sessionUpdate"]; p != nil && p.Const != nil {
			out = append(out, fmt.Sprint(*p.Const))
		}
	}
	return out
}

// check checks a value against one type. All types are members of one schema, which is resolved once.
func (s *Schema) check(name string, data json.RawMessage) error {
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	if err := s.resolved.Validate(map[string]any{name: value}); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, data)
	}
	return nil
}
