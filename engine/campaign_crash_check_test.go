package engine_test

import (
	"slices"
	"strings"
	"sync"
	"testing/synctest"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// answers is the script of a model that can go back: after a notice that its answer was cut off
// it repeats the answer.
type answers struct {
	mu    sync.Mutex // guards the fields below
	all   modeltest.Script
	left  modeltest.Script
	loose bool // it has something to say when the script has not
}

func (a *answers) add(more ...modeltest.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all, a.left = append(a.all, more...), append(a.left, more...)
}

// rewind continues after the first n answers.
func (a *answers) rewind(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = slices.Clone(a.all[min(n, len(a.all)):])
}

// improvise lets the model continue when the script is at its end, and never stall: who would
// have canceled it has done so.
func (a *answers) improvise() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.loose = true
	a.left = slices.DeleteFunc(a.left, func(one modeltest.Answer) bool {
		return slices.ContainsFunc(one, func(s modeltest.Step) bool { _, ok := s.(modeltest.Stall); return ok })
	})
}

// next is the answer to a request: the first that is for such, else the first that is for any.
func (a *answers) next(r modeltest.Request) modeltest.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.left, func(one modeltest.Answer) bool {
		texts := whenOf(one)
		return len(texts) > 0 && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(string(r.Body), text) })
	})
	if i < 0 {
		i = slices.IndexFunc(a.left, func(one modeltest.Answer) bool { return len(whenOf(one)) == 0 })
	}
	switch {
	case i >= 0:
		one := a.left[i]
		a.left = slices.Delete(a.left, i, i+1)
		return one
	case a.loose:
		return modeltest.Answer{modeltest.Text{"Gone on."}, modeltest.Finish("stop")}
	default:
		return nil
	}
}

func whenOf(a modeltest.Answer) (texts []string) {
	for _, s := range a {
		if w, ok := s.(modeltest.When); ok {
			texts = append(texts, string(w))
		}
	}
	return texts
}

// look notes how the transcript ended, and whether it would have to end so wherever it is cut
// off: it has one prompt, a model without faults, and no rejections.
func (c *crash) look() {
	all := c.all()
	answered := 0
	c.plain = len(c.sessions) == 1
	for _, m := range all {
		if a, ok := m.Data.(*lathe.Assistant); ok {
			answered++
			c.plain = c.plain && a.Error == nil
			c.final = wordsOf(m) // "" is one that ends in a call that was stopped
		}
	}
	c.plain = c.plain && c.final != "" && answered == len(c.model.all) && answered == len(c.server.Requests())
	for i, w := range c.script.do {
		switch {
		case i == 0 && w[0] == "prompt":
		case i > 0 && (w[0] == "wait" || w[0] == "answer" || w[0] == "reply" && (w[1] == "once" || w[1] == "always")):
		default:
			c.plain = false
		}
	}
	if c.option("checks", "") != "" { // what they say depends on what one process saw
		c.plain = false
	}
	for _, a := range c.model.all {
		for _, s := range a {
			switch s.(type) {
			case modeltest.Text, modeltest.Reasoning, modeltest.Call, modeltest.Parallel, modeltest.Usage, modeltest.Finish, modeltest.Pause:
			default:
				c.plain = false
			}
		}
	}
}

// hold holds what must be true at the end, wherever it was cut off.
func (c *crash) hold() {
	c.check() // nothing is open, nothing asks, nothing works, and no request was refused
	c.runs.check(c.playing)
	c.reportedOnce()
	for _, id := range c.sessions {
		c.answered(id)
	}
	damage, err := c.Store().Check(c.Context())
	c.ok(err)
	if len(damage) > 0 {
		c.Errorf("the database is damaged: %q", damage)
	}
	if !c.fate.isStruck() {
		return
	}
	left, err := c.Interruptions(c.Context())
	c.ok(err)
	if len(left) > 0 {
		c.Errorf("%+v are left", left)
	}
	if c.like.plain && c.final != c.like.final {
		c.Errorf("it ends with %q, without the crash with %q", c.final, c.like.final)
	}
	if c.everywhere(); c.Failed() {
		c.Logf("%s\n%s", c.shown.events(), c.shown.history(c.all()))
	}
}

// answered holds that each prompt of a session that took its place was answered, or ended
// in an error, and not answered twice.
func (c *crash) answered(id lathe.SessionID) {
	waiting, wants, err := c.Store().Inbox(c.Context(), id)
	c.ok(err)
	for _, w := range waiting {
		if !w.Paused {
			c.Errorf("prompt %s waits", w.Message)
		}
	}
	page, err := c.Messages(c.Context(), id, lathe.Position{}, 0)
	c.ok(err)
	open, ends := false, map[lathe.MessageID]int{}
	for _, m := range page.Messages {
		if m.ID == wants {
			open = true
		}
		if a, ok := m.Data.(*lathe.Assistant); ok {
			open = false
			isEmpty := wordsOf(m) == "" && c.option("checks", "") != "" // and is asked for again
			if a.Error == nil && a.Finish == "stop" && !hasCalls(m) && !isEmpty {
				ends[a.Parent]++
			}
		}
	}
	if open {
		c.Errorf("prompt %s has no answer", wants)
	}
	for to, n := range ends {
		if n > 1 {
			c.Errorf("prompt %s was answered %d times", to, n)
		}
	}
}

func hasCalls(m lathe.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p lathe.Part) bool { _, ok := p.Body.(*lathe.ToolCall); return ok })
}

// everywhere sends the histories to all protocols: each must take their shape. A limit on
// what may be spent has no say here.
func (c *crash) everywhere() {
	synctest.Wait()
	c.script.settings = slices.DeleteFunc(c.script.settings, func(w []string) bool {
		fails := w[0] == "hook" && (w[1] == "messages" || w[1] == "text") && len(w) > 2
		return w[0] == "budget" || fails
	})
	c.hooked = c.hooks()
	if slices.ContainsFunc(c.script.do, func(w []string) bool { return w[0] == "limit" }) {
		return
	}
	if slices.ContainsFunc(c.script.settings, func(w []string) bool { return len(w) > 2 && w[0] == "hook" && w[1] == "messages" }) {
		return // no request of its passes the hook
	}
	c.server.Respond(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{modeltest.Text{"It is."}, modeltest.Finish("stop")}
	})
	for _, protocol := range modeltest.Protocols() {
		c.protocol = protocol
		for _, id := range c.sessions {
			_, err := c.Submit(c.Context(), id, lathe.Prompt{Agent: "build", Parts: text("Is that so?"), Model: &lathe.ModelRef{Provider: "test", Model: "big"}})
			c.ok(err)
			m, err := c.Wait(c.Context(), id)
			c.ok(err)
			if !strings.HasSuffix(strings.ToUpper(wordsOf(m)), "IT IS.") {
				c.Errorf("%s does not answer the history of %s: %+v", protocol, id, m.Data)
			}
		}
		synctest.Wait()
	}
	for _, r := range c.server.Requests() {
		if r.Problem != "" {
			c.Errorf("a %s provider refuses request %d: %s", r.Protocol, r.N, r.Problem)
		}
	}
}
