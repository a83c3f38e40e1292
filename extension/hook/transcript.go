package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/claudecode"
)

// maxTranscript is how many messages a transcript has, the newest.
const maxTranscript = 1000

// transcript writes the conversation of a session to a private file, in the format of Claude Code's transcripts, and
// returns its path. It is written when a hook is about to run; "" means that it could not be.
func (s *Sessions) transcript(ctx context.Context, id lathe.SessionID, dir string) string {
	path := s.transcriptPath(id)
	if path == "" {
		return ""
	}
	s.mu.Lock()
	var k *knownSession
	if k = s.known[id]; k == nil {
		k = &knownSession{} // of a subagent, or one that has ended
	}
	s.mu.Unlock()
	k.writes.Lock()
	defer k.writes.Unlock()
	page, err := s.Messages(ctx, id, lathe.Position{}, maxTranscript)
	if err != nil {
		if _, err := os.Stat(path); err == nil { // the store is closed, and the file as it was
			return path
		}
		return ""
	}
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil || s.write(path, id, dir, page.Messages) != nil {
		return ""
	}
	return path
}

// write replaces the file. Hooks of the same session that still read the old one see it cut off at worst.
func (s *Sessions) write(path string, id lathe.SessionID, dir string, messages []lathe.Message) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 64<<10)
	lines := lineWriter{encode: json.NewEncoder(out), session: id, dir: dir, version: s.Version, servers: s.servers()}
	lines.encode.SetEscapeHTML(false)
	for _, m := range messages {
		lines.message(m)
	}
	if err := out.Flush(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// lineWriter writes messages as lines of a transcript.
type lineWriter struct {
	encode       *json.Encoder
	session      lathe.SessionID
	dir, version string
	parent       *string
	servers      []string
}

// transcriptLine is one line. Claude Code has further members, which hooks do not use.
type transcriptLine struct {
	Parent    *string         `json:"parentUuid"`
	Sidechain bool            `json:"isSidechain"`
	UserType  string          `json:"userType"`
	Dir       string          `json:"cwd"`
	Session   lathe.SessionID `json:"sessionId"`
	Version   string          `json:"version"`
	Type      string          `json:"type"`
	Message   any             `json:"message"`
	ID        string          `json:"uuid"`
	Time      string          `json:"timestamp"`
}

// block is a part of a message, as the Messages API has it.
type block map[string]any

// line writes one line and makes it the parent of the next.
func (w *lineWriter) line(role, id string, at lathe.Time, message any) {
	_ = w.encode.Encode(transcriptLine{w.parent, false, "external", w.dir, w.session, w.version, role, message, id, at.ISO()}) // Flush has the error
	w.parent = &id
}

// message writes an answer, and the results of its calls in a line of their own, which the user seems to send.
func (w *lineWriter) message(m lathe.Message) {
	a, ok := m.Data.(*lathe.Assistant)
	if !ok {
		w.user(m)
		return
	}
	var content, results []block
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			content = append(content, block{"type": "text", "text": b.Text})
		case *lathe.Reasoning:
			content = append(content, block{"type": "thinking", "thinking": b.Text})
		case *lathe.ToolCall:
			use, result := toolBlocks(b, w.dir, w.servers)
			content = append(content, use)
			if result != nil {
				results = append(results, result)
			}
		default:
		}
	}
	if len(content) > 0 {
		w.line("assistant", string(m.ID), m.Created, map[string]any{
			"id": m.ID, "type": "message", "role": "assistant", "model": a.Model.Model, "content": content, "stop_reason": a.Finish,
			"usage": map[string]int64{
				"input_tokens": a.Tokens.Input, "output_tokens": a.Tokens.Output,
				"cache_read_input_tokens": a.Tokens.Cache.Read, "cache_creation_input_tokens": a.Tokens.Cache.Write,
			},
		})
	}
	if len(results) > 0 {
		w.line("user", string(m.ID)+"-results", m.Created, map[string]any{"role": "user", "content": results})
	}
}

// user writes a prompt. One text is a string, as Claude Code writes it.
func (w *lineWriter) user(m lathe.Message) {
	var content []block
	for _, p := range m.Parts {
		if b, ok := p.Body.(*lathe.Text); ok {
			content = append(content, block{"type": "text", "text": b.Text})
		}
	}
	switch len(content) {
	case 0:
	case 1:
		w.line("user", string(m.ID), m.Created, map[string]any{"role": "user", "content": content[0]["text"]})
	default:
		w.line("user", string(m.ID), m.Created, map[string]any{"role": "user", "content": content})
	}
}

// toolBlocks are a call and its result, nil while it runs.
func toolBlocks(c *lathe.ToolCall, dir string, servers []string) (use, result block) {
	var input json.RawMessage
	switch st := c.State.(type) {
	case *lathe.Pending:
		input = st.Input
	case *lathe.Running:
		input = st.Input
	case *lathe.Completed:
		input, result = st.Input, block{"type": "tool_result", "tool_use_id": c.CallID, "content": st.Output}
	case *lathe.Failed:
		input, result = st.Input, block{"type": "tool_result", "tool_use_id": c.CallID, "content": st.Error, "is_error": true}
	}
	use = block{"type": "tool_use", "id": c.CallID, "name": claudecode.ClaudeTool(c.Tool, servers), "input": map[string]any{}}
	if json.Valid(input) {
		use["input"] = claudecode.ClaudeInput(c.Tool, dir, input)
	}
	return use, result
}
