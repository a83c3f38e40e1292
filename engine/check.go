package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Check is something we look at ourselves, so that no goodwill of a model is needed. Each is
// a pure function of the history. It acts by a line in the result of a call, or by words
// before the turn ends.
type Check string

// The checks, by the names the settings have.
const (
	CheckSyntax      Check = "syntax"        // a file that was written can be parsed; see tool.Syntax
	CheckTodos       Check = "todos"         // the list has open items at the end
	CheckStaleTodos  Check = "stale_todos"   // much was done since the list was written
	CheckUnverified  Check = "unverified"    // code changed and no command ran since
	CheckEmptyDiff   Check = "empty_diff"    // work is said to be done and no file changed
	CheckChecklist   Check = "checklist"     // files changed: the prompt again, and four questions
	CheckLeftovers   Check = "leftovers"     // stray files, processes that still run
	CheckTestMemory  Check = "test_memory"   // the command that ran the tests is kept for the project
	CheckTestsEdited Check = "tests_edited"  // tests failed and only tests were changed
	CheckLoop        Check = "loop"          // the same call with the same result, cycles, failing edits
	CheckNoProgress  Check = "no_progress"   // many calls that brought nothing new
	CheckBudget      Check = "budget"        // half and more of steps, money or time is used
	CheckCutOff      Check = "cut_off"       // the answer was as long as it may be
	CheckEmptyReply  Check = "empty_reply"   // neither words nor calls
	CheckSaidNotDone Check = "said_not_done" // a call is announced and not made
)

// CheckMode is what a check does when it fires.
type CheckMode int

// The modes. The zero value is off.
const (
	CheckOff  CheckMode = iota
	CheckShow           // it tells people, not the model
	CheckAct            // it tells the model
)

// Checks says what each check does; one that is not in it is off.
type Checks map[Check]CheckMode

// DefaultChecks are those of sessions with a person beside them, or, headless, without one.
func DefaultChecks(headless bool) Checks {
	c := Checks{
		CheckSyntax: CheckAct, CheckTodos: CheckShow, CheckStaleTodos: CheckAct, CheckLeftovers: CheckShow, CheckTestMemory: CheckAct, CheckTestsEdited: CheckAct,
		CheckLoop: CheckAct, CheckCutOff: CheckAct, CheckEmptyReply: CheckAct,
	}
	if headless {
		for _, name := range AllChecks() {
			c[name] = CheckAct
		}
	}
	return c
}

// AllChecks lists the checks in the order of their explanation.
func AllChecks() []Check {
	return []Check{
		CheckSyntax, CheckTodos, CheckStaleTodos, CheckUnverified, CheckEmptyDiff, CheckChecklist, CheckLeftovers, CheckTestMemory, CheckTestsEdited,
		CheckLoop, CheckNoProgress, CheckBudget, CheckCutOff, CheckEmptyReply, CheckSaidNotDone,
	}
}

// With returns the checks with some switched on or off.
func (c Checks) With(switches map[string]bool) Checks {
	out := maps.Clone(c)
	if out == nil {
		out = Checks{}
	}
	for name, on := range switches {
		out[Check(name)] = CheckOff
		if on {
			out[Check(name)] = CheckAct
		}
	}
	return out
}

// mostChecks is how many prompts all checks together may add to a turn.
const mostChecks = 2

// finding is what a check has found: a fact, and what the model had better do.
type finding struct {
	check  Check
	level  int // tells apart what one check says more than once; 0 where it does not
	fact   string
	advice string
}

func (f finding) words() string {
	if f.advice == "" || strings.HasSuffix(f.fact, "\n") {
		return f.fact + f.advice
	}
	return f.fact + " " + f.advice
}

// check says words before the turn ends: to the model, which then goes on, and to people.
type check struct{ say, show []finding }

func (check) next() {}

// check looks at a turn whose last answer has come; nil lets it end. What the user said since
// without wanting an answer, or ran in the shell, is not the turn's.
func (s state) check(asked *held, answers []*held) next {
	if len(s.checks) == 0 || len(answers) == 0 || lastAsked(s.messages) != asked {
		return nil
	}
	last := answers[len(answers)-1]
	if a := last.Said.(*lathe.Assistant); a.Structured != nil || a.Summary.On() {
		return nil
	}
	t := s.turn()
	if t.refused() {
		return nil
	}
	say := t.prompts < mostChecks
	if isEmpty(last) {
		return s.checkEmpty(t, answers, say)
	}
	if f, ok := s.first(t, t.cutOff, t.saidNotDone); ok && say {
		return check{say: []finding{f}}
	}
	if s.session.Parent != "" || !s.edits {
		return nil // whoever gave the task looks at the rest; who cannot write leaves nothing
	}
	var out check
	for _, find := range []func(state) (finding, bool){t.todos, t.unverified, t.emptyDiff, t.checklist, t.leftovers} {
		f, ok := find(s)
		switch {
		case !ok || t.fired[f.check]:
		case s.checks[f.check] == CheckShow:
			out.show = append(out.show, f)
		case s.checks[f.check] == CheckAct && say:
			out.say = append(out.say, f)
		}
	}
	if len(out.say)+len(out.show) == 0 {
		return nil
	}
	return out
}

// first is what the first check found that is on and has not fired.
func (s state) first(t *turnView, finds ...func(state) (finding, bool)) (finding, bool) {
	for _, find := range finds {
		if f, ok := find(s); ok && s.checks[f.check] == CheckAct && !t.fired[f.check] {
			return f, true
		}
	}
	return finding{}, false
}

// spoken is what metadata says of checks: on the part that holds their words, and on a call
// whose result has a line of theirs. Levels are there where a check says several things.
type spoken struct {
	Checks []Check       `json:"checks"`
	Levels map[Check]int `json:"levels"`
}

// ourMember is the member of metadata that is not the wire's.
const ourMember = "lathe"

func spokenIn(meta json.RawMessage) spoken {
	var m struct {
		Lathe spoken `json:"lathe"`
	}
	if !bytes.Contains(meta, []byte(`"checks"`)) || json.Unmarshal(meta, &m) != nil {
		return spoken{}
	}
	return m.Lathe
}

// withSpoken notes in metadata which checks spoke.
func withSpoken(meta json.RawMessage, found ...finding) json.RawMessage {
	said := spokenIn(meta)
	for _, f := range found {
		said.Checks = append(said.Checks, f.check)
		if f.level > 0 {
			said.Levels = maps.Clone(said.Levels)
			if said.Levels == nil {
				said.Levels = map[Check]int{}
			}
			said.Levels[f.check] = f.level
		}
	}
	var m map[string]json.RawMessage
	_ = json.Unmarshal(meta, &m) // what is no object has no member
	ours := m[ourMember]
	if list, err := json.Marshal(said.Checks); err == nil {
		ours = withMember(ours, "checks", list)
	}
	if list, err := json.Marshal(said.Levels); err == nil && len(said.Levels) > 0 {
		ours = withMember(ours, "levels", list)
	}
	return withMember(meta, ourMember, ours)
}

// isCheckPrompt reports whether a message was written by a check.
func isCheckPrompt(h *held) bool {
	if _, ok := h.Said.(*lathe.User); !ok || !IsSynthetic(h.Parts) {
		return false
	}
	return slices.ContainsFunc(h.Parts, func(p lathe.Part) bool {
		text := p.Body.(*lathe.Text)
		return !text.Ignored.On() && len(spokenIn(text.Metadata).Checks) > 0
	})
}

// Firings counts what checks said in messages, by their names.
func Firings(messages []lathe.Message) map[Check]int {
	out := map[Check]int{}
	for _, m := range messages {
		for _, p := range m.Parts {
			var names []Check
			switch b := p.Body.(type) {
			case *lathe.Text:
				names = spokenIn(b.Metadata).Checks
			case *lathe.ToolCall:
				names = spokenIn(metadataOf(b.State)).Checks
			default:
			}
			for _, name := range names {
				out[name]++
			}
		}
	}
	return out
}

// check writes down what checks have to say. What the model is told is a prompt of our own:
// it does not begin the turn anew, so steps are counted on.
func (r *runner) check(ctx context.Context, s state, c check) error {
	var facts []lathe.Fact
	at := r.engine.now()
	asked := lastAnswer(s.messages).Said.(*lathe.Assistant).Parent
	for _, f := range c.show {
		r.fired(f, "people")
		// On the prompt: programs take the last text behind it for the answer.
		facts = append(facts, &lathe.PartChanged{Time: at, Part: lathe.Part{
			ID: r.engine.ids.Part(), Session: s.session.ID, Message: asked,
			Body: &lathe.Text{Text: f.fact, Synthetic: lathe.Yes, Ignored: lathe.Yes, Metadata: withSpoken(nil, f)},
		}})
	}
	if len(c.say) > 0 {
		m := r.ownPrompt(s)
		var words []string
		for _, f := range c.say {
			r.fired(f, "the model")
			words = append(words, f.words())
		}
		p := lathe.Part{ID: r.engine.ids.Part(), Session: m.Session, Message: m.ID, Body: &lathe.Text{
			Text: strings.Join(words, "\n\n"), Synthetic: lathe.Yes, Metadata: withSpoken(nil, c.say...),
		}}
		facts = append(facts, r.busy(), &lathe.MessageChanged{Info: m}, &lathe.PartChanged{Part: p, Time: m.Created})
	}
	return r.write(ctx, facts...)
}

func (r *runner) fired(f finding, told string) {
	r.engine.log.Info("a check fired", "session", r.lease.Session, "check", f.check, "told", told)
}

// ownPrompt is a prompt that we write ourselves, with all that the user's one asked for.
func (r *runner) ownPrompt(s state) lathe.Message {
	said := *r.user.Said.(*lathe.User)
	return lathe.Message{ID: r.engine.ids.Message(), Session: s.session.ID, Created: r.engine.now(), Said: &lathe.User{
		Agent: said.Agent, Model: said.Model, System: said.System, Tools: said.Tools, Format: said.Format,
	}}
}

// lastAsked is the newest prompt that is not one of ours that lets a compressed history continue.
func lastAsked(messages []*held) *held {
	for {
		u := lastUser(messages)
		if u == nil || !IsSynthetic(u.Parts) || !hasMark(u.Parts[0].Body.(*lathe.Text).Metadata, continueMark) {
			return u
		}
		messages = messages[:slices.Index(messages, u)]
	}
}

func lastAnswer(messages []*held) *held {
	for _, h := range slices.Backward(messages) {
		if _, ok := h.Said.(*lathe.Assistant); ok {
			return h
		}
	}
	return nil
}
