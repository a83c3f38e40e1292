package args

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// members of a schema, as "name": schema; the first named in required.
func objectSchema(t testing.TB, properties string, required ...string) *Schema {
	t.Helper()
	list, err := json.Marshal(append([]string{}, required...))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Compile(json.RawMessage(fmt.Sprintf(`{"type":"object","required":%s,"properties":{%s}}`, list, properties)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRepair(t *testing.T) {
	const spans = `"spans":{"type":"array","items":{"type":"object","properties":{"from":{"type":"integer"}}}}`
	tests := []struct {
		name, properties, in, want string
		repairs                    []Repair
	}{
		{"nothing to do keeps the bytes", `"a":{"type":"string"}`, `{ "a" : "b" , "x":null }`, `{ "a" : "b" , "x":null }`, nil},
		{"number in a text", `"n":{"type":"number"}`, `{"n":" 1.5 "}`, `{"n":1.5}`, []Repair{RepairNumber}},
		{"integer in a text", `"n":{"type":"integer"}`, `{"n":"12345678901234567890"}`, `{"n":12345678901234567890}`, []Repair{RepairNumber}},
		{"fraction in a text for an integer", `"n":{"type":"integer"}`, `{"n":"1.5"}`, `{"n":"1.5"}`, nil},
		{"whole fraction", `"n":{"type":"integer"}`, `{"n":3.0}`, `{"n":3}`, []Repair{RepairNumber}},
		{"whole fraction in a text", `"n":{"type":"integer"}`, `{"n":"3.0"}`, `{"n":3}`, []Repair{RepairNumber}},
		{"exponent", `"n":{"type":"integer"}`, `{"n":2e3}`, `{"n":2000}`, []Repair{RepairNumber}},
		{"too large to be exact", `"n":{"type":"integer"}`, `{"n":1e300}`, `{"n":1e300}`, nil},
		{"fraction of a number stays", `"n":{"type":"number"}`, `{"n":3.0}`, `{"n":3.0}`, nil},
		{"no number", `"n":{"type":"integer"}`, `{"n":"abc"}`, `{"n":"abc"}`, nil},
		{"truth in a text", `"b":{"type":"boolean"},"c":{"type":"boolean"}`, `{"b":"True","c":"false"}`, `{"b":true,"c":false}`, []Repair{RepairBoolean}},
		{"no truth", `"b":{"type":"boolean"}`, `{"b":"yes"}`, `{"b":"yes"}`, nil},
		{"number for a text", `"a":{"type":"string"}`, `{"a":404}`, `{"a":"404"}`, []Repair{RepairText}},
		{"truth for a text", `"a":{"type":"string"}`, `{"a":true}`, `{"a":"true"}`, []Repair{RepairText}},
		{"number for text that is used to the letter", `"content":{"type":"string"}`, `{"content":404}`, `{"content":404}`, nil},
		{"object for text that is used to the letter", `"content":{"type":"string"}`, `{"content":{"a":1}}`, `{"content":{"a":1}}`, nil},
		{"JSON that is the text", `"content":{"type":"string"}`, `{"content":"[1,2]"}`, `{"content":"[1,2]"}`, nil},
		{"list in a text", `"l":{"type":"array","items":{"type":"integer"}}`, `{"l":"[1,\"2\"]"}`, `{"l":[1,2]}`, []Repair{RepairDecode, RepairNumber}},
		{"object in a text", `"o":{"type":"object"}`, `{"o":"{\"a\":1}"}`, `{"o":{"a":1}}`, []Repair{RepairDecode}},
		{"broken list in a text", `"l":{"type":"array","items":{"type":"string"}}`, `{"l":"[1,"}`, `{"l":"[1,"}`, nil},
		{"one item", `"l":{"type":"array","items":{"type":"string"}}`, `{"l":"a"}`, `{"l":["a"]}`, []Repair{RepairList}},
		{"one item to be repaired", `"l":{"type":"array","items":{"type":"integer"}}`, `{"l":"7"}`, `{"l":[7]}`, []Repair{RepairList, RepairNumber}},
		{"one item that does not fit", `"l":{"type":"array","items":{"type":"integer"}}`, `{"l":"a"}`, `{"l":"a"}`, nil},
		{"one object", spans, `{"spans":{"from":"1"}}`, `{"spans":[{"from":1}]}`, []Repair{RepairList, RepairNumber}},
		{"inside a list", spans, `{"spans":[{"from":1},{"from":"2"}]}`, `{"spans":[{"from":1},{"from":2}]}`, []Repair{RepairNumber}},
		{"null for an optional", `"n":{"type":"integer"}`, `{"a":1,"n":null}`, `{"a":1}`, []Repair{RepairDrop}},
		{"null that is allowed", `"n":{"type":["integer","null"]}`, `{"n":null}`, `{"n":null}`, nil},
		{"null that is a choice", `"n":{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `{"n":null}`, `{"n":null}`, nil},
		{"a choice beside null", `"n":{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `{"n":"4"}`, `{"n":4}`, []Repair{RepairNumber}},
		{"null where anything goes", `"n":{}`, `{"n":null}`, `{"n":null}`, nil},
		{"null for a required", `"need":{"type":"integer"}`, `{"need":null}`, `{"need":null}`, nil},
		{"empty for an optional number", `"n":{"type":"integer"}`, `{"n":""}`, `{}`, []Repair{RepairDrop}},
		{"a word for nothing", `"n":{"type":"integer"}`, `{"n":"None"}`, `{}`, []Repair{RepairDrop}},
		{"empty for an optional text", `"s":{"type":"string"}`, `{"s":""}`, `{"s":""}`, nil},
		{"a text that reads like nothing", `"s":{"type":"string"}`, `{"s":"null"}`, `{"s":"null"}`, nil},
		{"empty for a word", `"s":{"type":"string","enum":["a"]}`, `{"s":""}`, `{}`, []Repair{RepairDrop}},
		{"word in other letters", `"s":{"type":"string","enum":["in_progress","done"]}`, `{"s":"In Progress"}`, `{"s":"in_progress"}`, []Repair{RepairWord}},
		{"word that may be two", `"s":{"type":"string","enum":["ab","AB"]}`, `{"s":"Ab"}`, `{"s":"Ab"}`, nil},
		{"name in other letters", `"filePath":{"type":"string"}`, `{"file_path":"a"}`, `{"filePath":"a"}`, []Repair{RepairMember}},
		{"name of another agent", `"filePath":{"type":"string"}`, `{"path":"a"}`, `{"filePath":"a"}`, []Repair{RepairMember}},
		{"names of an edit", `"oldString":{"type":"string"},"newString":{"type":"string"},"replaceAll":{"type":"boolean"}`, `{"old_str":"a","new_text":"b","replace_all":"true"}`, `{"oldString":"a","newString":"b","replaceAll":true}`, []Repair{RepairBoolean, RepairMember}},
		{"two for one name", `"filePath":{"type":"string"}`, `{"path":"a","filename":"b"}`, `{"path":"a","filename":"b"}`, nil},
		{"the name is there", `"filePath":{"type":"string"}`, `{"filePath":"a","path":"b"}`, `{"filePath":"a","path":"b"}`, nil},
		{"the other name is known too", `"path":{"type":"string"},"filePath":{"type":"string"}`, `{"path":"b"}`, `{"path":"b"}`, nil},
		{"the same name in other letters goes", `"path":{"type":"string"}`, `{"path":"a","Path":"b"}`, `{"path":"a"}`, []Repair{RepairDrop}},
		{"the same name twice", `"path":{"type":"string"}`, `{"path":"a","path":"b"}`, `{"path":"b"}`, []Repair{RepairDrop}},
		{"renamed and empty", `"replaceAll":{"type":"boolean"}`, `{"replace_all":null}`, `{}`, []Repair{RepairDrop, RepairMember}},
		{"file address", `"filePath":{"type":"string"}`, `{"filePath":"file:///a%20b/c.go"}`, `{"filePath":"/a b/c.go"}`, []Repair{RepairPath}},
		{"file address elsewhere", `"filePath":{"type":"string"}`, `{"filePath":"file://host/c.go"}`, `{"filePath":"file://host/c.go"}`, nil},
		{"file address that is text", `"content":{"type":"string"}`, `{"content":"file:///a"}`, `{"content":"file:///a"}`, nil},
		{"shell and text", `"command":{"type":"string"}`, `{"command":["/bin/bash","-lc","ls \"a\""]}`, `{"command":"ls \"a\""}`, []Repair{RepairCommand}},
		{"a list of words is no command", `"command":{"type":"string"}`, `{"command":["ls","-l","a"]}`, `{"command":["ls","-l","a"]}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, made := RepairInput(objectSchema(t, tt.properties, "need"), []byte(tt.in))
			if string(got) != tt.want {
				t.Fatalf("mended to %s; want %s", got, tt.want)
			}
			if diff := cmp.Diff(tt.repairs, made); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestRepair_ClosedObjects(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := RepairInput(s, []byte(`{"a":"1","junk":2}`)); string(got) != `{"a":1}` {
		t.Fatalf("got %s", got)
	}
}

func TestRepair_MapsAndReferences(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"$defs":{"n":{"type":"integer"}},"type":"object","additionalProperties":{"$ref":"#/$defs/n"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := RepairInput(s, []byte(`{"a":"1","b":2}`)); string(got) != `{"a":1,"b":2}` {
		t.Fatalf("got %s", got)
	}
}

// Whatever was right stays as it is, and a second look finds nothing more to do.
func TestRepair_Prop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, err := json.Marshal(drawSchema(t, 2))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		input, err := json.Marshal(drawValue(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		once, made := RepairInput(s, input)
		twice, again := RepairInput(s, once)
		if string(once) != string(twice) || again != nil {
			t.Fatalf("schema %s: %s, then %s (%v), then %s (%v)", src, input, once, made, twice, again)
		}
		// A schema that counts members, or describes the unknown, may mind that one went.
		if !strings.Contains(string(src), "Properties") && len(Check(s, input)) == 0 && len(Check(s, once)) != 0 {
			t.Fatalf("schema %s: %s was right and became %s", src, input, once)
		}
	})
}
