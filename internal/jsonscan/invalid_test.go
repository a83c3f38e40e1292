package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/jsonscan"
)

func TestRepair(t *testing.T) {
	for in, want := range map[string]string{
		``: ``, `{}`: `{}`, `{"a":"\u00e9\ud83d\ude00"}`: `{"a":"\u00e9\ud83d\ude00"}`,
		`"\ud83d"`: `"\ufffd"`, `"\uDE00x"`: `"\ufffdx"`, `"\ud83d\ud83d\ude00"`: `"\ufffd\ud83d\ude00"`, `"\ud83dx\ude00"`: `"\ufffdx\ufffd"`,
		`"\\ud83d"`: `"\\ud83d"`, `"\\\ud83d"`: `"\\\ufffd"`, `"\ud83"`: `"\ud83"`, "\"a\xffb\"": "\"a\uFFFDb\"", `"\ud83d\`: `"\ufffd\`,
	} {
		if got := string(jsonscan.ReplaceInvalid([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// What is repaired says the same to a reader of JSON, and needs no repair.
func FuzzRepair(f *testing.F) {
	f.Add([]byte(`{"a\ud83d":["\ude00",1,"\\ud800"]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var before, after any
		if json.Unmarshal(in, &before) != nil {
			return
		}
		repaired := jsonscan.ReplaceInvalid(in)
		if err := json.Unmarshal(repaired, &after); err != nil || !reflect.DeepEqual(before, after) || !utf8.Valid(repaired) {
			t.Fatalf("%s became %s: %v", in, repaired, err)
		}
		if again := jsonscan.ReplaceInvalid(repaired); !bytes.Equal(again, repaired) {
			t.Fatalf("%s became %s", repaired, again)
		}
	})
}
