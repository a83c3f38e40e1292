package acp

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/acp/wire"
)

// view is what a client has been sent of one session. It is for the goroutine of the loop.
type view struct {
	loop *loop
	root *session
	id   lathe.SessionID
	out  lathe.SessionID // the session of its updates: itself, or for a nested one its root
	dir  string          // of the session; relative paths of its calls start here

	parent     *view           // of a subagent
	isNested   bool            // a subagent whose tool calls appear in its root
	agent      string          // name of the subagent
	parentCall wire.ToolCallID // the call that started a subagent
	isQuiet    bool            // notes what the client knows already, and sends nothing

	messages map[lathe.MessageID]*message
	parts    map[lathe.PartID]*sent
	calls    map[string]lathe.PartID // calls that have not ended, by the ID the model gave them
	reread   time.Time               // when a message was last read again
}

// message is what a view must know of a message to translate its parts.
type message struct {
	isUser    bool
	isOwn     bool // the client sent it, and shows it already
	model     lathe.ModelRef
	compacted wire.CompactionID // an answer that is the summary of this compaction
	summaries int               // texts of such an answer: a faulty one is written again
	summary   string            // the last of them
}

// sent is how much of a part was sent.
type sent struct {
	chunk   chunk
	message lathe.MessageID
	units   int    // of its text, in UTF-16
	hash    uint64 // of the last update of a tool call
	begun   bool
	ended   bool
}

// chunk is the update that carries the text of a part.
type chunk uint8

const (
	hidden chunk = iota
	userChunk
	agentChunk
	thoughtChunk
	summaryChunk
)

// newView makes a view that has sent nothing.
func newView(l *loop, root *session, id lathe.SessionID, dir string) *view {
	return &view{loop: l, root: root, id: id, out: id, dir: dir, messages: map[lathe.MessageID]*message{}, parts: map[lathe.PartID]*sent{}, calls: map[string]lathe.PartID{}}
}

// send sends an update, unless the view only notes what the client knows.
func (v *view) send(u wire.SessionUpdate) {
	if !v.isQuiet {
		v.loop.server.update(v.out, u)
	}
}

// take translates a fact of the session.
func (v *view) take(f lathe.Fact) {
	switch f := f.(type) {
	case *lathe.PartDelta:
		v.delta(f)
	case *lathe.PartChanged:
		v.part(f.Part)
	case *lathe.MessageChanged:
		v.message(f.Info)
		v.compaction(f.Info)
	case *lathe.PermissionAsked:
		v.permission(f.PermissionRequest)
	case *lathe.QuestionAsked:
		v.question(f.QuestionRequest)
	case *lathe.PermissionReplied:
		v.loop.withdraw(f.Request)
	case *lathe.QuestionReplied:
		v.loop.withdraw(f.Request)
	case *lathe.QuestionRejected:
		v.loop.withdraw(f.Request)
	case *lathe.StatusChanged:
		v.status(f.Status)
	default:
		if v.root.view == v {
			v.root.take(f)
		}
	}
}

// message notes a message, and what it says about the session.
func (v *view) message(m lathe.Message) {
	known := v.messages[m.ID]
	if known == nil {
		known = &message{}
		v.messages[m.ID] = known
	}
	switch d := m.Data.(type) {
	case *lathe.User:
		known.isUser, known.model = true, d.Model
		if v.root.view == v {
			known.isOwn = v.root.owns(m.ID)
			v.root.notePrompt(m.ID, d)
		}
	case *lathe.Assistant:
		known.model = d.Model
		if d.Summary.On() {
			known.compacted = wire.CompactionID(d.Parent)
		}
		if v.root.view == v {
			v.root.noteAnswer(d)
		}
	}
}

// part translates a part in its present state.
func (v *view) part(p lathe.Part) {
	m := v.messages[p.Message]
	if m == nil {
		return // a removed message, or one that is read when it changes
	}
	s := v.parts[p.ID]
	if s == nil {
		s = &sent{message: p.Message, chunk: v.chunkOf(m, p)}
		v.parts[p.ID] = s
	}
	switch b := p.Body.(type) {
	case *lathe.Text, *lathe.Reasoning:
		if s.chunk == summaryChunk && !p.Open() && !s.ended {
			m.summaries, m.summary = m.summaries+1, p.GrowingText()
		}
		v.grow(s, p.GrowingText())
		s.ended = !p.Open()
	case *lathe.ToolCall:
		v.toolCall(s, p.ID, b)
	case *lathe.File:
		v.file(s, m, b)
	case *lathe.Compaction:
		if !s.begun {
			s.begun = true
			v.sendCompaction(wire.CompactionID(p.Message), wire.CompactionUpdate{Status: wire.CompactionStatusInProgress})
		}
	case *lathe.StepFinish:
		if v.root.view == v {
			v.root.noteUsage(m.model, b.Tokens)
		}
	default:
	}
}

// chunkOf says how the text of a part is sent.
func (v *view) chunkOf(m *message, p lathe.Part) chunk {
	switch b := p.Body.(type) {
	case *lathe.Text:
		switch {
		case v.isNested, m.isOwn, b.Synthetic.On():
			return hidden
		case m.isUser:
			return userChunk
		case m.compacted != "":
			return summaryChunk
		}
		return agentChunk
	case *lathe.Reasoning:
		if v.isNested || m.compacted != "" {
			return hidden
		}
		return thoughtChunk
	default:
		return hidden
	}
}

// grow sends the rest of a text that is now this long.
func (v *view) grow(s *sent, text string) {
	rest, units := skipUnits(text, s.units)
	s.units += units
	v.sendText(s, rest)
}

// delta sends the growth of a text. What was sent before is left out; after a gap the message is read again.
func (v *view) delta(d *lathe.PartDelta) {
	s := v.parts[d.Part]
	if s == nil || s.ended {
		return
	}
	text := d.Delta
	switch {
	case d.Offset > s.units:
		v.readAgain(d.Message)
		return
	case d.Offset >= 0:
		text, _ = skipUnits(text, s.units-d.Offset)
	}
	s.units += lathe.UTF16Len(text)
	v.sendText(s, text)
}

// rereadEvery is how often a message with a gap is read: the store has new text about once a second.
const rereadEvery = time.Second

// readAgain reads a message of which a piece is missing. If that piece is not stored yet, the end of the part has it.
func (v *view) readAgain(id lathe.MessageID) {
	now := v.loop.server.Now()
	if now.Sub(v.reread) < rereadEvery {
		return
	}
	v.reread = now
	m, err := v.loop.backend.Message(v.loop.ctx, v.id, id)
	if err != nil {
		v.loop.server.Log.Debug("acp: message not read", "message", id, "error", err)
		return
	}
	v.replay(m)
}

// replay translates a whole message.
func (v *view) replay(m lathe.Message) {
	v.message(m)
	for _, p := range m.Parts {
		v.part(p)
	}
	v.compaction(m) // its end comes after its text
}

// sendText sends a piece of a text.
func (v *view) sendText(s *sent, text string) {
	if text == "" || s.chunk == hidden || v.isQuiet {
		return
	}
	if s.chunk == summaryChunk {
		v.summary(s, text)
		return
	}
	params := appendChunk(make([]byte, 0, len(text)+len(text)/8+192), v.out, s.chunk, s.message, text)
	if err := v.loop.server.conn.Notify(v.loop.ctx, "session/update", params); err != nil && v.loop.ctx.Err() == nil {
		v.loop.server.Log.Debug("acp: update not sent", "session", v.id, "error", err)
	}
}

// appendChunk encodes a piece of text, the most frequent update.
func appendChunk(b []byte, session lathe.SessionID, c chunk, message lathe.MessageID, text string) []byte {
	name := "agent_message_chunk"
	switch c {
	case userChunk:
		name = "user_message_chunk"
	case thoughtChunk:
		name = "agent_thought_chunk"
	default:
	}
	b = append(b, `{"sessionId":`...)
	b = lathe.AppendJSONString(b, string(session))
	b = append(append(append(b, `,"update":{"sessionUpdate":"`...), name...), `","content":{"type":"text","text":`...)
	b = lathe.AppendJSONString(b, text)
	b = append(b, `},"messageId":`...)
	b = lathe.AppendJSONString(b, string(message))
	return append(b, "}}"...)
}

// file sends an attachment of a prompt from another client or from the history.
func (v *view) file(s *sent, m *message, f *lathe.File) {
	if s.begun || !m.isUser || m.isOwn || v.isNested {
		return
	}
	s.begun = true
	if block, ok := fileBlock(f); ok {
		v.send(wire.SessionUpdate{UserMessageChunk: &wire.ContentChunk{Content: block, MessageID: wire.MessageID(s.message)}})
	}
}

// toolCall sends the state of a call, if it differs from the one sent before.
func (v *view) toolCall(s *sent, id lathe.PartID, b *lathe.ToolCall) {
	u := toolUpdate(v.dir, id, b)
	if v.isNested {
		u.Title = v.agent + " › " + u.Title
		u.Meta, _ = json.Marshal(map[string]any{"lathe": map[string]any{"parentToolCallId": v.parentCall, "sessionId": v.id, "agent": v.agent}})
	}
	v.loop.terminals.attach(v, b, &u)
	if s.ended = b.Settled(); s.ended {
		delete(v.calls, b.CallID)
	} else {
		v.calls[b.CallID] = id
	}
	data, err := json.Marshal(u)
	if err != nil {
		v.loop.server.Log.Warn("acp: tool call not sent", "call", b.CallID, "error", err)
		return
	}
	if hash := maphash.Bytes(v.loop.server.seed, data); !s.begun || hash != s.hash {
		s.hash = hash
		if s.begun {
			v.send(wire.SessionUpdate{ToolCallUpdate: &u})
		} else {
			s.begun = true
			v.send(wire.SessionUpdate{ToolCall: beginCall(u)})
		}
	}
	v.subagent(wire.ToolCallID(id), b)
}

// beginCall is the first update of a call.
func beginCall(u wire.ToolCallUpdate) *wire.ToolCall {
	return &wire.ToolCall{
		Meta: u.Meta, Content: u.Content, Kind: u.Kind, Locations: u.Locations, Name: u.Name, RawInput: u.RawInput, RawOutput: u.RawOutput,
		Status: u.Status, Title: u.Title, ToolCallID: u.ToolCallID,
	}
}

// status notes what the session is doing.
func (v *view) status(s lathe.Status) {
	if v.root.view == v {
		v.root.status(s)
		return
	}
	v.sendState(s)
}

// load reads a session from the store and translates it, with the subagents in it.
func (v *view) load(ctx context.Context, until lathe.MessageID) error {
	page, err := v.loop.backend.Messages(ctx, v.id, lathe.Position{}, 0)
	if err != nil {
		return err
	}
	for _, m := range page.Messages {
		if until != "" && m.ID == until {
			break // from here on the session is undone
		}
		v.replay(m)
	}
	return nil
}

// skipUnits returns a text without its first UTF-16 units, and how many are left.
func skipUnits(text string, n int) (rest string, units int) {
	for i, r := range text {
		if n <= 0 {
			return text[i:], lathe.UTF16Len(text[i:])
		}
		if r == utf8.RuneError {
			n--
		} else {
			n -= utf16.RuneLen(r)
		}
	}
	return "", 0
}
