package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// The settings know each check by the name the engine has for it, and no other.
func TestChecks_Names(t *testing.T) {
	var all []string
	off := map[string]bool{}
	for _, c := range check.All() {
		all = append(all, string(c))
		off[string(c)] = false
	}
	known := slices.Sorted(maps.Keys(settingsSchema(t).Properties["checks"].Properties))
	slices.Sort(all)
	if !slices.Equal(all, known) {
		t.Errorf("the settings know %v of %v", known, all)
	}
	for name, mode := range check.Defaults(true).With(off) {
		if mode != check.Off {
			t.Errorf("%s cannot be switched off", name)
		}
	}
}

// The answer is the last text of a turn that ends with an open todo: what the check says of it
// is on the prompt. Clients such as OpenCode's GitHub action take the last text for the answer.
func TestChecks_AnswerIsTheLastText(t *testing.T) {
	needUnix(t)
	m := modeltest.Start(t, modeltest.MustParse(`call todowrite {"todos":[{"content":"one","status":"completed"},{"content":"two","status":"pending"}]}
finish tool-calls
--
text "All done."
finish stop
`))
	s := startServe(t, serveHome(t, m.URL), []string{"LATHE_NO_AUTH=1"})
	var session lathe.Session
	s.ask(200, &session, "POST", "/session", `{"title": "Todo"}`)
	at := "/session/" + string(session.ID) + "/message"
	texts := func(m lathe.Message) (out []string) {
		for _, p := range m.Parts {
			if text, ok := p.Body.(*lathe.Text); ok {
				out = append(out, text.Text)
			}
		}
		return out
	}
	var answer lathe.Message
	s.ask(200, &answer, "POST", at, `{"parts": [{"type": "text", "text": "do it"}]}`)
	if got := strings.Join(texts(answer), "|"); got != "All done." {
		t.Errorf("the answer is %q", got)
	}
	var history []lathe.Message
	s.ask(200, &history, "GET", at, "")
	if got := strings.Join(texts(history[len(history)-1]), "|"); got != "All done." {
		t.Errorf("the last message is %q", got)
	}
	if got := strings.Join(texts(history[0]), "|"); !strings.HasSuffix(got, "|The list still has 1 open item: two.") {
		t.Errorf("the prompt has %q", got)
	}
	s.end()
}
