package jsonrepair

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRepair(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"valid stays, with its space", " { \"a\" : 1 }\n", " { \"a\" : 1 }\n"},
		{"trailing comma in object", `{"a":1,}`, `{"a":1}`},
		{"trailing comma in array", `{"a":[1, 2 , ] , }`, `{"a":[1,2]}`},
		{"single quotes", `{'a':'b'}`, `{"a":"b"}`},
		{"double quote in single quotes", `{'a':'say "hi"'}`, `{"a":"say \"hi\""}`},
		{"escaped single quote", `{'a':'it\'s'}`, `{"a":"it's"}`},
		{"needless escape in double quotes", `{"a":"it\'s"}`, `{"a":"it's"}`},
		{"single quote in double quotes", `{"a":"it's",}`, `{"a":"it's"}`},
		{"line breaks in a string", "{\"a\":\"x\r\n\ty\"}", `{"a":"x\r\n\ty"}`},
		{"other control characters", "{\"a\":\"x\x01\"}", `{"a":"x\u0001"}`},
		{"escapes are kept", `{"a":"\u00e4\\\"\n",}`, `{"a":"\u00e4\\\"\n"}`},
		{"missing bracket", `{"a":"b"`, `{"a":"b"}`},
		{"missing brackets", `{"a":[{"b":true`, `{"a":[{"b":true}]}`},
		{"missing bracket after a number and space", "{\"a\":12\n", `{"a":12}`},
		{"missing bracket inside", `{"a":["x","y"}`, `{"a":["x","y"]}`},
		{"missing brace inside", `[{"a":1]`, `[{"a":1}]`},
		{"fence", "```json\n{\"a\":1}\n```", `{"a":1}`},
		{"fence without language or end", "```\n{\"a\":1}", `{"a":1}`},
		{"fence on one line", "```json {\"a\":1} ``` ", `{"a":1}`},
		{"byte order mark", "\ufeff{\"a\":1}", `{"a":1}`},
		{"bare keys", `{a:1,b_2:{c-d:2}}`, `{"a":1,"b_2":{"c-d":2}}`},
		{"python words", `{"a":True,"b":False,"c":None}`, `{"a":true,"b":false,"c":null}`},
		{"python repr", `{'a': ['x', None], 'b': {'c': 1.5e3}}`, `{"a":["x",null],"b":{"c":1.5e3}}`},
		{"multi-byte text", `{'a':'ä→日本',}`, `{"a":"ä→日本"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Repair([]byte(tt.in))
			if err != nil || string(got) != tt.want {
				t.Fatalf("Repair(%s) = %s, %v; want %s", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestRepair_Refuses(t *testing.T) {
	tests := []struct {
		name, in string
		cut      bool
		says     string
	}{
		{"nothing", ``, true, "not complete"},
		{"open string", `{"a":"b`, true, "not closed"},
		{"open string that ends in a back-slash", `{"a":"b\`, true, "not closed"},
		{"half an escape", `{"a":"b\u00`, true, "not closed"},
		{"number at the very end", `{"a":12`, true, "not complete"},
		{"half a number", `{"a":1e`, true, "not complete"},
		{"half a word", `{"a":tru`, true, "not complete"},
		{"half a bare key", `{"a":1,b`, true, "not complete"},
		{"comma at the end", `{"a":"b",`, true, "not complete"},
		{"key at the end", `{"a"`, true, "not complete"},
		{"colon at the end", `{"a":`, true, "not complete"},
		{"only a brace", `{`, true, "not complete"},
		{"quotes inside a string", `{"a":"say "hi" there"}`, false, `\"`},
		{"apostrophe inside single quotes", `{'a':'it's'}`, false, "comma"},
		{"escape that JSON lacks", `{"a":"\d+"}`, false, `\\d`},
		{"bad hexadecimal", `{"a":"\u12x4"}`, false, "hexadecimal"},
		{"missing comma", `{"a":1 "b":2}`, false, "comma"},
		{"two commas", `[1,,2]`, false, "value"},
		{"only a comma", `[,]`, false, "value"},
		{"text before", `Here it is: {"a":1}`, false, "value"},
		{"text after", `{"a":1} as asked`, false, "follows"},
		{"two values", `{"a":1}{"b":2}`, false, "follows"},
		{"bracket too many", `{"a":1}}`, false, "follows"},
		{"wrong bracket", `{"a":1]`, false, "closes nothing"},
		{"brace in an empty list", `{"a":[}`, false, "closes nothing"},
		{"brace after a comma in a list", `{"a":["x",}`, false, "closes nothing"},
		{"missing value", `{"a":}`, false, "value"},
		{"no key", `{1:2}`, false, "key"},
		{"no colon", `{"a" 1}`, false, "colon"},
		{"no number", `{"a":1-2}`, false, "number"},
		{"nested too deep", strings.Repeat("[", 20000) + strings.Repeat("]", 19999), false, "not JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Repair([]byte(tt.in))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("Repair gave %s, %v; want an error", got, err)
			}
			if e.Cut != tt.cut || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("error %q, cut %t; want %q, cut %t", err, e.Cut, tt.says, tt.cut)
			}
		})
	}
}

func TestRepair_ErrorShowsThePlace(t *testing.T) {
	_, err := Repair([]byte("\n```json\n{\"a\":\"say \"hi\" there\"}\n```"))
	want := "at byte 20, \"hi\\\" there\\\"}\\n\": a comma or a closing bracket must come here; quotes inside a string are written \\\""
	if err == nil || err.Error() != want {
		t.Fatalf("got  %v\nwant %s", err, want)
	}
}

// tree makes any JSON value, with strings that need care.
func tree(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"", "x", "it's", "a\nb", `"q"`, `\`, "tab\t", "ä→", "{", "```", "',"}).Draw(t, "text")
	case 1:
		return float64(rapid.IntRange(-1000, 1000).Draw(t, "number"))
	case 2:
		return rapid.Bool().Draw(t, "bool")
	case 3:
		return nil
	case 4:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			out = append(out, tree(t, depth-1))
		}
		return out
	default:
		out := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			out[rapid.StringMatching(`[a-z_]{1,4}`).Draw(t, "key")] = tree(t, depth-1)
		}
		return out
	}
}

// sloppy writes a value with the mistakes that have one reading.
func sloppy(t *rapid.T, out *strings.Builder, v any) {
	pick := func(s ...string) string { return rapid.SampledFrom(s).Draw(t, "way") }
	switch v := v.(type) {
	case map[string]any:
		out.WriteString("{")
		n := 0
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out.WriteString(pick("", " ", "\n") + pick(`"`+k+`"`, `'`+k+`'`, k) + pick(":", " : "))
			sloppy(t, out, v[k])
			if n++; n < len(v) {
				out.WriteString(",")
			} else {
				out.WriteString(pick("", ",", " , "))
			}
		}
		out.WriteString("}")
	case []any:
		out.WriteString("[")
		for i, m := range v {
			sloppy(t, out, m)
			if i < len(v)-1 {
				out.WriteString(", ")
			} else {
				out.WriteString(pick("", ","))
			}
		}
		out.WriteString("]")
	case string:
		quote := pick(`"`, `'`)
		s := strings.ReplaceAll(v, `\`, `\\`)
		out.WriteString(quote + strings.ReplaceAll(s, quote, `\`+quote) + quote)
	case bool:
		out.WriteString(map[bool]string{true: pick("true", "True"), false: pick("false", "False")}[v])
	case nil:
		out.WriteString(pick("null", "None"))
	default:
		b, _ := json.Marshal(v)
		out.Write(b)
	}
}

func decode(t interface{ Fatalf(string, ...any) }, b []byte) any {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}

func TestRepair_PropSloppyMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := tree(t, 3)
		var src strings.Builder
		sloppy(t, &src, want)
		got, err := Repair([]byte(src.String()))
		if err != nil {
			t.Fatalf("%s: %v", src.String(), err)
		}
		if !reflect.DeepEqual(decode(t, got), want) {
			t.Fatalf("%s became %s", src.String(), got)
		}
	})
}

// leaves adds every leaf of v to set, as JSON.
func leaves(v any, set map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			leaves(m, set)
		}
	case []any:
		for _, m := range v {
			leaves(m, set)
		}
	default:
		b, _ := json.Marshal(v)
		set[string(b)] = true
	}
}

// A value that was cut off is refused, or every text and number in what is left of it is whole.
func TestRepair_PropNeverInventsALeaf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := tree(t, 3)
		whole, _ := json.Marshal(v)
		cut := whole[:rapid.IntRange(0, len(whole)).Draw(t, "cut")]
		got, err := Repair(cut)
		if err != nil || len(cut) == len(whole) {
			return
		}
		if _, isNumber := v.(float64); isNumber { // a cut number alone is JSON, and not repaired
			return
		}
		have, want := map[string]bool{}, map[string]bool{}
		leaves(decode(t, got), have)
		leaves(v, want)
		for leaf := range have {
			if !want[leaf] {
				t.Fatalf("%s cut to %s became %s: %s was never said", whole, cut, got, leaf)
			}
		}
	})
}

func FuzzRepair(f *testing.F) {
	for _, s := range []string{
		`{"a":1}`, `{'a':'b',}`, "```json\n{a:[1,2}\n```", `{"a":"b`, `[[[[`, `{"a":"\u00"}`, "\ufeff", "```", `{"a":1}}`, `-`, "\"\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		before := bytes.Clone(src)
		got, err := Repair(src)
		if !bytes.Equal(src, before) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(src) {
				t.Fatalf("error %#v for %d bytes", err, len(src))
			}
			if json.Valid(src) {
				t.Fatalf("valid JSON refused: %v", err)
			}
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%q became %q, which is not JSON", src, got)
		}
		if json.Valid(src) && !bytes.Equal(got, src) {
			t.Fatalf("valid %q was changed to %q", src, got)
		}
	})
}

// The cost for each byte must not grow: compare the MB/s of the rows.
func BenchmarkRepair(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"2KB", 2 << 10}, {"200KB", 200 << 10}, {"1MB", 1 << 20}} {
		for _, kind := range []struct {
			name string
			src  []byte
		}{
			{"text", []byte("{'content':'" + strings.Repeat("a line of \"text\"\n", size.n/17) + "',}")},
			{"brackets", []byte(strings.Repeat("[", 5000) + strings.Repeat("{'a':[1,],},", size.n/12))},
		} {
			b.Run(kind.name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(kind.src)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Repair(kind.src); err != nil && kind.name == "text" {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
