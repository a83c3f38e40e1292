package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// handing is an answer that hands out n tasks at once, of so many words.
func handing(n int) (a modeltest.Answer) {
	for i := range n {
		a = append(a, modeltest.Call{Name: "task", Args: fmt.Sprintf(`{"description":"task %d","prompt":"Do thing %d.","subagent_type":"reader"}`, i, i)})
	}
	return append(a, modeltest.Finish("tool-calls"))
}

// isChild reports whether a request is one of the reader's.
func isChild(r modeltest.Request) bool {
	return len(r.Prompt.System) > 0 && strings.HasPrefix(r.Prompt.System[0], "You read.")
}

// Fifty tasks of one step under a cap of one dollar: no more is spent, nearly all of it is, and
// each call has an end. (issue: budget of one dollar)
func TestTurn_BudgetOfManyTasks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, `
-- settings --
subagents parallel=-1
budget session cost=1
share 1
-- model --
`), modeltest.Chat)
		p.server.Respond(func(r modeltest.Request) modeltest.Answer {
			switch {
			case isChild(r): // a cent each, and it wants more, never the same
				return modeltest.Answer{modeltest.Call{Name: "wait", Args: fmt.Sprintf(`{"ms":%d}`, 20+r.N)}, modeltest.Usage{Input: 1000, Output: 4500}, modeltest.Finish("tool-calls")}
			case len(r.Prompt.Messages) == 1:
				return append(modeltest.Answer{modeltest.Usage{None: true}}, handing(50)...)
			default:
				return modeltest.Answer{modeltest.Text{"Spent."}, modeltest.Usage{None: true}, modeltest.Finish("stop")}
			}
		})
		_, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("spend")})
		p.ok(err)
		p.rest()
		failed, children := 0, 0
		for _, m := range p.all() {
			for _, part := range m.Parts {
				if c, ok := part.Body.(*lathe.ToolCall); ok && c.Tool == "task" {
					if f, ok := c.State.(*lathe.Failed); ok && strings.Contains(f.Error, "has reached its budget") {
						failed++
					}
				}
			}
		}
		for _, r := range p.server.Requests() {
			if isChild(r) {
				children++
			}
		}
		account := p.account()
		cost, billed := account.Spent.Cost, lathe.Dollars(0.01*float64(children))
		t.Logf("50 tasks under $1.00: spent %s with %d requests of children", cost, children)
		if failed != 50 || cost < billed || cost > lathe.Dollars(1) || billed < lathe.Dollars(0.9) || !account.Reserved.IsZero() {
			t.Errorf("%d calls failed; spent %s, billed %s, held %+v", failed, cost, billed, account.Reserved)
		}
	})
}

// The model is told whom it may hand tasks to: subagents that the rules of all above allow,
// sorted, and no others.
func TestTurn_TaskNamesTheAgents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for rules, want := range map[string]string{
			"":                      "Agents:\n- other: only when the user asks for it\n- reader: reads and tells",
			`deny task "other"`:     "Agents:\n- reader: reads and tells",
			`ask task "r*"`:         "Agents:\n- other: only when the user asks for it\n- reader: reads and tells",
			`deny task "something"`: "Agents:\n- other: only when the user asks for it\n- reader: reads and tells",
		} {
			p := beginPlay(t, parseScript(t, "-- settings --\nsubagents\n-- session-rules --\n"+rules+"\n-- model --\ntext \"Hello.\"\nfinish stop\n"), modeltest.Chat)
			_, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("hello")})
			p.ok(err)
			for _, tool := range p.server.Last().Prompt.Tools {
				if tool.Name == "task" && !strings.HasSuffix(tool.Description, "\n\n"+want) {
					t.Errorf("with %q it is told %q", rules, tool.Description)
				}
			}
		}
	})
}

// The record of a child: title, agent, the rules as §9.10 has them, model and variant of the
// answer that made it.
func TestTurn_TaskChild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, `
-- settings --
subagents blind primary=print primary=bash
-- session-rules --
deny bash "rm *"
deny bash "rm *"
deny print
ask external_directory "/x/*"
allow read
-- model --
`), modeltest.Chat)
		p.server.Respond(func(r modeltest.Request) modeltest.Answer {
			if isChild(r) || len(r.Prompt.Messages) > 1 {
				return modeltest.Answer{modeltest.Text{"Done."}, modeltest.Finish("stop")}
			}
			return handing(1)
		})
		_, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("go"), Variant: "high"})
		p.ok(err)
		children, err := p.Children(t.Context(), p.session)
		p.ok(err)
		if len(children) != 1 {
			t.Fatalf("%d children", len(children))
		}
		child := children[0]
		want := rulesOf(t, "deny bash \"rm *\"\ndeny print\nask external_directory \"/x/*\"\ndeny todowrite\ndeny task\ndeny bash\ndeny edit")
		if !slices.Equal(child.Rules, want) {
			t.Errorf("rules %v", child.Rules)
		}
		if child.Title != "task 0 (@reader subagent)" || child.Agent != "reader" || child.Parent != p.session || child.Model.ID != "big" || child.Model.Variant != "high" {
			t.Errorf("%+v %+v", child, child.Model)
		}
	})
}

// A report that is too long for its reader goes to a file, and its head is reported.
func TestTurn_TaskLongReport(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, "-- settings --\nsubagents\n-- model --\n"), modeltest.Chat)
		p.server.Respond(func(r modeltest.Request) modeltest.Answer {
			switch {
			case isChild(r):
				return modeltest.Answer{modeltest.Text{strings.Repeat("a line of the report\n", 1000)}, modeltest.Finish("stop")}
			case len(r.Prompt.Messages) > 1:
				return modeltest.Answer{modeltest.Text{"Done."}, modeltest.Finish("stop")}
			default:
				return handing(1)
			}
		})
		_, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("go")})
		p.ok(err)
		for _, m := range p.all() {
			for _, part := range m.Parts {
				c, ok := part.Body.(*lathe.ToolCall)
				if !ok {
					continue
				}
				s := c.State.(*lathe.Completed)
				var meta struct {
					Truncated  bool
					OutputPath string
					SessionID  string
				}
				p.ok(json.Unmarshal(s.Metadata, &meta))
				if len(s.Output) > 7000 || !strings.HasSuffix(s.Output, "</task>") || !strings.Contains(s.Output, "grep") || !meta.Truncated || meta.OutputPath == "" || meta.SessionID == "" {
					t.Errorf("%d bytes, %s\n%s", len(s.Output), s.Metadata, s.Output)
				}
			}
		}
	})
}

// Fifty tasks at once take hardly longer than one where the model sets the pace. (issue, Speed)
func TestCampaign_ManyTasksAtOnce(t *testing.T) {
	if !isWhole() || raced {
		t.Skip("it measures time on the wall, which says nothing beside other tests: LATHE_CAMPAIGN=all runs it")
	}
	one, many := timeOfTasks(t, 1), timeOfTasks(t, 50)
	t.Logf("1 task: %s, 50 tasks at once: %s, %.2f times as long", one, many, float64(many)/float64(one))
	if many > 2*one {
		t.Errorf("one task takes %s, and fifty at once %s", one, many)
	}
}

// timeOfTasks is how long a turn takes that hands out n tasks at once, each of four steps of a
// second.
func timeOfTasks(t *testing.T, n int) time.Duration {
	t.Helper()
	// On the real clock, over a real socket, and without listeners.
	p := &playing{T: t, script: parseScript(t, "-- settings --\nsubagents parallel=-1\n-- model --\n"), protocol: modeltest.Anthropic, server: modeltest.Start(t, nil), data: t.TempDir(), dir: t.TempDir()}
	p.shown = newShown(p.dir)
	p.open()
	defer func() { p.ok(p.Close()) }()
	rec, err := p.Create(t.Context(), p.dir, lathe.NewSession{Title: "Many tasks"})
	p.ok(err)
	p.server.Respond(func(r modeltest.Request) modeltest.Answer {
		switch count := len(r.Prompt.Messages); {
		case isChild(r) && count < 7:
			return modeltest.Answer{modeltest.Text{"I look."}, modeltest.Pause(time.Second), modeltest.Call{Name: "print", Args: fmt.Sprintf(`{"lines":%d}`, count)}, modeltest.Finish("tool-calls")}
		case isChild(r):
			return modeltest.Answer{modeltest.Pause(time.Second), modeltest.Text{"Found."}, modeltest.Finish("stop")}
		case count == 1:
			return handing(n)
		default:
			return modeltest.Answer{modeltest.Text{"Done."}, modeltest.Finish("stop")}
		}
	})
	began := time.Now()
	m, err := p.Prompt(t.Context(), rec.ID, lathe.Prompt{Parts: text("go")})
	p.ok(err)
	took := time.Since(began)
	if wordsOf(m) != "Done." || len(p.server.Requests()) != 4*n+2 {
		t.Errorf("%q after %d requests", wordsOf(m), len(p.server.Requests()))
	}
	return took
}

// A child that is removed while it works is an error of its parent's call, and so is no wait; a
// parent that is removed takes its children with it.
func TestTurn_TaskRemoved(t *testing.T) {
	t.Parallel()
	for _, which := range []string{"child", "parent"} {
		t.Run(which, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := beginPlay(t, parseScript(t, "-- settings --\nsubagents\n-- model --\n"), modeltest.Chat)
				p.server.Respond(func(r modeltest.Request) modeltest.Answer {
					switch {
					case isChild(r):
						return modeltest.Answer{modeltest.Text{"One"}, modeltest.Stall{}}
					case len(r.Prompt.Messages) > 1:
						return modeltest.Answer{modeltest.Text{"It is gone."}, modeltest.Finish("stop")}
					default:
						return handing(1)
					}
				})
				_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("go")})
				p.ok(err)
				synctest.Wait()
				began := time.Now()
				id := p.session
				if which == "child" {
					children, err := p.Children(t.Context(), id)
					p.ok(err)
					id = children[0].ID
				}
				p.ok(p.Remove(t.Context(), id))
				p.ok(p.Drain(t.Context()))
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("it was waited for, for %s", took)
				}
				if which == "parent" {
					return
				}
				var failed string
				for _, m := range p.all() {
					for _, part := range m.Parts {
						if c, ok := part.Body.(*lathe.ToolCall); ok {
							failed = c.State.(*lathe.Failed).Error
						}
					}
				}
				if !strings.Contains(failed, "could not be done") {
					t.Errorf("the call says %q", failed)
				}
			})
		})
	}
}
