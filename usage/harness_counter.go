package usage

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/model"
)

// habits counts every call and every turn. It holds the state of one session at a time.
type habits struct {
	seed maphash.Seed
	out  Harness

	calling     int   // steps with calls
	later       int64 // sent in steps that are not the first of their turn
	laterCached int64
	before      int64 // sent before compactions
	people      int   // turns of sessions started by users
	reports     int   // of subagents
	reportBytes int64
	handed      Usage // to subagents
	tools       map[string]*toolHabits

	session lathe.SessionID
	course  course
}

type toolHabits struct {
	errors Rate
	kinds  map[string]int
	bytes  int64
}

// course is the state of the current session so far.
type course struct {
	turn    *turn
	results map[uint64]uint64 // of calls since the last compaction
	read    map[string]bool   // files read before the last compaction
	fresh   int               // calls left of the ten after the last compaction
	last    uint64            // the previous call
	alike   int               // identical calls in a row
	missed  []miss
	cut     []string // files of truncated output, not opened yet
	step    step     // the previous step
}

// miss is a failed call that may still be followed by a success on the same target.
type miss struct {
	tool, target string
	left         int // calls
}

// step is the number of tokens that a step left in the cache.
type step struct {
	model  lathe.ModelRef
	at     lathe.Time
	cached int64
	sent   int64
}

// turn is the state since the last prompt.
type turn struct {
	steps   int
	tried   map[string]bool // files with an attempted edit
	changed bool            // code
	tested  *bool           // whether the tests passed after the last change
	checked bool            // a check has fired, and nothing was changed since
	last    *lathe.Assistant
	said    bool // the last answer has text or calls
	refused bool // its last call was refused
}

func newHabits() *habits {
	return &habits{seed: maphash.MakeSeed(), tools: map[string]*toolHabits{}, out: Harness{ErrorKinds: map[string]int{}, Ends: map[string]int{}}}
}

// add counts a message and starts a new state for each session.
func (h *habits) add(s lathe.Session, m lathe.Message) {
	if s.ID != h.session {
		h.endTurn()
		h.session, h.course = s.ID, course{results: map[uint64]uint64{}, read: map[string]bool{}}
	}
	switch said := m.Data.(type) {
	case *lathe.User:
		h.prompt(s, m)
	case *lathe.Assistant:
		h.answer(s, m, said)
	}
	for _, p := range m.Parts {
		if _, ok := p.Body.(*lathe.Retry); ok {
			h.out.Retries++
		}
	}
}

// prompt begins a turn, unless the engine wrote the prompt.
func (h *habits) prompt(s lathe.Session, m lathe.Message) {
	if !IsPrompt(m) {
		if t := h.course.turn; t != nil && len(check.CountIssues([]lathe.Message{m})) > 0 {
			h.out.ChecksHeeded.Of++
			t.checked = true
		}
		return
	}
	h.endTurn()
	h.beginTurn(s)
}

func (h *habits) beginTurn(s lathe.Session) {
	h.course.turn = &turn{tried: map[string]bool{}}
	h.out.Turns++
	if s.Parent == "" {
		h.people++
	}
}

// endTurn counts how the current turn ended.
func (h *habits) endTurn() {
	t := h.course.turn
	if t == nil {
		return
	}
	h.course.turn = nil
	h.out.Ends[t.end()]++
	switch {
	case !t.changed:
	case t.tested == nil:
		h.out.Verified.None++
	case *t.tested:
		h.out.Verified.Passed++
	default:
		h.out.Verified.Failed++
	}
}

// end names how a turn ended.
func (t *turn) end() string {
	if t.last == nil {
		return "no answer"
	}
	if t.last.Error != nil {
		switch _, aborted := t.last.Error.(*lathe.AbortedFault); {
		case aborted:
			return "aborted"
		case strings.Contains(lathe.FaultMessage(t.last.Error), "budget"):
			return "budget"
		}
		return "error"
	}
	switch {
	case t.refused:
		return "refused"
	case t.last.Finish == model.FinishLength:
		return "limit"
	case t.last.Finish == model.FinishFilter || t.last.Finish == model.FinishError:
		return "error"
	case t.last.Finish == "" || t.last.Finish == model.FinishCalls:
		return "cut off"
	case !t.said:
		return "empty"
	default:
		return "done"
	}
}

// answer counts a step and its calls.
func (h *habits) answer(s lathe.Session, m lathe.Message, a *lathe.Assistant) {
	used := usageOf(a, m.Parts)
	if s.Parent != "" {
		h.handed = h.handed.add(used)
	}
	if a.Summary.On() {
		h.noteCompaction(a)
		return
	}
	if h.course.turn == nil { // its prompt is before the counted period
		h.beginTurn(s)
	}
	t := h.course.turn
	t.steps++
	t.last, t.said, t.refused = a, false, false
	h.out.Steps++
	h.cache(m, a, used)
	var from, to lathe.Time
	calls := 0
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.ToolCall:
			t.said = true
			if c, ok := readCall(b, h.seed); ok {
				calls++
				h.call(c)
				if from == 0 || c.start < from {
					from = c.start
				}
				to = max(to, c.end)
			}
		case *lathe.Text:
			t.said = t.said || b.Text != "" && !b.Synthetic.On()
		default:
		}
	}
	if calls > 0 {
		h.calling++
		h.out.Parallel.note(calls > 1)
	}
	h.spent(m.Created, a.Completed, max(0, to-from))
}

func (h *habits) spent(from, to, tools lathe.Time) {
	h.out.Time.Tools += int64(tools)
	if to > from {
		h.out.Time.Model += int64(max(0, to-from-tools))
	}
}

// cache counts cache hits and restarts. It ignores old steps, because provider caches expire after some minutes.
func (h *habits) cache(m lathe.Message, a *lathe.Assistant, used Usage) {
	const minutes, least = 4 * 60 * 1000, 2048
	now := step{model: lathe.ModelRef{Provider: a.Model.Provider, Model: a.Model.Model}, at: max(m.Created, a.Completed), cached: used.Tokens.CacheRead + used.Tokens.CacheWrite, sent: used.Tokens.Sent()}
	if used.Steps == 0 {
		return
	}
	if h.course.turn.steps > 1 {
		h.later += now.sent
		h.laterCached += used.Tokens.CacheRead
	}
	if was := h.course.step; was.model == now.model && was.cached >= least && m.Created-was.at < minutes {
		h.out.CacheRestarts.note(used.Tokens.CacheRead < was.cached/2)
	}
	h.course.step = now
}

// noteCompaction resets the state that a compaction removes from the model's context.
func (h *habits) noteCompaction(a *lathe.Assistant) {
	if a.Error != nil || a.Finish == "" {
		return
	}
	const soon = 10
	h.out.Compactions.Count++
	h.before += h.course.step.sent
	h.course.results, h.course.fresh, h.course.step = map[uint64]uint64{}, soon, step{}
}

// call counts one call.
func (h *habits) call(c call) {
	const minute = 60 * 1000
	h.out.Calls++
	t := entry(h.tools, c.tool, func() *toolHabits { return &toolHabits{kinds: map[string]int{}} })
	t.errors.note(c.failed)
	h.out.Errors.note(c.failed)
	if c.failed {
		t.kinds[c.kind]++
		h.out.ErrorKinds[c.kind]++
	} else {
		t.bytes += int64(len(c.output))
		h.out.OutputBytes += int64(len(c.output))
		h.out.Truncated.note(c.cut)
	}
	h.out.Time.Long.note(c.end-c.start > minute)
	h.out.Time.TimedOut.note(c.timedOut)
	if c.tool == "task" && !c.failed {
		h.reports++
		h.reportBytes += int64(len(c.output))
	}
	h.noteRepeat(c)
	h.noteRecovery(c)
	h.noteOpened(c)
	h.course.turn.act(c, &h.out)
}

// noteRepeat counts a call that repeats an earlier one with the same result.
func (h *habits) noteRepeat(c call) {
	now := &h.course
	before, known := now.results[c.key]
	again := known && before == c.result
	if c.tool == "read" {
		h.out.RepeatedReads.note(again)
		if now.fresh > 0 && now.read[c.target] {
			h.out.Compactions.Rereads++
		}
		now.read[c.target] = true
	} else {
		h.out.RepeatedCalls.note(again)
	}
	now.fresh--
	now.results[c.key] = c.result
	if c.key != now.last {
		now.last, now.alike = c.key, 0
	}
	const loop = 3
	if now.alike++; now.alike == loop {
		h.out.Loops++
	}
}

// noteRecovery counts failed calls whose target this call has reached.
func (h *habits) noteRecovery(c call) {
	now := &h.course
	before := len(now.missed)
	now.missed = slices.DeleteFunc(now.missed, func(m miss) bool { return !c.failed && m.tool == c.tool && m.target == c.target })
	h.out.Recovered.Count += before - len(now.missed)
	for i := range now.missed {
		now.missed[i].left--
	}
	now.missed = slices.DeleteFunc(now.missed, func(m miss) bool { return m.left == 0 })
	if c.failed {
		const within = 3
		h.out.Recovered.Of++
		now.missed = append(now.missed, miss{c.tool, c.target, within})
	}
}

// noteOpened counts calls that open a file of truncated output.
func (h *habits) noteOpened(c call) {
	now := &h.course
	before := len(now.cut)
	now.cut = slices.DeleteFunc(now.cut, func(file string) bool { return bytes.Contains(c.input, []byte(file)) })
	h.out.Opened.Count += before - len(now.cut)
	if c.cutTo != "" {
		h.out.Opened.Of++
		now.cut = append(now.cut, c.cutTo)
	}
}

// act updates the turn with the edits and tests of a call.
func (t *turn) act(c call, out *Harness) {
	t.refused = c.refused
	switch {
	case c.edits():
		out.Edits.note(!c.failed)
		if c.target != "" && !t.tried[c.target] {
			t.tried[c.target] = true
			out.FirstEdits.note(c.failed)
		}
		if c.failed {
			return
		}
		if t.checked {
			t.checked = false
			out.ChecksHeeded.Count++
		}
		if check.IsCode(c.target) {
			t.changed, t.tested = true, nil
		}
	case c.command != "" && check.RunsTests(c.command):
		passed := !c.failed && c.exit == 0
		t.tested = &passed
	}
}

// harness computes the final metrics.
func (h *habits) harness(f Stats) Harness {
	h.endTurn()
	out := h.out
	out.StepsPerTurn = ratio(out.Steps, out.Turns)
	out.CallsPerStep = ratio(out.Calls, h.calling)
	out.TokensPerTurn, out.TokensPerStep = f.Usage.Tokens.over(h.people), f.Usage.Tokens.over(f.Usage.Steps)
	out.CostPerTurn = (f.Usage.Cost / lathe.Money(max(h.people, 1))).Dollars()
	out.CacheHits = ratio(h.laterCached, h.later)
	out.Compactions.TokensBefore = h.before / int64(max(out.Compactions.Count, 1))
	out.Subagents = Subagents{
		Sessions: f.Subagents, Tokens: h.handed.Tokens.Total(), CostShare: ratio(h.handed.Cost, f.Usage.Cost),
		ReportBytes: h.reportBytes / int64(max(h.reports, 1)),
	}
	out.ByTool, out.Outputs = []ToolErrors{}, []ToolOutput{}
	for name, t := range h.tools {
		if t.errors.Count > 0 {
			out.ByTool = append(out.ByTool, ToolErrors{name, t.errors, t.kinds})
		}
		if t.bytes > 0 {
			out.Outputs = append(out.Outputs, ToolOutput{name, t.bytes, ratio(t.bytes, out.OutputBytes)})
		}
	}
	slices.SortFunc(out.ByTool, func(a, b ToolErrors) int {
		return cmp.Or(cmp.Compare(b.Errors.Count, a.Errors.Count), cmp.Compare(a.Tool, b.Tool))
	})
	slices.SortFunc(out.Outputs, func(a, b ToolOutput) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Tool, b.Tool)) })
	const most = 10
	out.Outputs = out.Outputs[:min(len(out.Outputs), most)]
	out.Unknown = unknown
	return out
}

func ratio[T ~int | ~int64](a, b T) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
