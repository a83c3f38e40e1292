package engine_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// Several who send while a turn runs all get the same last message, whole. (item 10; §6.2)
func TestTurn_SameMessageForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, `
-- model --
call wait {"ms":5000}
finish tool-calls
--
text "For all of you."
finish stop
`), modeltest.Anthropic)
		got := make([]lathe.Message, 5)
		var group sync.WaitGroup
		for i := range got {
			group.Go(func() {
				var err error
				if i == 4 { // one only waits
					got[i], err = p.Wait(context.WithoutCancel(t.Context()), p.session)
				} else {
					got[i], err = p.Prompt(context.WithoutCancel(t.Context()), p.session, lathe.Prompt{Parts: text(fmt.Sprint("prompt ", i))})
				}
				if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		group.Wait()
		for i, m := range got {
			if m.ID != got[0].ID || wordsOf(m) != "For all of you." {
				t.Errorf("%d got %s %q", i, m.ID, wordsOf(m))
			}
		}
		p.check()
	})
}

// Callers that wait for a turn that is canceled get its last message and no error. (trap 57)
func TestTurn_CanceledWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, "-- model --\ntext \"Half\"\nstall\n"), modeltest.Chat)
		done := make(chan error, 2)
		for i := range 2 {
			go func() {
				m, err := p.Prompt(context.WithoutCancel(t.Context()), p.session, lathe.Prompt{Parts: text(fmt.Sprint("prompt ", i))})
				if err == nil && wordsOf(m) != "Half" {
					err = fmt.Errorf("got %q", wordsOf(m))
				}
				done <- err
			}()
			synctest.Wait()
		}
		p.ok(p.Cancel(t.Context(), p.session))
		p.ok(<-done)
		p.ok(<-done)
		synctest.Wait()
		p.check()
	})
}

// A cancel at any moment after a prompt was sent wins, and the session can continue.
func TestTurn_CancelAtOnce(t *testing.T) {
	t.Parallel()
	most := 12
	if raced { // all run without the detector
		most = 8
	}
	for after := range most {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := beginPlay(t, parseScript(t, ""), modeltest.Chat)
				p.server.Respond(func(r modeltest.Request) modeltest.Answer {
					if strings.Contains(string(r.Body), "and now") {
						return modeltest.Answer{modeltest.Text{"Done."}}
					}
					return modeltest.Answer{modeltest.Pause(time.Second), modeltest.Text{"Late."}, modeltest.Stall{}}
				})
				_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("begin")})
				p.ok(err)
				for range after * after * after { // let it run for a bit
					_, err := p.Get(t.Context(), p.session)
					p.ok(err)
					if after < 6 {
						break
					}
				}
				p.ok(p.Cancel(t.Context(), p.session))
				later()
				for _, m := range p.all() {
					if wordsOf(m) == "Late." {
						t.Error("the cancel was lost")
					}
				}
				p.check()
				_, err = p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("and now?")})
				p.ok(err)
				p.ok(p.settled())
				if all := p.all(); wordsOf(all[len(all)-1]) != "Done." {
					t.Errorf("it does not go on:\n%s", p.shown.history(all))
				}
			})
		})
	}
}

// Fifty prompts that are sent at once are each answered exactly once, in the order in which
// they were admitted. (I5; item 10)
func TestTurn_FiftyAtOnce(t *testing.T) {
	t.Parallel()
	for _, delivery := range []lathe.Delivery{lathe.Queue, lathe.Steer} {
		t.Run(string(delivery), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := beginPlay(t, parseScript(t, ""), modeltest.Chat)
				p.server.Respond(func(r modeltest.Request) modeltest.Answer {
					last := r.Prompt.Messages[len(r.Prompt.Messages)-1]
					said := last.Content[len(last.Content)-1].(model.TextContent).Text
					return modeltest.Answer{modeltest.Pause(time.Millisecond), modeltest.Text{"to " + said}}
				})
				sendFifty(p, delivery)
				p.ok(p.settled())
				p.check()
				checkFifty(p, delivery)
			})
		})
	}
}

func sendFifty(p *playing, delivery lathe.Delivery) {
	p.Helper()
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			_, err := p.Submit(p.Context(), p.session, lathe.Prompt{Parts: text(fmt.Sprint("prompt ", i)), Delivery: delivery})
			if err != nil {
				p.Error(err)
			}
		})
	}
	group.Wait()
}

// checkFifty looks at the history: no prompt twice, none without an answer after it, and of
// those that queue each with its own.
func checkFifty(p *playing, delivery lathe.Delivery) {
	p.Helper()
	prompts := map[string]bool{}
	var before lathe.Message
	for _, m := range p.all() {
		switch said := m.Data.(type) {
		case *lathe.User:
			if prompts[wordsOf(m)] {
				p.Errorf("%q is there twice", wordsOf(m))
			}
			prompts[wordsOf(m)] = true
			if _, user := before.Data.(*lathe.User); user && delivery == lathe.Queue {
				p.Errorf("%q was not answered", wordsOf(before))
			}
		case *lathe.Assistant:
			if said.Parent != before.ID || wordsOf(m) != "to "+wordsOf(before) {
				p.Errorf("%q answers %q", wordsOf(m), wordsOf(before))
			}
		}
		before = m
	}
	if _, user := before.Data.(*lathe.User); user || len(prompts) != 50 {
		p.Errorf("there are %d prompts, and the last message is %q", len(prompts), wordsOf(before))
	}
	requests := p.server.Requests()
	last := requests[len(requests)-1].String()
	for words := range prompts {
		if n := strings.Count(last, fmt.Sprintf("user text %q\n", words)); n != 1 {
			p.Errorf("the model was told %q %d times", words, n)
		}
	}
}

// Subscribers that go away in the middle, or do not read at all, hold up nothing; the one
// that reads late gets to the state all the same. (faults)
func TestTurn_SlowAndVanishedSubscribers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, ""), modeltest.Anthropic)
		p.server.Respond(func(modeltest.Request) modeltest.Answer {
			words := slices.Repeat([]string{"word "}, 3000)
			return modeltest.Answer{modeltest.Text(words), modeltest.Pause(time.Second), modeltest.Finish("stop")}
		})
		scope, none := lathe.Scope{Session: p.session}, lathe.Opt[lathe.Cursor]{}
		slow, stop := iter.Pull2(p.Events(t.Context(), scope, none))
		defer stop()
		if _, err, ok := slow(); err != nil || !ok {
			t.Fatal("the slow one has no beginning", err)
		}
		ctx, vanish := context.WithCancel(context.WithoutCancel(t.Context()))
		gone := make(chan int)
		go func() {
			n := 0
			for range p.Events(ctx, scope, none) {
				if n++; n == 5 {
					vanish()
				}
			}
			gone <- n
		}()
		synctest.Wait()
		begin := time.Now()
		_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("talk")})
		p.ok(err)
		<-gone
		p.ok(p.settled())
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("the turn took %v", took)
		}
		read(t, p, slow)
		p.check()
	})
}

// read reads a stream until it says that the session is idle, or that it must be read again.
func read(t *testing.T, p *playing, next func() (lathe.Event, error, bool)) {
	t.Helper()
	all := p.all()
	tr := lathe.NewTranscript(lathe.Session{ID: p.session}, nil)
	for {
		ev, err, ok := next()
		if err != nil || !ok {
			t.Fatalf("the stream ended before the turn did: %v", err)
		}
		tr.Apply(ev)
		st, ok := ev.Fact.(*lathe.StatusChanged)
		if ok && st.Status.Type == lathe.Idle {
			break
		}
		if strings.Contains(ev.Fact.Type(), "resync") {
			return
		}
	}
	if got, want := tr.Messages(), all; len(got) != len(want) || wordsOf(got[1]) != wordsOf(want[1]) {
		t.Errorf("the slow one knows %d messages of %d", len(got), len(want))
	}
}

// Neither the title nor what a step costs is a change of the session that lists are sorted
// by. (trap 67; §8)
func TestTurn_LeavesTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := beginPlay(t, parseScript(t, `
-- settings --
title default
-- model --
when "You name conversations"
pause 5s
text "Named"
finish stop
--
pause 1s
text "Answered."
finish stop
`), modeltest.Gemini)
		_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("talk")})
		p.ok(err)
		synctest.Wait()
		before, err := p.Get(t.Context(), p.session)
		p.ok(err)
		<-time.After(10 * time.Second)
		synctest.Wait()
		after, err := p.Get(t.Context(), p.session)
		p.ok(err)
		if after.Title != "Named" || *after.Cost == 0 {
			t.Errorf("the session is %q and cost %v", after.Title, *after.Cost)
		}
		if after.Updated != before.Updated {
			t.Errorf("it was changed at %v, and then at %v", before.Updated, after.Updated)
		}
	})
}

// Deltas of 10 MB, of text and of arguments, are parts like any other; the race detector
// takes minutes for that and sees 1 MB, on one wire. (bad input)
func TestTurn_LargeDeltas(t *testing.T) {
	t.Parallel()
	size, wires := 10<<20, modeltest.Protocols()
	if raced {
		size, wires = 1<<20, wires[:1]
	}
	for _, protocol := range wires {
		t.Run(string(protocol), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := beginPlay(t, parseScript(t, ""), protocol)
				p.server.Add(
					modeltest.Answer{
						modeltest.Text{strings.Repeat("x", size)},
						modeltest.Call{Name: "write", Args: `{"path":"a.txt","content":"` + strings.Repeat("y", size) + `"}`},
						modeltest.Finish("tool-calls"),
					},
					modeltest.Answer{modeltest.Text{"Done."}},
				)
				_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("much")})
				p.ok(err)
				p.ok(p.settled())
				p.check()
				all := p.all()
				if n := len(wordsOf(all[1])); n != size {
					t.Errorf("the text has %d bytes: %.200s", n, p.shown.history(all))
				}
				if words := wordsOf(all[len(all)-1]); words != "Done." {
					t.Errorf("the turn ends in %.100q", words)
				}
				if files := p.files(); len(files) < size {
					t.Errorf("the file has %d bytes", len(files))
				}
			})
		})
	}
}

// What a stream says does not depend on how its bytes come. (I10)
func TestTurn_BytesDoNotMatter(t *testing.T) {
	t.Parallel()
	answer := func(chunks int, drip modeltest.Step) modeltest.Answer {
		words := "Grüße, 世界 😀. A tail. "
		var pieces []string
		for rest := []rune(words); len(rest) > 0; {
			n := min(len(rest), 1+len(rest)/chunks)
			pieces, rest = append(pieces, string(rest[:n])), rest[n:]
		}
		a := modeltest.Answer{modeltest.Reasoning{Chunks: pieces}, modeltest.Text(pieces), modeltest.Call{Name: "write", Pieces: chunks, Args: `{"path":"a.txt","content":"ä😀"}`}, modeltest.Finish("tool-calls")}
		if drip != nil {
			a = append(modeltest.Answer{drip}, a...)
		}
		return a
	}
	wires := modeltest.Protocols()
	if raced { // all run without the detector
		wires = wires[:2]
	}
	for _, protocol := range wires {
		t.Run(string(protocol), func(t *testing.T) {
			var want string
			for i, cut := range []struct {
				chunks int
				drip   modeltest.Step
			}{{1, nil}, {3, nil}, {20, modeltest.Drip{Bytes: 1, Every: time.Millisecond}}, {2, modeltest.Drip{Bytes: 7, Every: time.Millisecond}}} {
				synctest.Test(t, func(t *testing.T) {
					p := beginPlay(t, parseScript(t, ""), protocol)
					p.server.Add(answer(cut.chunks, cut.drip), modeltest.Answer{modeltest.Text{"Done."}})
					_, err := p.Submit(t.Context(), p.session, lathe.Prompt{Parts: text("write")})
					p.ok(err)
					p.ok(p.settled())
					p.check()
					got := p.shown.history(p.all()) + p.files()
					if i == 0 {
						want = got
					}
					if got != want || !strings.Contains(got, "ä😀") {
						t.Errorf("cut into %+v:\n%s\nwhole:\n%s", cut, got, want)
					}
				})
			}
		})
	}
}
