package engine_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/prompt"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// commandPlay runs f with a session whose settings are those of a transcript.
func commandPlay(t *testing.T, text string, with func(*opening), f func(p *playing)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlayWith(t, parseScript(t, text), modeltest.Anthropic, with)
		f(p)
		p.rest()
	})
}

// A command for a subagent becomes a subtask: its own agent and model are the subtask's, and the
// conversation keeps those it has (trap 64). Said to be none, it is none.
func TestCommand_Subtask(t *testing.T) {
	const settings = `
-- settings --
builtin yes
command a agent=explore "Find $1."
command b subtask=yes model=test/second "Do it."
command c agent=explore subtask=no "Find it."
`
	commandPlay(t, settings, nil, func(p *playing) {
		for _, tt := range []struct {
			call  lathe.CommandCall
			agent string
			want  lathe.Body
		}{
			{lathe.CommandCall{Command: "a", Arguments: "x"}, "build", &lathe.Subtask{Prompt: "Find x.", Agent: "explore", Command: "a"}},
			{lathe.CommandCall{Command: "b", Agent: "plan"}, "plan", &lathe.Subtask{Prompt: "Do it.", Agent: "plan", Command: "b", Model: &lathe.ModelRef{Provider: "test", Model: "second"}}},
			{lathe.CommandCall{Command: "c"}, "explore", &lathe.Text{Text: "Find it."}},
		} {
			m, err := p.SubmitCommand(p.Context(), p.session, tt.call)
			p.ok(err)
			said := m.Data.(*lathe.User)
			if diff := cmp.Diff(tt.want, m.Parts[0].Body); diff != "" || slices.ContainsFunc(m.Parts[1:], isSaid) {
				p.Error(tt.call.Command, diff)
			}
			if said.Agent != tt.agent || said.Model.Model != "big" {
				p.Errorf("%s: the conversation is with %s and %s", tt.call.Command, said.Agent, said.Model.Model)
			}
			p.ok(p.Cancel(p.Context(), p.session))
			synctest.Wait()
		}
	})
}

// The built-in commands: init is a prompt, review a subtask; both take arguments.
func TestCommand_Builtin(t *testing.T) {
	for _, c := range prompt.Commands() {
		if diff := cmp.Diff([]string{"$ARGUMENTS"}, c.Hints); diff != "" || c.Description == "" || c.Source != lathe.CommandOwn {
			t.Errorf("%+v %s", c, diff)
		}
		if c.Subtask.On() != (c.Name == "review") {
			t.Errorf("%s: subtask is %v", c.Name, c.Subtask)
		}
	}
}

// A hook may change what a command says; the end of the command is reported also to users who
// come back later than the caller who left.
func TestCommand_HookAndEnd(t *testing.T) {
	text := "-- settings --\ncommand a \"Do $1.\"\n-- model --\npause 1s\ntext \"Done.\"\nfinish stop\n"
	hook := func(o *opening) {
		o.Hooks.CommandBefore = func(_ context.Context, _ lathe.SessionID, name, arguments string, parts []lathe.Part) ([]lathe.Part, error) {
			return append(parts, lathe.Part{Body: &lathe.Text{Text: "(" + name + " " + arguments + ")"}}), nil
		}
	}
	commandPlay(t, text, hook, func(p *playing) {
		ctx, leave := context.WithCancel(p.Context())
		gone := make(chan error, 1)
		go func() {
			_, err := p.Command(ctx, p.session, lathe.CommandCall{Command: "a", Arguments: "it"})
			gone <- err
		}()
		synctest.Wait()
		leave()
		if err := <-gone; err == nil {
			p.Error("the caller did not leave")
		}
		p.rest()
		for _, want := range []string{"part m1/1 text \"Do it.\"\npart m1/2 text \"(a it)\"\n", "\nexecuted a \"it\" by m2\n"} {
			if got := p.shown.events(); !strings.Contains(got, want) {
				p.Errorf("%q is not in\n%s", want, got)
			}
		}
	})
}

// Command returns the answer, as a prompt does; Init is the command of that name.
func TestCommand_Answer(t *testing.T) {
	text := "-- settings --\ncommand init \"Write AGENTS.md.\"\n-- model --\ntext \"Written.\"\nfinish stop\n"
	commandPlay(t, text, nil, func(p *playing) {
		m, err := p.Init(p.Context(), p.session, "msg_00000000000000000000000001", &lathe.ModelRef{Provider: "test", Model: "second"})
		p.ok(err)
		a, ok := m.Data.(*lathe.Assistant)
		if !ok || a.Parent != "msg_00000000000000000000000001" || a.Model.Model != "second" {
			p.Errorf("%+v", m.Data)
		}
	})
}

// What clients list: the default agent first, then by name, commands and skills as they are.
func TestLists(t *testing.T) {
	text := "-- settings --\nbuiltin yes\ndefault-agent plan\nskills yes\ncommand a \"A.\"\n-- files/skills/notes/SKILL.md --\nWhen\nDo.\n"
	commandPlay(t, text, nil, func(p *playing) {
		agents, err := p.Agents(p.Context(), p.dir)
		p.ok(err)
		var names []string
		for _, a := range agents {
			names = append(names, a.Name)
		}
		if diff := cmp.Diff([]string{"plan", "build", "compaction", "explore", "general", "summary", "title"}, names); diff != "" {
			p.Error(diff)
		}
		commands, err := p.Commands(p.Context(), p.dir)
		p.ok(err)
		skills, err := p.Skills(p.Context(), p.dir)
		p.ok(err)
		if len(commands) != 1 || commands[0].Name != "a" || len(skills) != 1 || skills[0].Name != "notes" || skills[0].Content != "Do.\n" {
			p.Error(commands, skills)
		}
	})
}

// A change of agent or model is counted with its cause; of anything else there is nothing to count.
func TestSystemPrompt_BreaksAreCounted(t *testing.T) {
	var log lockedText
	text := "-- settings --\ninstruction A.md\n-- files/A.md --\nBe brief.\n-- model --\n" + strings.Repeat("text \"Yes.\"\nfinish stop\n--\n", 5) + "text \"No.\"\nfinish stop\n"
	with := func(o *opening) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) }
	commandPlay(t, text, with, func(p *playing) {
		for _, line := range [][]string{
			{"prompt", "one"},
			{"write", "A.md", "Be verbose."},
			{"prompt", "two"},
			{"restart"},
			{"prompt", "three"},
			{"prompt", "four", "agent=other"},
			{"prompt", "five", "agent=other", "model=test/second"},
			{"fork"},
			{"prompt", "six", "agent=other", "model=test/second"},
		} {
			p.act(line)
			p.rest()
		}
	})
	var causes []string
	for line := range strings.Lines(log.String()) {
		var entry struct{ Cause string }
		if strings.Contains(line, "prefix_breaks") && json.Unmarshal([]byte(line), &entry) == nil {
			causes = append(causes, entry.Cause)
		}
	}
	if diff := cmp.Diff([]string{"agent", "model"}, causes); diff != "" {
		t.Errorf("%s\n%s", diff, log.String())
	}
}

// isSaid reports whether a part is more than what is added when a prompt has its turn.
func isSaid(p lathe.Part) bool {
	t, ok := p.Body.(*lathe.Text)
	return !ok || !t.Synthetic.On()
}
