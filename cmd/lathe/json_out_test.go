package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// unsafeWords are what a hostile model, file or server says: C1 controls, DEL, marks of direction.
const unsafeWords = "a\u009b31m\u0085b\u202e\u2066c\u200f\u061c\u2028\x7fé😀"

// Whatever the pieces, the JSON is valid, means the same and has no character that controls a terminal.
func TestEscapeJSON(t *testing.T) {
	want := map[string]string{unsafeWords: unsafeWords + "\n\"\\", "plain": "é"}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1; size <= len(text); size++ {
		var b bytes.Buffer
		w := layout.JSONTo(&b)
		for rest := text; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if _, err := w.Write(rest[:min(size, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		var got map[string]string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || len(got) != 2 || got[unsafeWords] != want[unsafeWords] || got["plain"] != "é" {
			t.Fatalf("in pieces of %d: %v, %q", size, err, b.String())
		}
		checkSafe(t, b.String())
	}
	if got := string(layout.EscapeJSON([]byte("\"\x9b\""))); got != `"\ufffd"` {
		t.Errorf("a byte that is no character: %q", got)
	}
}

func checkSafe(t *testing.T, out string) {
	t.Helper()
	for i, r := range out {
		if layout.IsUnsafe(r) || r == utf8.RuneError && out[i] != 0xef {
			t.Fatalf("%U at %d of %.500q", r, i, out)
		}
	}
}

// What a model says reaches no terminal by way of JSON: not in the lines of run, not in an export, not in
// the views for debugging. Readers get every character.
func TestJSON_HasNoControls(t *testing.T) {
	quoted, err := json.Marshal(unsafeWords)
	if err != nil {
		t.Fatal(err)
	}
	m := modeltest.Start(t, modeltest.MustParse("text "+string(quoted)+"\nfinish stop\n"))
	home := serveHome(t, m.URL)
	if err := os.WriteFile(filepath.Join(home, "lathe.json"), []byte(`{"username": `+string(quoted)+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	look := func(args ...string) string {
		cmd := command(t, home, args...)
		cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, stderr.String())
		}
		checkSafe(t, string(out))
		return string(out)
	}
	out := look("run", "--format", "json", "--title", "x", "Say it.")
	id := out[strings.Index(out, "ses_"):][:30]
	for _, args := range [][]string{{"export", id}, {"session", "show", "--json", id}, {"debug", "config"}, {"config", "show", "--json"}} {
		got := look(args...)
		var v any
		if err := json.Unmarshal([]byte(got), &v); err != nil {
			t.Errorf("%v: %v", args, err)
		}
		if text, _ := json.Marshal(v); !strings.Contains(string(text), "31m") || !strings.Contains(got, `\u009b`) || !strings.Contains(got, `\u202e`) {
			t.Errorf("%v has not what was said: %s", args, got)
		}
	}
}
