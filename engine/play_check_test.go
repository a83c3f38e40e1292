package engine_test

import (
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// checking reads what a transcript says of checks, and of the tools they look at.
func (p *playing) checking(s *engine.StepSettings) {
	p.Helper()
	if words := strings.Fields(p.option("checks", "")); len(words) > 0 {
		s.Headless = words[0] == "headless"
		switches := map[string]bool{}
		for _, w := range words[1:] {
			name, value, _ := strings.Cut(w, "=")
			switches[name] = value == "on"
		}
		s.Checks = check.Defaults(s.Headless).With(switches)
	}
	if p.option("tools", "") != "real" {
		return
	}
	seen := builtin.NewReadTracker()
	edit := builtin.EditConfig{Tracker: seen}
	write := builtin.WriteConfig{Tracker: seen}
	if s.Checks[check.Syntax] != check.Off {
		write.Syntax = &builtin.SyntaxChecker{}
		edit.Syntax = write.Syntax
	}
	s.Tools = tool.NewSet(append(s.Tools.All(), tooltest.Bash(), builtin.Read(builtin.ReadConfig{Tracker: seen}), builtin.Edit(edit), builtin.Write(write),
		builtin.ApplyPatch(edit), builtin.TodoWrite(builtin.TodoConfig{}))...)
}

// spoke shows which checks a text is of.
func spoke(t *lathe.Text) string {
	said := check.CountIssues([]lathe.Message{{Parts: []lathe.Part{{Body: t}}}})
	var names []string
	for _, c := range check.All() {
		if said[c] > 0 {
			names = append(names, string(c))
		}
	}
	if len(names) == 0 {
		return ""
	}
	received := "shown"
	if !t.Ignored.On() {
		received = "told"
	}
	return fmt.Sprintf(" by %s, %s", strings.Join(names, " "), received)
}
