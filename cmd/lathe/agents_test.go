package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// Sub-agents that only look work side by side, also where general rules speak of edits and
// commands: neither of the two is answered before both have asked.
func TestAgents_ReadersRunInParallel(t *testing.T) {
	brief := "one two three four five six seven eight nine ten eleven twelve"
	m := modeltest.Start(t, modeltest.MustParse(fmt.Sprintf(`when "look twice"
call task {"description":"first","prompt":"FIRST %[1]s","subagent_type":"explore"}
and task {"description":"second","prompt":"SECOND %[1]s","subagent_type":"explore"}
finish tool-calls
--
when "look twice"
text "Both have looked."
finish stop
`, brief)))
	first, second := make(chan struct{}), make(chan struct{})
	m.Respond(func(r modeltest.Request) modeltest.Answer {
		mine, other, body := first, second, string(r.Body)
		switch {
		case strings.Contains(body, "look twice"):
			return nil
		case strings.Contains(body, "SECOND one"):
			mine, other = second, first
		}
		close(mine)
		select {
		case <-other:
			return modeltest.Answer{modeltest.Text{"Seen."}, modeltest.Finish("stop")}
		case <-time.After(5 * time.Second):
			return modeltest.Answer{modeltest.Text{"The other one does not come."}, modeltest.Finish("stop")}
		}
	})
	home := serveHome(t, m.URL)
	settings := filepath.Join(home, ".config", "lathe", "lathe.json")
	src, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	rules := `{"permission": {"edit": "ask", "bash": {"*": "ask", "go *": "allow"}}, "subagents": {"brief": 10},`
	if err := os.WriteFile(settings, []byte(strings.Replace(string(src), "{", rules, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out := must(t, home, "run", "--title", "Two", "look twice")
	if received := m.Last().String(); !strings.Contains(out, "Both have looked.") || strings.Contains(received, "does not come") || strings.Count(received, "Seen.") < 2 {
		t.Errorf("it said %q, and was told\n%s", out, received)
	}
}

// Rules that a client gives a session do not loosen what the session's agent is denied either.
func TestAgents_SessionRulesDoNotLoosen(t *testing.T) {
	needUnix(t)
	for agent, written := range map[string]bool{"plan": false, "build": true} {
		m := modeltest.Start(t, modeltest.MustParse("call write {\"filePath\":\"made.txt\",\"content\":\"made\"}\nfinish tool-calls\n--\ntext \"Done.\"\nfinish stop\n"))
		home := serveHome(t, m.URL)
		s := startServe(t, home, []string{"LATHE_NO_AUTH=1"})
		var session lathe.Session
		s.ask(200, &session, "POST", "/session", `{"title": "Rules", "permission": [{"permission": "edit", "pattern": "*", "action": "allow"}]}`)
		s.ask(200, nil, "POST", "/session/"+string(session.ID)+"/message", `{"agent": "`+agent+`", "parts": [{"type": "text", "text": "write it"}]}`)
		if _, err := os.Stat(filepath.Join(home, "made.txt")); (err == nil) != written {
			t.Errorf("%s: whether the file was written is not %v", agent, written)
		}
		s.end()
	}
}
