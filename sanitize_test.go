package lathe_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

// unsanitized are the members whose strings a sanitized export still holds: ids, and words of
// the vocabulary that say nothing about the user.
var unsanitized = []string{
	"id", "sessionID", "messageID", "parentID", "workspaceID", "tail_start_id", "partID", "callID",
	"slug", "version", "role", "type", "status", "agent", "mode", "variant", "providerID", "modelID", "finish", "reason",
	"tool", "mime", "name", "permission", "action",
}

var placeholder = regexp.MustCompile(`^(\[redacted:[a-zA-Z-]+:[A-Za-z0-9_-]+\]|[a-z-]+:[A-Za-z0-9_-]+)$`)

// leaves calls f with each string of a JSON value and the member it stands in.
func leaves(v any, member string, f func(member, text string)) {
	switch v := v.(type) {
	case string:
		f(member, v)
	case []any:
		for _, x := range v {
			leaves(x, member, f)
		}
	case map[string]any:
		for k, x := range v {
			leaves(x, k, f)
		}
	}
}

var unknownMember = regexp.MustCompile(`"x-[a-z-]+":`)

// checkSanitized looks at every string of a sanitized value.
func checkSanitized(t interface{ Errorf(string, ...any) }, clean []byte) {
	var v any
	if err := json.Unmarshal(clean, &v); err != nil {
		t.Errorf("not JSON: %v\n%s", err, clean)
	}
	leaves(v, "", func(member, text string) {
		switch {
		case text == "", slices.Contains(unsanitized, member), placeholder.MatchString(text):
		case member == "pattern" && text == "*", member == "projectID" && text == lathe.GlobalProject:
		default:
			t.Errorf("%s still says %q", member, text)
		}
	})
	if m := unknownMember.Find(clean); m != nil {
		t.Errorf("the unknown member %s is still there", m)
	}
}

func TestSanitized_Session(t *testing.T) {
	s := lathetest.Session()
	checkSanitized(t, s.Sanitized().AppendJSON(nil))
}

func TestSanitized_Messages(t *testing.T) {
	for _, m := range lathetest.Messages() {
		checkSanitized(t, m.Sanitized().AppendJSON(nil))
	}
}

// Sanitizing changes a copy, and only what it must.
func TestSanitized_IsPure(t *testing.T) {
	s, all := lathetest.Session(), lathetest.Messages()
	before := string(s.AppendJSON(nil))
	clean := s.Sanitized()
	if string(s.AppendJSON(nil)) != before {
		t.Error("the session itself was changed")
	}
	if clean.ID != s.ID || clean.Created != s.Created || clean.Agent != s.Agent || clean.Cost == nil {
		t.Errorf("too much is gone: %s", clean.AppendJSON(nil))
	}
	for _, m := range all {
		before := string(m.AppendJSON(nil))
		clean := m.Sanitized()
		if string(m.AppendJSON(nil)) != before {
			t.Errorf("message %s itself was changed", m.ID)
		}
		if len(clean.Parts) != len(m.Parts) {
			t.Errorf("message %s lost parts", m.ID)
		}
		for i, p := range clean.Parts {
			if p.Body.Kind() != m.Parts[i].Body.Kind() {
				t.Errorf("part %s became %s", m.Parts[i].Body.Kind(), p.Body.Kind())
			}
		}
		if twice := clean.Sanitized(); string(twice.AppendJSON(nil)) != string(clean.AppendJSON(nil)) {
			t.Errorf("message %s changes when it is sanitized again", m.ID)
		}
	}
}

// Nothing stays nothing: a placeholder would say that there was something.
func TestSanitized_Empty(t *testing.T) {
	for _, text := range []string{
		`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":""}`,
		`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"tool","callID":"c","tool":"bash","state":{"status":"pending","input":{},"raw":""}}`,
		`{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"patch","hash":"","files":[]}`,
	} {
		var p lathe.Part
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if got := string(p.Sanitized().AppendJSON(nil)); got != text {
			t.Errorf("\n got %s\nwant %s", got, text)
		}
	}
}

// Random messages: no text survives, and what is left can be read.
func TestSanitized_Random(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clean := lathetest.Message(t, lathetest.SessionID, 1).Sanitized().AppendJSON(nil)
		checkSanitized(t, clean)
		var again lathe.Message
		if err := json.Unmarshal(clean, &again); err != nil {
			t.Errorf("%v\n%s", err, clean)
		}
	})
}
