package jsonscan_test

import (
	"encoding/json"
	"testing"

	"github.com/lathe-agent/lathe/internal/jsonscan"
)

// walk steps over one value and reports whether it was all there is.
func walk(in string) bool {
	c, ok := jsonscan.New([]byte(in))
	return ok && c.Skip() && c.AtEnd()
}

func TestSkip(t *testing.T) {
	for in, want := range map[string]bool{
		`{}`: true, ` { } `: true, `{"a":1,"b":[ ],"c":{"d":[null,true,false,"x\n\u00e9"]}}`: true, `[]`: true, `[1, 2]`: true, `""`: true, `0`: true, `123`: true,
		``: false, `{`: false, `{"a"}`: false, `{"a":}`: false, `{"a":1,}`: false, `{,}`: false, `{a:1}`: false, `[1,]`: false, `[,1]`: false, `[1 2]`: false, `[1`: false,
		`"\q"`: false, `"\u12"`: false, `"a`: false, `tru`: false, `nul`: false, `01`: false, `1 2`: false, "\"\n\"": false, "{\n}": false,
		`-1`: false, `1.5`: false, `1e3`: false, `1234567890123456`: false, // for a parser
	} {
		if walk(in) != want {
			t.Errorf("%s: %v", in, !want)
		}
	}
	deep := ""
	for range 100 {
		deep += "["
	}
	if walk(deep) {
		t.Error("it went too deep")
	}
}

func TestCursor(t *testing.T) {
	c, ok := jsonscan.New([]byte(` {"a" : "x\"y" , "b":[7,null], "c":null}`))
	if !ok {
		t.Fatal("it cannot begin")
	}
	name, ok := c.Member(true)
	text, isText := c.Text()
	if !ok || string(name) != "a" || !isText || string(text) != `"x\"y"` || jsonscan.IsPlain(text) {
		t.Errorf("%s %s", name, text)
	}
	name, ok = c.Member(false)
	more, isList := c.Item(true)
	n, isNumber := c.Number()
	if !ok || string(name) != "b" || !more || !isList || n != 7 || !isNumber {
		t.Errorf("%s %d", name, n)
	}
	more, isList = c.Item(false)
	if !more || !isList || !c.Scalar() {
		t.Error("no second item")
	}
	if more, isList = c.Item(false); more || !isList {
		t.Error("the list does not end")
	}
	name, ok = c.Member(false)
	text, isText = c.TextOrNull()
	if !ok || string(name) != "c" || text != nil || !isText {
		t.Errorf("%s %s", name, text)
	}
	if name, ok = c.Member(false); !ok || name != nil || !c.AtEnd() {
		t.Errorf("%s is left", name)
	}
}

func TestSeen(t *testing.T) {
	var s jsonscan.Seen
	if !s.First(1) || !s.First(2) || s.First(1) || s.First(2) || s != 3 {
		t.Error(s)
	}
}

// What it steps over, a parser takes.
func FuzzSkip(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"b\u00e9",{"c":null}],"d":true}`, `[[],{}]`, `"\ud83d"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if walk(in) && !json.Valid([]byte(in)) {
			t.Fatalf("%q is no JSON", in)
		}
	})
}
