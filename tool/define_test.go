package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
)

type span struct {
	From int `json:"from" jsonschema:"first line: 1"`
	To   int `json:"to,omitempty"`
}

type common struct {
	Note string `json:"note,omitempty"`
}

type sample struct {
	Path    string            `json:"path" jsonschema:"the file & its <place>: src/a.go"`
	Limit   int               `json:"limit,omitempty" jsonschema:"how many lines: 20"`
	Ratio   float64           `json:"ratio,omitzero"`
	All     bool              `json:"all,omitempty"`
	Mode    string            `json:"mode,omitempty" enum:"head,tail"`
	Tags    []string          `json:"tags,omitempty" enum:"a,b"`
	Spans   []span            `json:"spans,omitempty"`
	Span    *span             `json:"span,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Small   uint8             `json:"small,omitempty"`
	Any     json.RawMessage   `json:"any,omitempty"`
	Bytes   []byte            `json:"bytes,omitempty"`
	Private string            `json:"-"`
	common
}

// echo returns what the tool got, as JSON.
func echo[T any](name string) tool.Tool {
	return tool.Define(tool.Spec{Name: name}, func(_ context.Context, c *tool.Call, in T) (tool.Result, error) {
		out, err := json.Marshal(in)
		return tool.Result{Title: string(c.Input), Output: string(out)}, err
	})
}

func TestDefine_Schema(t *testing.T) {
	want := `{"type":"object","required":["path"],"properties":{` +
		`"path":{"type":"string","description":"the file & its <place>: src/a.go"},` +
		`"limit":{"type":"integer","description":"how many lines: 20"},` +
		`"ratio":{"type":"number"},` +
		`"all":{"type":"boolean"},` +
		`"mode":{"type":"string","enum":["head","tail"]},` +
		`"tags":{"type":"array","items":{"type":"string","enum":["a","b"]}},` +
		`"spans":{"type":"array","items":{"type":"object","required":["from"],"properties":{"from":{"type":"integer","description":"first line: 1"},"to":{"type":"integer"}}}},` +
		`"span":{"type":"object","required":["from"],"properties":{"from":{"type":"integer","description":"first line: 1"},"to":{"type":"integer"}}},` +
		`"env":{"type":"object","additionalProperties":{"type":"string"}},` +
		`"small":{"type":"integer","minimum":0,"maximum":255},` +
		`"any":{},` +
		`"bytes":{"type":"string"},` +
		`"note":{"type":"string"}}}`
	for range 3 { // the same bytes each time
		if diff := cmp.Diff(want, string(echo[sample]("x").Spec().Schema)); diff != "" {
			t.Fatal(diff)
		}
	}
	if err := args.CheckSchema(json.RawMessage(want)); err != nil {
		t.Fatal(err)
	}
}

func TestDefine_SchemaOfNothing(t *testing.T) {
	got := string(echo[struct{}]("x").Spec().Schema)
	if got != `{"type":"object","required":[],"properties":{}}` {
		t.Fatal(got)
	}
}

func TestDefine_SchemaGiven(t *testing.T) {
	given := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}`)
	def := tool.Define(tool.Spec{Name: "x", Schema: given},
		func(context.Context, *tool.Call, struct{ N int }) (tool.Result, error) {
			return tool.Result{Output: "ran"}, nil
		})
	if got := string(def.Spec().Schema); got != string(given) {
		t.Fatal(got)
	}
	if _, err := run(def, `{"n":0}`); err == nil || !strings.Contains(err.Error(), `"n": must be at least 1, got 0`) {
		t.Fatal(err)
	}
}

func run(t tool.Tool, input string) (tool.Result, error) {
	return tool.Run(context.Background(), t, &tool.Call{Input: json.RawMessage(input)})
}

func TestDefine_Input(t *testing.T) {
	tests := []struct{ name, input, want string }{
		{"plain", `{"path":"a","limit":3}`, `{"path":"a","limit":3}`},
		{"unknown members are ignored", `{"path":"a","why":"because","extra":{"x":[1]}}`, `{"path":"a"}`},
		{"nested", `{"path":"a","spans":[{"from":1,"to":2}],"env":{"A":"b"}}`, `{"path":"a","spans":[{"from":1,"to":2}],"env":{"A":"b"}}`},
		{"promoted", `{"path":"a","note":"n"}`, `{"path":"a","note":"n"}`},
		{"repaired", `{"path":"a","limit":"3","all":"True","span":null}`, `{"path":"a","limit":3,"all":true}`},
		{"space around", " {\"path\":\"a\"}\n", `{"path":"a"}`},
		{"the name as written wins over other letters", `{"path":"a","PATH":"b"}`, `{"path":"a"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := run(echo[sample]("x"), tt.input)
			if err != nil || r.Output != tt.want {
				t.Fatalf("got %s, %v; want %s", r.Output, err, tt.want)
			}
		})
	}
}

func TestDefine_CallHasTheRepairedInput(t *testing.T) {
	r, err := run(echo[sample]("x"), `{"path":"a","limit":"3","junk":1}`)
	if want := `{"path":"a","limit":3,"junk":1}`; err != nil || r.Title != want {
		t.Fatalf("call had %s, %v; want %s", r.Title, err, want)
	}
	c := &tool.Call{Input: json.RawMessage(`{"path":"a","limit":"3"}`)}
	if _, err := tool.Run(t.Context(), echo[sample]("x"), c); err != nil || string(c.Input) != `{"path":"a","limit":"3"}` {
		t.Fatalf("the caller's call was changed: %s, %v", c.Input, err)
	}
}

func TestDefine_NoInputIsAnEmptyObject(t *testing.T) {
	r, err := run(echo[struct{}]("x"), ``)
	if err != nil || r.Title != `{}` {
		t.Fatal(r, err)
	}
}

func TestDefine_InvalidInput(t *testing.T) {
	tests := []struct {
		name, input string
		want        args.Faults
	}{
		{"missing", `{}`, args.Faults{{Path: "path", Problem: "required, missing"}}},
		{"null is missing a value", `{"path":null}`, args.Faults{{Path: "path", Problem: "must be a string, got null"}}},
		{"not an integer", `{"path":"a","limit":"abc"}`, args.Faults{{Path: "limit", Problem: `must be an integer, got "abc"`}}},
		{"fraction", `{"path":"a","limit":1.5}`, args.Faults{{Path: "limit", Problem: `must be an integer, got 1.5`}}},
		{"all at once", `{"limit":[],"all":"maybe","mode":"middle","spans":[{"from":1},{"to":"x"}]}`, args.Faults{
			{Path: "path", Problem: "required, missing"},
			{Path: "limit", Problem: "must be an integer, got []"},
			{Path: "all", Problem: `must be true or false, got "maybe"`},
			{Path: "mode", Problem: `must be one of "head", "tail", got "middle"`},
			{Path: "spans[1].from", Problem: "required, missing"},
			{Path: "spans[1].to", Problem: `must be an integer, got "x"`},
		}},
		{"unknown member beside a missing one", `{"pth":"a"}`, args.Faults{
			{Path: "path", Problem: "required, missing"},
			{Path: "pth", Problem: `not known here, ignored; the members are "path", "limit", "ratio", "all", "mode", "tags", "spans", "span", "env", "small", "any", "bytes", "note"`},
		}},
		{"out of range", `{"path":"a","small":256}`, args.Faults{{Path: "small", Problem: "must be at most 255, got 256"}}},
		{"too large for Go", `{"path":"a","limit":99999999999999999999}`, args.Faults{{Path: "limit", Problem: "number 99999999999999999999 cannot be used here"}}},
		{"an object for a text", `{"path":{"a":1}}`, args.Faults{{Path: "path", Problem: `must be a string, got {"a":1}`}}},
		{"long values are cut", `{"path":"a","limit":"` + strings.Repeat("ä", 100) + `"}`, args.Faults{
			{Path: "limit", Problem: `must be an integer, got "` + strings.Repeat("ä", 79) + "…"},
		}},
		{"not an object", `[1]`, args.Faults{{Problem: "must be an object, got [1]"}}},
		{"not JSON", `{"path":`, args.Faults{{Problem: "must be a JSON object"}}},
		{"no base64", `{"path":"a","bytes":"?"}`, args.Faults{{Problem: "illegal base64 data at input byte 0"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(echo[sample]("x"), tt.input)
			var f *tool.Failure
			var faults args.Faults
			if !errors.As(err, &f) || !errors.As(err, &faults) {
				t.Fatalf("got %v; want a failure with faults", err)
			}
			if diff := cmp.Diff(tt.want, faults); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestDefine_InvalidInputAsTheModelReadsIt(t *testing.T) {
	_, err := run(echo[sample]("search"), `{"limit":"abc"}`)
	want := `The arguments of search are invalid, and it was not run:
- "path": required, missing
- "limit": must be an integer, got "abc"
Rewrite the input so that it matches the schema of search and call it again. A call of search looks like this: {"path":"src/a.go"}`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Fatal(diff)
	}
}

func TestDefine_ManyFaultsAreCounted(t *testing.T) {
	_, err := run(echo[sample]("x"), `{"path":"a","tags":[`+strings.Repeat(`"z",`, 49)+`"z"]}`)
	if err == nil || !strings.Contains(err.Error(), "- and 30 more\n") || strings.Count(err.Error(), "must be one of") != 20 {
		t.Fatal(err)
	}
}

func TestDefine_TypeWithoutSchema(t *testing.T) {
	for name, bad := range map[string]tool.Tool{"no struct": echo[string]("x"), "channel": echo[struct{ C chan int }]("x")} {
		t.Run(name, func(t *testing.T) {
			if got := string(bad.Spec().Schema); got != `{"type":"object","required":[],"properties":{}}` {
				t.Error(got)
			}
			if _, err := run(bad, `{}`); lathe.CodeOf(err) != lathe.Internal || !strings.Contains(err.Error(), "no schema") {
				t.Error(err)
			}
		})
	}
}

func TestDefine_ManyAtOnce(t *testing.T) {
	x := echo[sample]("x")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if r, err := run(x, `{"path":"a","limit":"3"}`); err != nil || r.Output != `{"path":"a","limit":3}` {
				t.Error(r.Output, err)
			}
			_ = x.Spec()
		})
	}
	wg.Wait()
}

func TestRaw(t *testing.T) {
	raw := func(schema string) tool.Tool {
		return tool.Raw(tool.Spec{Name: "x", Schema: json.RawMessage(schema)}, func(_ context.Context, c *tool.Call) (tool.Result, error) {
			return tool.Result{Output: string(c.Input)}, nil
		})
	}
	tests := []struct{ name, schema, input, want, fails string }{
		{"fits", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":"b"}`, `{"a":"b"}`, ""},
		{"repaired", `{"type":"object","properties":{"a":{"type":"integer"}}}`, `{"a":"5"}`, `{"a":5}`, ""},
		{"refused", `{"type":"object","required":["a"]}`, `{}`, "", `"a": required, missing`},
		{"no schema", ``, `{"a":"b"}`, `{"a":"b"}`, ""},
		{"no schema, no object", ``, `[]`, ``, "must be an object"},
		{"a schema nobody can read checks nothing", `{"type":7}`, `{"a":"b"}`, `{"a":"b"}`, ""},
		{"a schema that is not JSON checks nothing", `{`, `{"a":"b"}`, `{"a":"b"}`, ""},
		{"a reference that leads nowhere checks nothing", `{"properties":{"a":{"$ref":"https://example.com/x"}}}`, `{"a":"b"}`, `{"a":"b"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := run(raw(tt.schema), tt.input)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("got %v; want %s", err, tt.fails)
				}
				return
			}
			if err != nil || r.Output != tt.want {
				t.Fatalf("got %s, %v; want %s", r.Output, err, tt.want)
			}
		})
	}
}
