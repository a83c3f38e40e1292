package args

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/lathe-agent/lathe"
	"pgregory.net/rapid"
)

func TestValidate(t *testing.T) {
	nested := `{"$defs":{"node":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}}}},"$ref":"#/$defs/node"}`
	tests := []struct{ name, schema, input, want string }{
		{"anything", `{}`, `[1,"a",null]`, ``},
		{"space before", `{"type":"object"}`, " \n{}", ``},
		{"type", `{"type":"object"}`, `"x"`, `the input: must be an object, got "x"`},
		{"types", `{"type":["string","integer","null"]}`, `true`, `the input: must be a string or an integer or null, got true`},
		{"whole number as a fraction", `{"type":"integer"}`, `3.0`, ``},
		{"integer is a number", `{"type":"number"}`, `3`, ``},
		{"const", `{"properties":{"a":{"const":"x"}}}`, `{"a":"y"}`, `"a": must be "x", got "y"`},
		{"enum of any type", `{"enum":[1,null,{"a":[1]}]}`, `{"a":[1.0]}`, ``},
		{"multiple", `{"multipleOf":0.5}`, `1.25`, `the input: must be a multiple of 0.5, got 1.25`},
		{"exclusive", `{"exclusiveMinimum":1,"exclusiveMaximum":1}`, `1`, `the input: must be more than 1, got 1; the input: must be less than 1, got 1`},
		{"too large", `{}`, `1e999`, `the input: 1e999 is too large for a number`},
		{"length", `{"minLength":2}`, `"ä"`, `the input: must have at least 2 characters, has 1`},
		{"longest", `{"maxLength":1}`, `"äö"`, `the input: must have at most 1 character, has 2`},
		{"pattern", `{"pattern":"^a+$"}`, `"ab"`, `the input: must match the pattern ^a+$, got "ab"`},
		{"pattern of another dialect", `{"pattern":"(?=x)"}`, `"ab"`, ``},
		{"items", `{"minItems":1,"items":{"type":"string"}}`, `["a",1]`, `"[1]": must be a string, got 1`},
		{"number of items", `{"minItems":2,"maxItems":0}`, `[1]`, `the input: must have at least 2 items, has 1; the input: must have at most 0 items, has 1`},
		{"tuple", `{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}}`, `["a","b"]`, `"[1]": must be an integer, got "b"`},
		{"tuple of an older draft", `{"items":[{"type":"string"}],"additionalItems":false}`, `["a",2]`, `"[1]": not allowed`},
		{"unique", `{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2,"a":1.0}]`, `"[1]": is there twice: {"b":2,"a":1.0}`},
		{"contains", `{"contains":{"type":"string"}}`, `[1]`, `the input: must have at least 1 item of the kind the schema asks for, has 0`},
		{"contains at most", `{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`, `the input: must have at most 1 item of the kind the schema asks for, has 2`},
		{"no other members", `{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1,"b":2}`, `"b": not known here; the members are "a"`},
		{"other members", `{"properties":{"a":{}},"additionalProperties":{"type":"string"}}`, `{"a":1,"b":2}`, `"b": must be a string, got 2`},
		{"members by pattern", `{"patternProperties":{"^x":{"type":"string"}},"additionalProperties":false}`, `{"x1":1,"y":2}`, `"x1": must be a string, got 1; "y": not known here; the members are `},
		{"names", `{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `"ab": must have at most 1 character, has 2`},
		{"number of members", `{"minProperties":2}`, `{"a":1,"a":2}`, `the input: must have at least 2 members, has 1`},
		{"most members", `{"maxProperties":0}`, `{"a":1}`, `the input: must have at most 0 members, has 1`},
		{"of two members with one name the last counts", `{"properties":{"a":{"type":"string"}}}`, `{"a":1,"a":"x"}`, ``},
		{"dependent", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `"b": required beside "a", missing`},
		{"dependent schema", `{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1}`, `"b": required, missing`},
		{"all of", `{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `"a": required, missing; "b": required, missing`},
		{"any of, by type", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, `the input: must be null or a string, got 1`},
		{"any of, nearest form", `{"anyOf":[{"type":"string"},{"type":"object","required":["a","b"]},{"type":"object","required":["c"]}]}`, `{}`, `"c": required, missing`},
		{"any of, nothing said", `{"anyOf":[]}`, `1`, `the input: fits none of the forms the schema allows`},
		{"one of, both", `{"oneOf":[{"type":"integer"},{"minimum":1}]}`, `2`, `the input: fits more than one of the forms the schema allows; it must fit exactly one`},
		{"not", `{"not":{"type":"integer"}}`, `2`, `the input: is what the schema excludes: 2`},
		{"false", `{"properties":{"a":false}}`, `{"a":1}`, `"a": not allowed`},
		{"if, then", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, `"b": required, missing`},
		{"if, else", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, `"c": required, missing`},
		{"recursive", nested, `{"name":"a","kids":[{"name":"b","kids":[{}]}]}`, `"kids[0].kids[0].name": required, missing`},
		{"recursive and right", nested, `{"name":"a","kids":[{"name":"b"}]}`, ``},
		{"reference with escapes", `{"$defs":{"a/b":{"type":"string"}},"properties":{"x":{"$ref":"#/$defs/a~1b"}}}`, `{"x":1}`, `"x": must be a string, got 1`},
		{"reference into a list", `{"anyOf":[{},{"type":"string"}],"properties":{"x":{"$ref":"#/anyOf/1"}}}`, `{"x":1}`, `"x": must be a string, got 1`},
		{"not JSON", `{}`, `{`, `the input: must be JSON`},
		{"strange names", `{"required":["a\"b"]}`, `{}`, `"a\"b": required, missing`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Validate(json.RawMessage(tt.schema), json.RawMessage(tt.input))
			got := ""
			var faults Faults
			if errors.As(err, &faults) {
				got = err.Error()
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestValidate_BadSchema(t *testing.T) {
	for _, schema := range []string{``, `{`, `[]`, `true`, `{"type":7}`, `{"properties":[]}`} {
		err := Validate(json.RawMessage(schema), json.RawMessage(`{}`))
		var faults Faults
		if lathe.CodeOf(err) != lathe.Invalid || errors.As(err, &faults) {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestCheckSchema(t *testing.T) {
	tests := []struct{ schema, says string }{
		{`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"$ref":"#"}}}`, ""},
		{`{`, "not JSON"},
		{`[]`, "JSON object"},
		{`{"$ref":"https://example.com/s.json"}`, "inside the schema"},
		{`{"$ref":"#anchor"}`, "inside the schema"},
		{`{"$ref":"#/$defs/gone"}`, `"$defs" not found`},
		{`{"$defs":{"a":7},"$ref":"#/$defs/a"}`, "not a JSON schema"},
		{`{"default":7,"$ref":"#/default"}`, "not a schema"},
		{`{"items":{"pattern":"("}}`, "pattern"},
		{`{"properties":{"n":{"type":"integr"}}}`, `type "integr": there are object, array`},
		{`{"type":["object","nil"]}`, `type "nil"`},
	}
	for _, tt := range tests {
		err := CheckSchema(json.RawMessage(tt.schema))
		if (tt.says == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), tt.says) || lathe.CodeOf(err) != lathe.Invalid) {
			t.Errorf("%s: %v; want %q", tt.schema, err, tt.says)
		}
	}
}

// Schemas that would never end must end with a fault, and soon.
func TestValidate_Endless(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 3000) + `1` + strings.Repeat(`}`, 3000)
	tests := []struct{ name, schema, input string }{
		{"itself", `{"$ref":"#"}`, `{}`},
		{"round", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, `{}`},
		{"doubling", `{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`, `{}`},
		{"doubling at every level", `{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}},"required":["b"]}`, deep},
		{"doubling, not deep", `{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}},"required":["b"]}`, strings.Repeat(`{"a":`, 50) + `{}` + strings.Repeat(`}`, 50)},
		{"denied", `{"not":{"$ref":"#"}}`, `{}`},
		{"itself for many", `{"$defs":{"l":{"$ref":"#/$defs/l"}},"items":{"$ref":"#/$defs/l"}}`, "[" + strings.Repeat("1,", 1<<20) + "1]"},
		{"deep", `{"properties":{"a":{"$ref":"#"}}}`, deep},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Validate(json.RawMessage(tt.schema), json.RawMessage(tt.input))
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatal(err)
			}
			s, err := Compile(json.RawMessage(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			if got, made := RepairInput(s, []byte(tt.input)); string(got) != tt.input || made != nil {
				t.Fatalf("mended to %s by %v", got, made)
			}
		})
	}
}

func TestCheck_FaultsAreCounted(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"items":{"type":"string"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(Check(s, []byte("["+strings.Repeat("1,", 100_000)+"1]"))); n != maxFaults {
		t.Fatalf("%d faults; want %d", n, maxFaults)
	}
}

// drawSchema makes a schema of the keywords that the library and we both know.
func drawSchema(t *rapid.T, depth int) map[string]any {
	s := map[string]any{}
	sub := func() map[string]any { return drawSchema(t, depth-1) }
	has := func(name string) bool { return rapid.IntRange(0, 3).Draw(t, name) == 0 }
	if rapid.Bool().Draw(t, "typed") {
		s["type"] = rapid.SampledFrom([]string{"string", "integer", "number", "boolean", "null", "array", "object"}).Draw(t, "type")
	}
	if has("enum") {
		s["enum"] = []any{drawValue(t, 1), drawValue(t, 1)}
	}
	for _, k := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"} {
		if has(k) {
			s[k] = rapid.IntRange(0, 3).Draw(t, k)
		}
	}
	if has("unique") {
		s["uniqueItems"] = true
	}
	if depth == 0 {
		return s
	}
	if has("properties") {
		s["properties"] = map[string]any{"a": sub(), "b": sub()}
		s["required"] = rapid.SampledFrom([][]string{{}, {"a"}, {"a", "c"}}).Draw(t, "required")
	}
	for _, k := range []string{"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"} {
		if has(k) {
			s[k] = sub()
		}
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		if has(k) {
			s[k] = []any{sub(), sub()}
		}
	}
	if has("closed") {
		s["additionalProperties"] = false
	}
	return s
}

func drawValue(t *rapid.T, depth int) any {
	kinds := 7
	if depth == 0 {
		kinds = 5
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"", "a", "ä", "long text"}).Draw(t, "text")
	case 1:
		return rapid.IntRange(-1, 4).Draw(t, "integer")
	case 2:
		return rapid.SampledFrom([]float64{0.5, 1.5, 2}).Draw(t, "number")
	case 3:
		return rapid.Bool().Draw(t, "bool")
	case 4:
		return nil
	case 5:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	default:
		object := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			object[rapid.SampledFrom([]string{"a", "b", "c", "dd"}).Draw(t, "key")] = drawValue(t, depth-1)
		}
		return object
	}
}

// The library's answer is the same as ours wherever it has one.
func TestValidate_PropAgreesWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema, err := json.Marshal(drawSchema(t, 2))
		if err != nil {
			t.Fatal(err)
		}
		input, err := json.Marshal(drawValue(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		var theirs jsonschema.Schema
		if err := json.Unmarshal(schema, &theirs); err != nil {
			t.Fatal(err)
		}
		resolved, err := theirs.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		want := resolved.Validate(decoded(input))
		got := Validate(schema, input)
		if (want == nil) != (got == nil) {
			t.Fatalf("schema %s\ninput %s\nlibrary: %v\nwe: %v", schema, input, want, got)
		}
	})
}

func FuzzValidate(f *testing.F) {
	f.Add(`{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`, `{"a":"1"}`)
	f.Add(`{"$ref":"#"}`, `[]`)
	f.Add(`{"anyOf":[{"$ref":"#"},{"type":"null"}],"items":{"$ref":"#/anyOf/1"}}`, `[[null]]`)
	f.Add(`{"additionalProperties":false,"patternProperties":{"^x":{"pattern":"("}}}`, `{"x":"","\u0000":1}`)
	f.Add(`{"properties":{"filePath":{"type":"string"},"n":{"type":["array","null"],"items":{"type":"boolean"}}}}`, `{"file_path":"file:///a","n":"true"}`)
	f.Fuzz(func(t *testing.T, schema, input string) {
		_ = Validate(json.RawMessage(schema), json.RawMessage(input))
		if !json.Valid([]byte(schema)) || !json.Valid([]byte(input)) {
			return
		}
		s, err := Compile(json.RawMessage(schema))
		if err != nil {
			return
		}
		before := Check(s, []byte(strings.TrimSpace(input)))
		fixed, made := RepairInput(s, []byte(input))
		if !json.Valid(fixed) {
			t.Fatalf("%s mended to %s, which is not JSON", input, fixed)
		}
		if len(made) == 0 && string(fixed) != strings.TrimLeft(input, " \n\t\r") {
			t.Fatalf("%s became %s without a repair", input, fixed)
		}
		for _, f := range append(before, Check(s, fixed)...) {
			if f.Problem == "" {
				t.Fatal("a fault without a problem")
			}
		}
	})
}

// The cost for each byte must not grow with the length.
func BenchmarkCheck(b *testing.B) {
	s, err := Compile(json.RawMessage(`{"type":"object","required":["filePath","content"],"properties":{"filePath":{"type":"string"},"content":{"type":"string"},"list":{"type":"array","items":{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}}}}`))
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{2 << 10, 200 << 10} {
		text := `{"filePath":"a","content":"` + strings.Repeat(`a line of \"text\"\n`, n/20) + `"}`
		list := `{"filePath":"a","content":"","list":[` + strings.Repeat(`{"a": 1},`, n/9) + `{"a":1}]}`
		sloppy := `{"file_path":"a","content":"","list":[` + strings.Repeat(`{"a":"1"},`, n/10) + `{"a":1}]}`
		for _, input := range []struct{ name, text string }{{"text", text}, {"list", list}, {"repaired", sloppy}} {
			b.Run(fmt.Sprintf("%s/%dKB", input.name, n>>10), func(b *testing.B) {
				b.SetBytes(int64(len(input.text)))
				b.ReportAllocs()
				for b.Loop() {
					fixed, _ := RepairInput(s, []byte(input.text))
					if faults := Check(s, fixed); faults != nil {
						b.Fatal(faults)
					}
				}
			})
		}
	}
}
