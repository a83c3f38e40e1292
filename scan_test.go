package lathe

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"
)

var scanSeeds = []string{
	``, ` `, `{}`, `[]`, `{`, `[`, `"`, `"\`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a":}}`, `{,}`, `[,]`, `[1,]`,
	`{"a":1,"b":[{"c":"}"}],"d":null}`, ` { "a" : 1 , "b" : [ ] } `, `{"a\"b":"\\"}`, `{"\u0061":1,"a":2}`,
	`{"a":"\\\""}`, `["\\\\",",]"]`, `[[[[]]]]`, `[}`, `{"a":1}}`, `"\ud83d\ude00"`, `"\ud800"`, `"\udc00\ud800"`, `"\u12"`,
	`"\uzzzz"`, `"\x"`, "\"\xff\xfe\"", "{\"\xff\":1}", `"\/\b\f\n\r\t"`, `{"a":truefalse}`, "\x00", "{\"a\":1\n}",
}

// On valid JSON the scanner finds what encoding/json finds; on anything it stays calm.
func FuzzScan(f *testing.F) {
	for _, s := range scanSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		members, objErr := scanObject(data, nil)
		var items [][]byte
		arrErr := scanArray(data, func(item []byte) { items = append(items, item) })
		unquote(data)
		compactJSON(data)
		for _, m := range members {
			unquote(m.val)
		}
		if !json.Valid(data) {
			return
		}
		switch bytes.TrimSpace(data)[0] {
		case '{':
			checkMembers(t, data, members, objErr)
		case '[':
			var want []json.RawMessage
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			if arrErr != nil || !slices.EqualFunc(items, want, func(a []byte, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
				t.Fatalf("%v: %q, want %q", arrErr, items, want)
			}
		default:
			if objErr == nil || arrErr == nil {
				t.Fatalf("%q is neither object nor array", data)
			}
		}
	})
}

func checkMembers(t *testing.T, data []byte, members []member, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]json.RawMessage
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	got := map[string]json.RawMessage{}
	for _, m := range members {
		key, ok := unquote(slices.Concat([]byte(`"`), m.key, []byte(`"`)))
		if !ok {
			t.Fatalf("key %q", m.key)
		}
		got[key] = m.val
	}
	if !maps.EqualFunc(got, want, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		t.Fatalf("%q, want %q", got, want)
	}
}

// Strings are read and written as encoding/json does.
func FuzzString(f *testing.F) {
	for _, s := range append(scanSeeds, "plain", "é漢😀", "\u2028\u2029<>&", "\x7f\x80\xc3", "a\\u0041") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		written := appendString(nil, s)
		if !json.Valid(written) || !utf8.Valid(written) {
			t.Fatalf("%q is written %q", s, written)
		}
		var back string
		if err := json.Unmarshal(written, &back); err != nil {
			t.Fatal(err)
		}
		if want := string([]rune(s)); back != want {
			t.Fatalf("%q comes back as %q", s, back)
		}
		if ours, ok := unquote(written); !ok || ours != back {
			t.Fatalf("%q is read %q, want %q", written, ours, back)
		}

		// The text itself, if it is a string already.
		quoted := []byte(s)
		ours, ok := unquote(quoted)
		if !json.Valid(quoted) || len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
			return
		}
		var theirs string
		if err := json.Unmarshal(quoted, &theirs); err != nil {
			t.Fatal(err)
		}
		if !ok || ours != theirs {
			t.Fatalf("%q is read %q (%v), want %q", s, ours, ok, theirs)
		}
	})
}

// Numbers are written as JavaScript writes them, so that nothing changes on the way.
func TestAppendNumber(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -1: "-1", 1.5: "1.5", -0.25: "-0.25",
		1768435200000: "1768435200000", 1768435200000.5: "1768435200000.5",
		1e15: "1000000000000000", 1e20: "100000000000000000000", 1e21: "1e+21", -1.5e300: "-1.5e+300",
		1e-6: "0.000001", 1.25e-6: "0.00000125", 1e-7: "1e-7", -1.25e-7: "-1.25e-7", 5e-324: "5e-324", 1e-10: "1e-10",
		math.MaxFloat64: "1.7976931348623157e+308", math.Inf(1): "0", math.Inf(-1): "0",
	} {
		if got := string(appendNumber([]byte("x"), f)); got != "x"+want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	if got := string(appendNumber(nil, math.NaN())); got != "0" {
		t.Errorf("NaN: %s", got)
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []float64{0, 1, -1, 1.5, 1e15, 1e21, 1e-7, 5e-324, math.MaxFloat64, 0.1, 123456789.123} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, n float64) {
		got := appendNumber(nil, n)
		theirs, err := json.Marshal(n)
		if err != nil || n == 0 { // no number, or a minus before zero
			theirs = []byte("0")
		}
		if !bytes.Equal(got, theirs) {
			t.Fatalf("%s, want %s", got, theirs)
		}
		if back, err := strconv.ParseFloat(string(got), 64); err == nil && back != n && !math.IsNaN(n) && !math.IsInf(n, 0) {
			t.Fatalf("%v comes back as %v", n, back)
		}
	})
}
