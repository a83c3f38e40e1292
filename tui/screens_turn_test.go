package tui

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// Whole screens of what happens while a turn runs, and after it was cut off.
func TestScreens_Turns(t *testing.T) {
	quoted, err := json.Marshal(samplePatch)
	if err != nil {
		t.Fatal(err)
	}
	edit := &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{
		ID: "per_1", Session: sampleID, Permission: "edit", Patterns: []string{"greet.go"}, Always: []string{"*"},
		Metadata: json.RawMessage(`{"filepath":"/w/app/greet.go","diff":` + string(quoted) + `}`),
	}}
	question := &lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{ID: "que_1", Session: sampleID, Questions: []lathe.Question{
		{Question: "Which greeting?", Header: "Words", Options: []lathe.Option{{Label: "Hello", Description: "as it was"}, {Label: "Hi", Description: "shorter"}}},
		{Question: "Which languages?", Header: "Languages", Multiple: lathe.Yes, Options: []lathe.Option{{Label: "日本語"}, {Label: "Français"}}},
	}}}
	child := lathe.Session{ID: "ses_child", Parent: sampleID, Title: "look around", Agent: "explore"}
	busy := lathe.Status{Type: lathe.Busy}
	retry := lathe.Status{Type: lathe.Retrying, Attempt: 2, Message: "too many requests, says the provider", Next: lathe.Time(time.Date(2000, 1, 1, 0, 0, 30, 0, time.UTC).UnixMilli())}
	for _, tt := range []struct {
		name string
		with func(e *canned)
		do   func(s *stage)
	}{
		{"ask-edit", func(e *canned) { e.asks = []lathe.Fact{edit} }, func(*stage) {}},
		{"ask-always", func(e *canned) { e.asks = []lathe.Fact{edit} }, func(s *stage) { s.pass(time.Second); s.press("3", "enter") }},
		{"ask-question", func(e *canned) { e.asks = []lathe.Fact{question} }, func(*stage) {}},
		{"retry", func(e *canned) { e.statuses = map[lathe.SessionID]lathe.Status{sampleID: retry} }, func(*stage) {}},
		{"cut", func(e *canned) { e.cut = []lathe.SessionID{sampleID} }, func(*stage) {}},
		{"lost", func(e *canned) { e.statuses = map[lathe.SessionID]lathe.Status{sampleID: busy} }, func(s *stage) {
			s.p.feed.put(lathe.Event{}, &api.ConnectionChanged{Err: errors.New("refused")})
			s.pass(2 * frameTime)
		}},
		{"child", func(e *canned) {
			e.sessions = append(e.sessions, child)
			e.messages[child.ID] = e.messages[sampleID]
			e.statuses, e.asks = map[lathe.SessionID]lathe.Status{child.ID: busy}, []lathe.Fact{askFor("per_2", child.ID)}
		}, func(s *stage) { s.run(s.p.sessions.open(child.ID)); s.settle() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := sample()
			tt.with(e)
			onStage(t, e, inSample(), func(s *stage) {
				tt.do(s)
				s.golden(tt.name)
			})
		})
	}
}
