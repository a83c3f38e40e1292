package lathe_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
)

// wireSeeds are texts of all kinds, whole and odd: what one kind calls normal is a
// surprise to another.
func wireSeeds(f *testing.F) {
	for _, values := range samples() {
		for _, data := range values {
			f.Add([]byte(data))
		}
	}
	for _, s := range []string{
		`{}`, `[]`, `null`, `{"type":"text"}`, `{"type":"tool","state":null}`, `{"type":"message.part.updated"}`,
		`{"type":"message.updated","properties":{"info":{}}}`, `{"type":"","properties":[]}`, `{"info":null,"parts":[null]}`,
		`{"role":"user","model":{"variant":"a"},"variant":"b"}`, `{"type":"retry","error":{"data":{}}}`,
		`{"type":"x","a":1,"a":2,"\u0061":3}`, "{\"type\":\"x\",\"k\xff\":\"\xfe\",\n\"l\":\r[\n]}",
		`{"type":"message.part.delta","properties":{"offset":-9e99}}`, `{"time":{"start":1e999,"archived":-1}}`,
		leastSession, leastUser, leastAnswer, event("session.error", `"error":{"name":"x"}`),
		tool(`"status":"completed","attachments":[{"type":"tool","state":{"status":"completed","attachments":[{}]}}]`),
	} {
		f.Add([]byte(s))
	}
}

// settles checks that what was read is written as good JSON on one line, and that reading
// that changes nothing more.
func settles(t *testing.T, data []byte, again kind) {
	t.Helper()
	once, err := again(string(data))
	if err != nil {
		return
	}
	if !json.Valid([]byte(once)) || !utf8.ValidString(once) || strings.ContainsAny(once, "\r\n") {
		t.Fatalf("not fit to send: %q", once)
	}
	twice, err := again(once)
	if err != nil {
		t.Fatalf("what was written cannot be read: %v\n%s", err, once)
	}
	if twice != once {
		t.Fatalf("the second time it differs:\n%s\n%s", once, twice)
	}
}

func FuzzSession(f *testing.F) {
	wireSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = new(lathe.Session).UnmarshalJSON(data) // whatever it is, it does no harm
		settles(t, data, kinds["session"])
		settles(t, data, kinds["project"])
	})
}

func FuzzMessage(f *testing.F) {
	wireSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var m lathe.Message
		if m.UnmarshalJSON(data) == nil {
			m.AppendJSON(nil)
		}
		settles(t, data, kinds["message"])
		settles(t, data, kinds["info"])
		for _, role := range []string{"user", "assistant"} {
			settles(t, data, func(row string) (string, error) {
				var m lathe.Message
				if err := validJSON(row); err != nil {
					return "", err
				}
				err := m.ReadRow(role, []byte(row))
				if err != nil {
					return "", err
				}
				return string(m.AppendRow(nil)), nil
			})
		}
	})
}

func FuzzPart(f *testing.F) {
	wireSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var p lathe.Part
		if p.UnmarshalJSON(data) == nil {
			p.AppendJSON(nil)
		}
		settles(t, data, kinds["part"])
		for _, kind := range []string{"text", "tool", "step-finish", "file", "x"} {
			settles(t, data, func(row string) (string, error) {
				var p lathe.Part
				if err := validJSON(row); err != nil {
					return "", err
				}
				err := p.ReadRow(kind, []byte(row))
				if err != nil {
					return "", err
				}
				return string(p.AppendRow(nil)), nil
			})
		}
	})
}

func FuzzEvent(f *testing.F) {
	wireSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var e lathe.Event
		if e.UnmarshalJSON(data) == nil {
			e.AppendJSON(nil)
			tr := lathe.NewTranscript(lathe.Session{ID: e.Session}, nil)
			tr.Apply(e)
			tr.Apply(e)
			tr.Messages()
		}
		settles(t, data, kinds["event"])
	})
}

func validJSON(s string) error {
	var raw json.RawMessage
	return json.Unmarshal([]byte(s), &raw)
}

func FuzzCheckID(f *testing.F) {
	for _, s := range []string{"", "msg_1", "msg_../x", "msg\x00", "msg_é", strings.Repeat("msg", 99)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if lathe.CheckID(lathe.PrefixMessage, id) != nil {
			return
		}
		if len(id) > lathe.MaxID || strings.ContainsAny(id, "/\\.:%\x00\n ") || !utf8.ValidString(id) {
			t.Fatalf("%q passes", id)
		}
	})
}

func FuzzWildcard(f *testing.F) {
	f.Add("git *", "git status")
	f.Add("*?é", "\xffé")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		lathe.Wildcard(pattern, s)
		if !lathe.Wildcard("*", s) || !lathe.Wildcard(strings.ReplaceAll(s, "*", "?"), s) {
			t.Fatalf("%q is not matched by itself", s)
		}
	})
}
