package lathe_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden holds named JSON values against testdata/name.json.
func golden(t *testing.T, name string, values map[string]json.RawMessage) {
	t.Helper()
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(values); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("%s is not what is written now (-golden +now); run with -update and read the diff:\n%s", file, d)
	}
}

// named puts values under their names; those after the first of a name get a number.
type named map[string]json.RawMessage

func (n named) add(name string, data []byte) {
	key := name
	for i := 2; n[key] != nil; i++ {
		key = fmt.Sprintf("%s %d", name, i)
	}
	n[key] = data
}

// value is the JSON as encoding/json understands it: what two texts must share to be equal.
func value(t testing.TB, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, data)
	}
	return v
}

// same holds two JSON texts against each other as values.
func same(t testing.TB, got, want []byte) {
	t.Helper()
	if d := cmp.Diff(value(t, want), value(t, got)); d != "" {
		t.Errorf("not the same JSON (-want +got):\n%s", d)
	}
}

// kind is one type of the wire: how text becomes text again.
type kind func(data string) (string, error)

// The types that are read and written whole, by the names that tests use.
var kinds = map[string]kind{
	"session": again[lathe.Session],
	"message": again[lathe.Message],
	"part":    again[lathe.Part],
	"project": again[lathe.Project],
	"todo":    again[lathe.Todo],
	"diff":    again[lathe.FileDiff],
	"status":  again[lathe.Status],
	"perm":    again[lathe.PermissionRequest],
	"ask":     again[lathe.QuestionRequest],
	"event": func(data string) (string, error) {
		var e lathe.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return "", err
		}
		return string(e.AppendWithOffset(nil)), nil
	},
	"info": func(data string) (string, error) {
		var m lathe.Message
		if err := m.ReadInfo([]byte(data)); err != nil {
			return "", err
		}
		return string(m.AppendInfo(nil)), nil
	},
}

func again[T any, P interface {
	*T
	json.Unmarshaler
	json.Marshaler
}](data string) (string, error) {
	v := P(new(T))
	if err := json.Unmarshal([]byte(data), v); err != nil {
		return "", err
	}
	out, err := v.MarshalJSON()
	return string(out), err
}

// rewrite reads and writes the text as the kind of that name.
func rewrite(t testing.TB, name, data string) string {
	t.Helper()
	out, err := kinds[name](data)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, data)
	}
	return out
}

// part is a part of that type with further members.
func part(kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":%q%s}`, kind, members)
}

// tool is a tool part in the given state.
func tool(state string) string {
	return part("tool", `"callID":"c","tool":"bash","state":{`+state+`}`)
}

// event is an event of that type.
func event(kind, properties string) string {
	return fmt.Sprintf(`{"id":"evt_1","type":%q,"properties":{%s}}`, kind, properties)
}

// user and assistant are the least that old data holds of a message.
func user(members string) string {
	return `{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1}` + more(members) + `}`
}

func assistant(members string) string {
	return `{"id":"msg_2","sessionID":"ses_1","role":"assistant","time":{"created":2},"parentID":"msg_1"` + more(members) + `}`
}

func more(members string) string {
	if members == "" || strings.HasPrefix(members, ",") {
		return members
	}
	return "," + members
}
