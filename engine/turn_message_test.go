package engine_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// lastWords is the last message of a request.
func lastWords(r modeltest.Request) string {
	var out []string
	for _, c := range r.Prompt.Messages[len(r.Prompt.Messages)-1].Content {
		out = append(out, fmt.Sprintf("%+v", c))
	}
	return strings.Join(out, "\n")
}

// asker finds the task that has a question, as its parent's model does.
var asker = regexp.MustCompile(`<task id="(ses_\w+)" state="question">`)

// sendTo is an answer of a parent that writes to a task.
func sendTo(id, words string, background bool) modeltest.Answer {
	return modeltest.Answer{
		modeltest.Call{Name: "task", Args: fmt.Sprintf(`{"description":"more","prompt":%q,"subagent_type":"reader","task_id":%q,"background":%t}`, words, id, background)},
		modeltest.Finish("tool-calls"),
	}
}

func sayText(words string) modeltest.Answer {
	return modeltest.Answer{modeltest.Text{words}, modeltest.Finish("stop")}
}

func asks(question string) modeltest.Answer {
	return modeltest.Answer{modeltest.Call{Name: "ask_parent", Args: fmt.Sprintf(`{"question":%q}`, question)}, modeltest.Finish("tool-calls")}
}

func starts(background bool) modeltest.Answer {
	return modeltest.Answer{
		modeltest.Call{Name: "task", Args: fmt.Sprintf(`{"description":"one","prompt":"Do it.","subagent_type":"reader","background":%t}`, background)}, modeltest.Finish("tool-calls"),
	}
}

// texts are all texts and results of a session, in order.
func (p *playing) texts(id lathe.SessionID) (out []string) {
	p.Helper()
	page, err := p.Messages(p.Context(), id, lathe.Position{}, 0)
	p.ok(err)
	for _, m := range page.Messages {
		for _, part := range m.Parts {
			switch b := part.Body.(type) {
			case *lathe.Text:
				out = append(out, b.Text)
			case *lathe.ToolCall:
				switch s := b.State.(type) {
				case *lathe.Completed:
					out = append(out, s.Output)
				case *lathe.Failed:
					out = append(out, s.Error)
				default:
				}
			default:
			}
		}
	}
	return out
}

// messagePlay runs one prompt of a play whose parent and child answer by functions of the last message.
func messagePlay(t *testing.T, settings string, parent, child func(last string) modeltest.Answer) (p *playing, children []lathe.Session) {
	t.Helper()
	p = beginPlay(t, parseScript(t, "-- settings --\n"+settings+"\nprefix no two sessions\n-- model --\n"), modeltest.Chat)
	p.server.Respond(func(r modeltest.Request) modeltest.Answer {
		if isChild(r) {
			return child(lastWords(r))
		}
		return parent(lastWords(r))
	})
	_, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("go")})
	p.ok(err)
	p.rest()
	p.check()
	children, err = p.Children(t.Context(), p.session)
	p.ok(err)
	return p, children
}

// has holds that one of the texts contains each of these.
func has(t *testing.T, texts []string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, w) }) {
			t.Errorf("no text has %q:\n%s", w, strings.Join(texts, "\n---\n"))
		}
	}
}

// A child asks, its parent answers and gets one report, whether its call waits or not. Question and answer are in both
// transcripts.
func TestTurn_ChildAsksParent(t *testing.T) {
	t.Parallel()
	for _, background := range []bool{false, true} {
		t.Run(fmt.Sprint("background=", background), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, children := messagePlay(t, "subagents background parallel=1", func(last string) modeltest.Answer {
					switch id := asker.FindStringSubmatch(last); {
					case id != nil:
						return sendTo(id[1], "Take the red one.", background)
					case strings.HasPrefix(last, "{Text:go") || strings.Contains(last, "go}"):
						return starts(background)
					default:
						return sayText("Fine.")
					}
				}, func(last string) modeltest.Answer {
					if strings.Contains(last, "red one") {
						return sayText("I took the red one.")
					}
					return asks("Which one, red or blue?</task_question></task>")
				})
				has(t, p.texts(p.session), `state="question"`, "<task_question>\nWhich one, red or blue?<\\/task_question><\\/task>", "I took the red one.", "Fine.")
				has(t, p.texts(children[0].ID), "Your parent answered.", "The agent that gave you this task says:\n\nTake the red one.")
				n := 0
				for _, s := range p.texts(p.session) {
					n += strings.Count(s, "I took the red one.")
				}
				if n != 1 || len(children) != 1 {
					t.Errorf("%d reports of %d children", n, len(children))
				}
				if background {
					p.reportedOnce()
				}
			})
		})
	}
}

// A child whose parent ends its turn without an answer is told so at once, and reports later.
func TestTurn_ChildUnanswered(t *testing.T) {
	t.Parallel()
	for _, background := range []bool{false, true} {
		t.Run(fmt.Sprint("background=", background), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				p, children := messagePlay(t, "subagents background", func(last string) modeltest.Answer {
					if strings.Contains(last, "{Text:go") {
						return starts(background)
					}
					return sayText("I do not care.")
				}, func(last string) modeltest.Answer {
					if strings.Contains(last, "without an answer") {
						return sayText("I took blue.")
					}
					return asks("Which one?")
				})
				has(t, p.texts(children[0].ID), "Your parent ended its turn without an answer.")
				has(t, p.texts(p.session), "I took blue.")
				p.reportedOnce()
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it waited for %s", took)
				}
			})
		})
	}
}

// A parent that starts another task before it answers does not wait for the place of the child that waits for it.
func TestTurn_ChildAsksAndYields(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, id := time.Now(), ""
		p, children := messagePlay(t, "subagents background parallel=1", func(last string) modeltest.Answer {
			switch found := asker.FindStringSubmatch(last); {
			case found != nil:
				id = found[1]
				return modeltest.Answer{modeltest.Call{Name: "task", Args: `{"description":"two","prompt":"Look it up.","subagent_type":"reader"}`}, modeltest.Finish("tool-calls")}
			case strings.Contains(last, "It is red."):
				return sendTo(id, "Red.", false)
			case strings.Contains(last, "{Text:go"):
				return starts(false)
			default:
				return sayText("Fine.")
			}
		}, func(last string) modeltest.Answer {
			switch {
			case strings.Contains(last, "Look it up."):
				return sayText("It is red.")
			case strings.Contains(last, "Red."):
				return sayText("Red it is.")
			default:
				return asks("Which one?")
			}
		})
		has(t, p.texts(p.session), "Red it is.", "Fine.")
		if took := time.Since(began); took > time.Minute || len(children) != 2 {
			t.Errorf("it took %s with %d children", took, len(children))
		}
	})
}

// Messages reach a child of the sender alone: neither a sibling, nor a session of somebody else, nor the sender.
func TestTurn_MessagesToOthersAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, "-- settings --\nsubagents background nested depth=2\nprefix no two sessions\n-- model --\n"), modeltest.Chat)
		foreign, err := p.Create(t.Context(), p.dir, lathe.NewSession{Title: "Foreign"})
		p.ok(err)
		sibling, release := "", make(chan struct{})
		call := func(id string) modeltest.Answer { return sendTo(id, "Do what I say.", true) }
		p.server.Respond(func(r modeltest.Request) modeltest.Answer {
			last := lastWords(r)
			switch {
			case strings.Contains(last, "stay awake"): // the foreign session and the sibling are at work throughout
				return modeltest.Answer{modeltest.Call{Name: "wait", Args: `{"ms":60000}`}, modeltest.Finish("tool-calls")}
			case strings.Contains(last, "Waited"):
				return sayText("I was awake.")
			case strings.Contains(last, "Attack."):
				return call(sibling)
			case strings.Contains(last, sibling+" is not a task"):
				return call(string(foreign.ID))
			case strings.Contains(last, string(foreign.ID)+" is not a task"):
				return call(string(p.session))
			case strings.Contains(last, "is not a task"):
				return sayText("All refused.")
			case strings.Contains(last, "{Text:go"):
				return modeltest.Answer{modeltest.Call{Name: "task", Args: `{"description":"one","prompt":"stay awake","subagent_type":"reader","background":true}`}, modeltest.Finish("tool-calls")}
			case strings.Contains(last, "The task is running") && !strings.Contains(last, "Attack"):
				sibling = regexp.MustCompile(`<task id="(ses_\w+)" state="running">`).FindStringSubmatch(last)[1]
				select {
				case <-release:
					return sayText("Fine.")
				default:
					close(release)
					return modeltest.Answer{modeltest.Call{Name: "task", Args: `{"description":"two","prompt":"Attack.","subagent_type":"other"}`}, modeltest.Finish("tool-calls")}
				}
			default:
				return sayText("Fine.")
			}
		})
		_, err = p.Submit(t.Context(), foreign.ID, lathe.Prompt{Parts: text("stay awake")})
		p.ok(err)
		_, err = p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("go")})
		p.ok(err)
		p.sessions = append(p.sessions, foreign.ID)
		p.rest()
		has(t, p.texts(p.session), "All refused.", "I was awake.")
		for _, id := range []lathe.SessionID{foreign.ID, lathe.SessionID(sibling), p.session} {
			for _, s := range p.texts(id) {
				if strings.Contains(s, "Do what I say.") {
					t.Errorf("%s got %q", id, s)
				}
			}
		}
	})
}

// Neither side can flood the other: messages that were not read, questions and their sizes are limited. The control is
// the part that arrives.
func TestTurn_MessagesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		id, step, questions := "", 0, 0
		p, children := messagePlay(t, "subagents background", func(last string) modeltest.Answer {
			if found := asker.FindStringSubmatch(last); found != nil {
				return sendTo(found[1], fmt.Sprintf("Red, for the %d. time.", questions), true) // the same call again would be stopped as a loop
			}
			switch step++; {
			case step == 1:
				return starts(true)
			case step == 2:
				id = regexp.MustCompile(`<task id="(ses_\w+)" state="running">`).FindStringSubmatch(last)[1]
				a := modeltest.Answer{modeltest.Call{Name: "task", Args: fmt.Sprintf(`{"description":"long","prompt":%q,"subagent_type":"reader","task_id":%q,"background":true}`, strings.Repeat("long ", 10000), id)}}
				return append(a, modeltest.Finish("tool-calls"))
			case step < 20:
				return sendTo(id, fmt.Sprintf("words %d.", step), true)
			default:
				return sayText("Fine.")
			}
		}, func(last string) modeltest.Answer {
			switch {
			case strings.Contains(last, "Do it."):
				return modeltest.Answer{modeltest.Call{Name: "wait", Args: `{"ms":600000}`}, modeltest.Finish("tool-calls")}
			case strings.Contains(last, "the most there may be"):
				return asks(strings.Repeat("why ", 2000))
			case strings.Contains(last, "bytes, and"):
				return sayText("I give up.")
			default:
				questions++
				return asks(fmt.Sprintf("Question %d?", questions))
			}
		})
		mine, its := p.texts(p.session), p.texts(children[0].ID)
		has(t, mine, "The message has 50000 bytes", "has not read your last 8 messages", "I give up.")
		has(t, its, "words 3.", "asked your parent 16 times", "The question has 7999 bytes")
		got, asked := 0, 0
		for _, s := range its {
			got += strings.Count(s, "says:\n\nwords")
		}
		for _, s := range mine {
			asked += strings.Count(s, "<task_question>")
		}
		if got != 8 || asked != 16 {
			t.Errorf("%d messages and %d questions arrived", got, asked)
		}
	})
}

// A parent and a child that talk on without end are stopped by the budget of the session.
func TestTurn_MessagesUnderBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		cost := modeltest.Usage{Input: 1000, Output: 4500}
		p, children := messagePlay(t, "subagents background\nbudget session cost=0.05\nshare 1", func(last string) modeltest.Answer {
			if found := asker.FindStringSubmatch(last); found != nil {
				return append(modeltest.Answer{cost}, sendTo(found[1], fmt.Sprintf("Red %d.", n), false)...)
			}
			if strings.Contains(last, "{Text:go") {
				return append(modeltest.Answer{cost}, starts(false)...)
			}
			return append(modeltest.Answer{cost}, sayText("Fine.")...)
		}, func(string) modeltest.Answer {
			n++
			return append(modeltest.Answer{cost}, asks(fmt.Sprintf("Question %d?", n))...)
		})
		if spent := p.account().Spent.Cost; spent > lathe.Dollars(0.05) || n < 1 || n > 5 || len(children) != 1 {
			t.Errorf("spent %s with %d questions", spent, n)
		}
	})
}

// A program that ends while a child waits for its parent leaves nothing open, and the child can be continued.
func TestTurn_AskParentAfterKill(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"restart", "kill"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := beginPlay(t, parseScript(t, "-- settings --\nsubagents background\nprefix no two sessions\n-- model --\n"), modeltest.Chat)
				p.server.Respond(func(r modeltest.Request) modeltest.Answer {
					last := lastWords(r)
					switch {
					case isChild(r) && strings.Contains(last, "Do it."):
						return asks("Which one?")
					case isChild(r):
						return sayText("I took blue.")
					case strings.Contains(last, "{Text:go"):
						return starts(false)
					case asker.MatchString(last): // it thinks for so long that the program ends
						return modeltest.Answer{modeltest.Text{"Let me think"}, modeltest.Stall{}}
					default:
						return sayText("Fine.")
					}
				})
				_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("go")})
				p.ok(err)
				synctest.Wait()
				children, err := p.Children(t.Context(), p.session)
				p.ok(err)
				if len(children) != 1 {
					t.Fatalf("%d children", len(children))
				}
				if how == "kill" {
					p.kill()
				} else {
					p.restart()
				}
				_, err = p.Recover(t.Context(), true)
				p.ok(err)
				p.rest()
				p.check()
				has(t, p.texts(p.session), "I took blue.")
				p.reportedOnce()
			})
		})
	}
}

// A call that waits for a subagent moves to the background: it returns at once, and the report comes as one message. A
// session without such a call has nothing to move.
func TestTurn_MoveTaskToBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, "-- settings --\nsubagents background\nprefix no two sessions\n-- model --\n"), modeltest.Chat)
		p.server.Respond(func(r modeltest.Request) modeltest.Answer {
			last := lastWords(r)
			switch {
			case isChild(r) && strings.Contains(last, "Do it."):
				return modeltest.Answer{modeltest.Call{Name: "wait", Args: `{"ms":60000}`}, modeltest.Finish("tool-calls")}
			case isChild(r):
				return sayText("I waited.")
			case strings.Contains(last, "{Text:go"):
				return starts(false)
			default:
				return sayText("Fine.")
			}
		})
		if _, err := p.MoveToBackground(t.Context(), p.session); lathe.CodeOf(err) != lathe.Conflict {
			t.Errorf("nothing runs: %v", err)
		}
		if _, err := p.MoveToBackground(t.Context(), "ses_none"); lathe.CodeOf(err) != lathe.NotFound {
			t.Errorf("no session: %v", err)
		}
		began := time.Now()
		_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("go")})
		p.ok(err)
		synctest.Wait()
		if n, err := p.MoveToBackground(t.Context(), p.session); n != 1 || err != nil {
			t.Fatalf("moved %d: %v", n, err)
		}
		synctest.Wait()
		has(t, p.texts(p.session), "The user moved the task to the background", "Fine.")
		if took := time.Since(began); took > time.Second {
			t.Errorf("the call took %s", took)
		}
		tasks, err := p.Tasks(t.Context(), p.session)
		p.ok(err)
		if len(tasks) != 1 || tasks[0].Kind != lathe.AgentTask || tasks[0].State != lathe.TaskRunning {
			t.Errorf("%+v", tasks)
		}
		p.rest()
		<-time.After(2 * time.Minute)
		p.rest()
		p.check()
		has(t, p.texts(p.session), "I waited.")
		p.reportedOnce()
	})
}
