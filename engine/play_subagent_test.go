package engine_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
)

// accompanied reads what a transcript says of subagents. Its line also brings the task tool and
// an agent called reader, which may not change files.
func (p *playing) accompanied(s *engine.StepSettings) {
	p.Helper()
	i := slices.IndexFunc(p.script.settings, func(line []string) bool { return line[0] == "subagents" })
	if i < 0 {
		return
	}
	rules := append(slices.Clone(s.Agents[0].Rules), lathe.Rule{Permission: "edit", Pattern: "*", Action: lathe.Deny})
	reader := lathe.Agent{Name: "reader", Mode: lathe.Subagent, Rules: rules, Description: "reads and tells", Prompt: "You read."}
	for _, word := range p.script.settings[i][1:] {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "depth":
			s.Subagents.Depth = n
		case "parallel":
			s.Subagents.Parallel = n
		case "writers":
			s.Subagents.Writers = n
		case "brief":
			s.Subagents.MinBrief = n
		case "background":
			s.Subagents.Background = true
		case "primary":
			s.Subagents.Primary = append(s.Subagents.Primary, value)
		case "steps":
			reader.Steps = n
		case "model":
			reader.Model = &lathe.ModelRef{Provider: "test", Model: value}
		case "nested": // the agent other may hand tasks on
			s.Agents[1].Rules = append(slices.Clone(s.Agents[1].Rules), lathe.Rule{Permission: "task", Pattern: "*", Action: lathe.Allow})
		case "blind": // the first agent may not change files
			s.Agents[0].Rules = rules
		default:
			p.Fatalf("sub-agents have no %s", name)
		}
	}
	s.Agents = append(s.Agents, engine.Agent{Agent: reader})
	s.Tools = tool.NewSet(append(s.Tools.All(), builtin.Task(builtin.TaskConfig{Background: s.Subagents.Background}), builtin.AskParent())...)
}

// adopt makes the sessions known that were made by others: children.
func (p *playing) adopt() {
	for _, id := range p.shown.sessions() {
		if !slices.Contains(p.sessions, id) {
			p.sessions = append(p.sessions, id)
		}
	}
}

// sessions are those that are known.
func (s *shown) sessions() []lathe.SessionID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.known)
}

// actOnTasks does the lines about background tasks.
func (p *playing) actOnTasks(w []string) bool {
	p.Helper()
	switch w[0] {
	case "recover":
		_, err := p.Recover(p.Context(), len(w) > 1)
		p.note(err)
	case "backgrounds":
		list, err := p.BackgroundTasks(p.Context(), p.session)
		p.ok(err)
		for _, s := range list {
			p.shown.line("in the background " + string(s.ID) + " " + s.Title)
		}
	default:
		return false
	}
	return true
}

// answersOf reads further answers of the model; $s2 stands for the id of the second session.
func (p *playing) answersOf(lines []string) modeltest.Script {
	p.Helper()
	p.adopt()
	text := strings.Join(lines, "\n")
	for i, id := range p.sessions {
		text = strings.ReplaceAll(text, fmt.Sprintf("$s%d", i+1), string(id))
	}
	more, err := modeltest.Parse(text)
	p.ok(err)
	return more
}

// reportedOnce holds that the end of each background task was reported exactly once.
func (p *playing) reportedOnce() {
	p.Helper()
	left, err := p.BackgroundTasks(p.Context(), "")
	p.ok(err)
	for _, s := range left {
		p.Errorf("the end of %s was not told", s.ID)
	}
	received := map[string]int{}
	for _, m := range p.all() {
		for _, part := range m.Parts {
			if t, ok := part.Body.(*lathe.Text); ok && t.Synthetic.On() && strings.HasPrefix(t.Text, "A task that ran in the background has ended.") {
				_, rest, _ := strings.Cut(t.Text, "<task id=\"")
				id, _, _ := strings.Cut(rest, "\"")
				if received[id]++; received[id] > 1 {
					p.Errorf("the end of %s was told %d times", id, received[id])
				}
			}
		}
	}
}
