package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
)

// conversation turns records into messages. It holds the answer that is being read, because results of its calls
// come in later records, and passes it on when the next message begins.
type conversation struct {
	tool   Tool
	source string
	in     Input
	info   lathe.Session

	last   lathe.Time      // creation of the last message
	parent lathe.MessageID // the last prompt
	open   *answer
	named  string // the title that the source gives, if it does
	prompt string // the first prompt, for a title
}

// answer is an assistant message and the calls that wait for their results.
type answer struct {
	key     string
	msg     lathe.Message
	data    lathe.Assistant
	ended   lathe.Time
	waiting map[string]int // index of the part by call ID, -1 once it has its result
	results int            // calls that have one
	closed  bool           // its usage or a result is known: the next item of the model is another answer
	size    int            // bytes of its content so far
	counted lathe.Tokens   // of earlier pieces of the same answer, whose records all have the usage of the whole
	charged lathe.Money    // their cost
}

// An answer is passed on in pieces when it has this much content, because a transcript may put everything into one: the first
// limit counts once no call waits for its result, the second always.
const (
	longAnswer = 4 << 20
	maxAnswer  = 16 << 20
)

// isFull reports whether further content has to begin another message.
func (a *answer) isFull() bool {
	return a.size > longAnswer && a.results == len(a.waiting) || a.size > maxAnswer
}

// agent is the agent of imported messages, which the user can resume with.
const agent = "build"

func newConversation(tool Tool, source string, in Input) *conversation {
	return &conversation{tool: tool, source: source, in: in, info: lathe.Session{
		ID: sessionID(tool, source), Version: string(tool), Cost: new(lathe.Money), Tokens: &lathe.Tokens{},
	}}
}

// seen notes the time and the directory of a record, whatever it is.
func (c *conversation) seen(at lathe.Time, dir string) {
	if at > 0 && (c.info.Created == 0 || at < c.info.Created) {
		c.info.Created = at
	}
	c.info.Updated = max(c.info.Updated, at)
	if c.info.Directory == "" {
		c.info.Directory = dir
	}
}

// message begins a message. Creation times increase strictly, because they are the order of messages. The ID
// begins with the time, so that databases get them in order.
func (c *conversation) message(key string, at lathe.Time) lathe.Message {
	if at <= c.last {
		at = c.last + 1
	}
	c.last = at
	id := fmt.Sprintf("msg_%012x%s", uint64(max(at, 0))&0xffffffffffff, digest(string(c.tool), c.source, key)[:14])
	return lathe.Message{ID: lathe.MessageID(id), Session: c.info.ID, Created: at}
}

// partSize is about what a part takes in memory besides its text.
const partSize = 512

// part appends a part with an ID that its place in the message determines.
func part(m *lathe.Message, body lathe.Body) int {
	id := fmt.Sprintf("prt_%s_%04x", strings.TrimPrefix(string(m.ID), "msg_"), len(m.Parts))
	m.Parts = append(m.Parts, lathe.Part{ID: lathe.PartID(id), Session: m.Session, Message: m.ID, Body: body})
	return len(m.Parts) - 1
}

// user adds a prompt. A prompt without content is left out.
func (c *conversation) user(key string, at lathe.Time, model lathe.ModelRef, content []lathe.Body) error {
	if len(content) == 0 {
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	m := c.message(key, at)
	m.Data = &lathe.User{Agent: agent, Model: model}
	for _, b := range content {
		part(&m, b)
		if t, ok := b.(*lathe.Text); ok && !t.Synthetic.On() && c.prompt == "" {
			c.prompt = strings.Clone(beginning(t.Text))
		}
	}
	c.parent = m.ID
	return c.in.Add(m)
}

// assistant begins an answer, or continues it if the key is the same.
func (c *conversation) assistant(key string, at lathe.Time, model lathe.ModelRef) error {
	if c.open != nil && c.open.key == key && !c.open.isFull() {
		c.open.ended = max(c.open.ended, at)
		return nil
	}
	var counted lathe.Tokens
	var charged lathe.Money
	if a := c.open; a != nil && a.key == key {
		counted, charged = a.counted.Add(a.data.Tokens), a.charged+a.data.Cost
	}
	if err := c.flush(); err != nil {
		return err
	}
	if c.parent == "" { // every answer needs a prompt
		if err := c.user(key+" prompt", at, model, []lathe.Body{&lathe.Text{Text: "(The transcript begins here.)", Synthetic: lathe.Yes}}); err != nil {
			return err
		}
	}
	c.open = &answer{key: key, msg: c.message(key, at), ended: at, waiting: map[string]int{}, counted: counted, charged: charged}
	c.open.data = lathe.Assistant{Parent: c.parent, Model: model, Agent: agent, Mode: agent, Path: lathe.Paths{Cwd: c.info.Directory, Root: c.info.Directory}}
	part(&c.open.msg, &lathe.StepStart{})
	return nil
}

// say adds a text of the model to the open answer.
func (c *conversation) say(at lathe.Time, text string) {
	if c.open != nil && strings.TrimSpace(text) != "" {
		c.open.size += len(text) + partSize
		part(&c.open.msg, &lathe.Text{Text: text, Time: &lathe.Span{Start: at, End: max(at, 1)}})
	}
}

// think adds a thought. Its signature stays behind: it is valid only for the login it was made for.
func (c *conversation) think(at lathe.Time, text string) {
	if c.open != nil && strings.TrimSpace(text) != "" {
		c.open.size += len(text) + partSize
		part(&c.open.msg, &lathe.Reasoning{Text: text, Time: lathe.Span{Start: at, End: max(at, 1)}})
	}
}

// noResult is the error of a call whose result is not in the transcript.
const noResult = "The transcript has no result of this call: the session was interrupted."

// call adds a tool call, which waits for its result. A call ID that is there already is a repeated record.
func (c *conversation) call(at lathe.Time, id, name string, input json.RawMessage) {
	if c.open == nil {
		c.in.Skipped.add("call")
		return
	}
	if _, ok := c.open.waiting[id]; ok {
		return
	}
	if input = bytes.TrimSpace(input); len(input) == 0 || input[0] != '{' {
		input = json.RawMessage(`{}`)
	}
	input = bytes.Clone(input) // it may be a view
	call := &lathe.ToolCall{CallID: callID(id), Tool: toolName(name), State: &lathe.Failed{Input: input, Error: noResult, Start: at, End: at}}
	c.open.size += len(input) + partSize
	c.open.waiting[id] = part(&c.open.msg, call)
}

// callID keeps an ID that every provider takes, and derives one from any other.
func callID(id string) string {
	if lathe.CheckID("", id) == nil && id != "" && len(id) <= 40 {
		return id
	}
	return "call_" + digest(id)[:24]
}

// toolName is a name that every provider takes: requests repeat it.
func toolName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && lathe.CheckID("", string(r)) == nil {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), 64)]
}

// result is the end of a call.
type result struct {
	output string
	failed bool
	files  []*lathe.File
}

// result gives a call its result, in the open answer. A second result of a call, or one without a call, is counted.
func (c *conversation) result(at lathe.Time, id string, r result) {
	i, ok := -1, false
	if c.open != nil {
		i, ok = c.open.waiting[id]
	}
	if !ok || i < 0 {
		c.in.Skipped.add("result without a call")
		return
	}
	c.open.waiting[id] = -1
	c.open.results++
	c.open.size += len(r.output)
	for _, f := range r.files {
		c.open.size += len(f.URL)
	}
	c.open.ended, c.open.closed = max(c.open.ended, at), true
	p := &c.open.msg.Parts[i]
	old := p.Body.(*lathe.ToolCall)
	failed := old.State.(*lathe.Failed)
	end := max(at, failed.Start)
	call := &lathe.ToolCall{CallID: old.CallID, Tool: old.Tool}
	if r.failed {
		call.State = &lathe.Failed{Input: failed.Input, Error: r.output, Start: failed.Start, End: end}
	} else {
		done := &lathe.Completed{Input: failed.Input, Output: r.output, Title: callTitle(failed.Input), Metadata: json.RawMessage(`{}`), Start: failed.Start, End: end}
		for n, f := range r.files {
			id := lathe.PartID(fmt.Sprintf("%s_%d", p.ID, n))
			done.Attachments = append(done.Attachments, lathe.Part{ID: id, Session: p.Session, Message: p.Message, Body: f})
		}
		call.State = done
	}
	p.Body = call
}

// callTitle is the line that lists show for a call.
func callTitle(input json.RawMessage) string {
	var in struct {
		Command, Description, FilePath, Pattern, URL, Query string
	}
	_ = json.Unmarshal(input, &in) // whatever it is, there is a title or none
	for _, s := range []string{in.Description, in.Command, in.FilePath, in.Pattern, in.URL, in.Query} {
		if s != "" {
			return firstLine(s, 80)
		}
	}
	return ""
}

// setUsage sets tokens and cost of the open answer. A cost of 0 is computed from the price of the model.
func (c *conversation) setUsage(t lathe.Tokens, cost lathe.Money) {
	if c.open == nil {
		return
	}
	if t = less(t, c.open.counted); cost == 0 {
		cost = c.in.Price(c.open.data.Model, t)
	} else {
		cost = max(0, cost-c.open.charged)
	}
	c.open.data.Tokens, c.open.data.Cost, c.open.closed = t, cost, true
}

// less returns the tokens that are not among others.
func less(t, others lathe.Tokens) lathe.Tokens {
	return lathe.Tokens{
		Input: max(0, t.Input-others.Input), Output: max(0, t.Output-others.Output), Reasoning: max(0, t.Reasoning-others.Reasoning),
		Cache: lathe.CacheTokens{Read: max(0, t.Cache.Read-others.Cache.Read), Write: max(0, t.Cache.Write-others.Cache.Write)},
	}
}

// next reports whether an item of the model begins another answer, for sources that do not say so.
func (c *conversation) next() bool { return c.open == nil || c.open.closed || c.open.isFull() }

// flush passes the open answer on. Calls without a result have failed.
func (c *conversation) flush() error {
	a := c.open
	if a == nil {
		return nil
	}
	c.open = nil
	if len(a.msg.Parts) == 1 && a.data.Tokens == (lathe.Tokens{}) {
		return nil // it says nothing
	}
	reason := "stop"
	if len(a.waiting) > 0 {
		reason = "tool-calls"
	}
	part(&a.msg, &lathe.StepFinish{Reason: reason, Cost: a.data.Cost, Tokens: a.data.Tokens})
	a.data.Finish, a.data.Completed = reason, max(a.ended, a.msg.Created)
	a.msg.Data = &a.data
	return c.in.Add(a.msg)
}

// compaction adds the summary that the other program put in the place of all messages before it.
func (c *conversation) compaction(key string, at lathe.Time, model lathe.ModelRef, summary string) error {
	if err := c.flush(); err != nil || strings.TrimSpace(summary) == "" {
		return err
	}
	m := c.message(key+" compaction", at)
	m.Data = &lathe.User{Agent: agent, Model: model}
	part(&m, &lathe.Compaction{Auto: true})
	c.parent = m.ID
	if err := c.in.Add(m); err != nil {
		return err
	}
	if err := c.assistant(key, at, model); err != nil {
		return err
	}
	c.open.data.Summary = lathe.Yes
	c.say(at, summary)
	return c.flush()
}

// end passes the last answer on and returns the record.
func (c *conversation) end() (lathe.Session, error) {
	if err := c.flush(); err != nil {
		return lathe.Session{}, err
	}
	if c.last == 0 {
		return lathe.Session{}, errEmpty
	}
	if c.info.Created == 0 {
		c.info.Created = c.last
	}
	c.info.Updated = max(c.info.Updated, c.info.Created)
	c.info.Title = firstLine(c.named, 100)
	if c.info.Title == "" {
		c.info.Title = firstLine(c.prompt, 60)
	}
	return c.info, nil
}

// errEmpty is the error of a session without messages.
var errEmpty = lathe.Errorf(lathe.NotFound, "the session has no messages")

// IsEmpty reports whether a session has no messages, which is nothing to tell anybody.
func IsEmpty(err error) bool { return errors.Is(err, errEmpty) }

// firstLine is the first line of a text with content, without control characters, cut to n characters.
func firstLine(text string, n int) string {
	for line := range strings.Lines(beginning(text)) {
		line = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
				return ' '
			}
			return r
		}, line)
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > n {
			return strings.TrimSpace(string([]rune(line)[:n-1])) + "…"
		}
		return line
	}
	return ""
}

// beginning is as much of a text as a title needs.
func beginning(text string) string {
	const enough = 16 << 10
	if len(text) <= enough {
		return text
	}
	return strings.ToValidUTF8(text[:enough], "")
}

// dataFile is a file of base64 data, as prompts attach it.
func dataFile(mime, base64, name string) *lathe.File {
	return &lathe.File{Mime: mime, URL: "data:" + mime + ";base64," + base64, Filename: name}
}
