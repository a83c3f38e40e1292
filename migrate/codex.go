package migrate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
)

// CodexSessions lists the transcripts below a folder of Codex, usually ~/.codex: files named rollout-TIME-ID.jsonl in
// folders by day, and those that were archived.
func CodexSessions(home string) ([]Session, error) {
	out, err := transcripts(filepath.Join(home, "sessions"), ".jsonl", CodexFile)
	if err != nil {
		return nil, err
	}
	archived, err := transcripts(filepath.Join(home, "archived_sessions"), ".jsonl", CodexFile)
	return append(out, archived...), err
}

// CodexFile describes one transcript. Its ID is the end of its name, behind the time.
func CodexFile(name string) (Session, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Session{}, err
	}
	id := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), "rollout-")
	const stampLen = len("2006-01-02T15-04-05-")
	if len(id) > stampLen && id[4] == '-' && id[10] == 'T' {
		id = id[stampLen:]
	}
	r := &codexReader{id: id, name: name}
	return Session{ID: sessionID(Codex, id), From: name, Size: info.Size(), Stamp: stamp(info), read: r.read}, nil
}

// codexReader reads one transcript.
type codexReader struct {
	id, name string
	c        *conversation
	model    lathe.ModelRef
	n        int    // records so far; they are the keys of messages
	precise  bool   // there is a record of its own for the usage of each answer
	total    int64  // tokens in the last count: counts are repeated
	answer   string // the key of the open answer
}

// codexRecord is a line: {"timestamp","type","payload"}. The first versions wrote the payload alone.
type codexRecord struct {
	Timestamp time.Time `json:"timestamp"`
	Type      string    `json:"type"`
	Payload   view      `json:"payload"`
}

// codexItem is an item of a conversation in the terms of OpenAI's Responses protocol, and the members of other
// payloads.
type codexItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Name      string          `json:"name"`
	CallID    string          `json:"call_id"`
	ID        string          `json:"id"`
	Arguments string          `json:"arguments"` // JSON in a text
	Input     string          `json:"input"`     // of a custom tool: any text
	Output    view            `json:"output"`    // a text or a list of contents
	Message   string          `json:"message"`   // the summary of a compaction
	Content   []codexContent  `json:"content"`
	Summary   json.RawMessage `json:"summary"` // of thoughts, which are encrypted
	Action    json.RawMessage `json:"action"`  // of a local shell call

	codexMeta
}

// codexMeta has the members of payloads that are about the session and not part of the conversation.
type codexMeta struct {
	Cwd      string      `json:"cwd"`
	Model    string      `json:"model"`
	Provider string      `json:"model_provider"`
	Usage    *codexUsage `json:"usage"`
	// Info is the count of tokens in event messages, of versions without a usage record.
	Info *struct {
		Total codexUsage `json:"total_token_usage"`
		Last  codexUsage `json:"last_token_usage"`
	} `json:"info"`
}

// codexContent is a piece of a message or of a result: a text or an image.
type codexContent struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
}

// codexUsage counts tokens as OpenAI does: cached ones are also input, and reasoning is also output.
type codexUsage struct {
	Input     int64 `json:"input_tokens"`
	Cached    int64 `json:"cached_input_tokens"`
	Written   int64 `json:"cache_write_input_tokens"`
	Output    int64 `json:"output_tokens"`
	Reasoning int64 `json:"reasoning_output_tokens"`
	Total     int64 `json:"total_tokens"`
}

// tokens are without those that are part of others.
func (u codexUsage) tokens() lathe.Tokens {
	return lathe.Tokens{
		Input: max(0, u.Input-u.Cached-u.Written), Output: max(0, u.Output-u.Reasoning), Reasoning: u.Reasoning,
		Cache: lathe.CacheTokens{Read: u.Cached, Write: u.Written},
	}
}

// read starts from the beginning each time, so that a failed import can be repeated.
func (r *codexReader) read(ctx context.Context, in Input) (lathe.Session, error) {
	*r = codexReader{id: r.id, name: r.name, c: newConversation(Codex, r.id, in), model: lathe.ModelRef{Provider: "openai", Model: "gpt"}}
	err := eachLine(ctx, r.name, in, func(line []byte) error {
		r.n++
		var rec codexRecord
		var item codexItem
		if json.Unmarshal(line, &rec) != nil {
			in.Skipped.add("unknown")
			return nil
		}
		if rec.Payload == nil { // the first versions
			rec.Type, rec.Payload = "response_item", line
		}
		if json.Unmarshal(rec.Payload, &item) != nil {
			in.Skipped.add(rec.Type)
			return nil
		}
		return r.record(rec.Type, item, lathe.TimeOf(rec.Timestamp))
	})
	if err != nil {
		return lathe.Session{}, err
	}
	return r.c.end()
}

// record reads a line. Only items are the conversation; events repeat them for the screen.
func (r *codexReader) record(kind string, item codexItem, at lathe.Time) error {
	r.c.seen(at, item.Cwd)
	at = cmp.Or(at, r.c.last+1) // the first versions have no times
	switch kind {
	case "session_meta":
		r.model.Provider = cmp.Or(item.Provider, r.model.Provider)
	case "turn_context":
		r.model.Model = cmp.Or(item.Model, r.model.Model)
	case "response_item":
		return r.item(item, at)
	case "compacted":
		return r.c.compaction(r.key(), at, r.model, item.Message)
	case "token_usage_record":
		if r.precise = true; item.Usage != nil {
			r.c.setUsage(item.Usage.tokens(), 0)
		}
	case "event_msg":
		r.event(item)
	default:
		r.c.in.Skipped.add(kind)
	}
	return nil
}

// event reads the count of tokens. Other events repeat what items say.
func (r *codexReader) event(item codexItem) {
	if item.Type != "token_count" {
		r.c.in.Skipped.add("event")
		return
	}
	if item.Info == nil || r.precise || item.Info.Total.Total == r.total {
		return
	}
	r.total = item.Info.Total.Total
	r.c.setUsage(item.Info.Last.tokens(), 0)
}

// key is the number of the record, which stays the same when the transcript grows.
func (r *codexReader) key() string { return fmt.Sprint(r.n) }

// begin opens an answer for an item of the model, or continues the open one.
func (r *codexReader) begin(at lathe.Time) error {
	if r.c.next() {
		r.answer = r.key()
	}
	return r.c.assistant(r.answer, at, r.model)
}

// item reads an item of the conversation.
func (r *codexReader) item(item codexItem, at lathe.Time) error {
	switch item.Type {
	case "message":
		return r.message(item, at)
	case "reasoning":
		if err := r.begin(at); err != nil {
			return err
		}
		r.c.think(at, codexTexts(item.Summary))
	case "function_call", "custom_tool_call", "local_shell_call":
		if err := r.begin(at); err != nil {
			return err
		}
		name, input := codexCall(item)
		r.c.call(at, cmp.Or(item.CallID, item.ID), name, input)
	case "function_call_output", "custom_tool_call_output":
		r.c.result(at, item.CallID, codexResult(item.Output))
	case "":
		r.c.in.Skipped.add("unknown")
	default:
		r.c.in.Skipped.add(item.Type)
	}
	return nil
}

// message reads a prompt or a text of the model. The program's own instructions are not part of the conversation.
func (r *codexReader) message(item codexItem, at lathe.Time) error {
	var content []lathe.Body
	var texts []string
	for _, b := range item.Content {
		switch b.Type {
		case "input_text", "output_text", "text":
			if strings.TrimSpace(b.Text) != "" {
				texts = append(texts, b.Text)
				content = append(content, &lathe.Text{Text: b.Text})
			}
		case "input_image":
			if mime, ok := strings.CutPrefix(b.ImageURL, "data:"); ok {
				mime, _, _ = strings.Cut(mime, ";")
				content = append(content, &lathe.File{Mime: mime, URL: b.ImageURL})
			}
		default:
			r.c.in.Skipped.add(b.Type)
		}
	}
	switch item.Role {
	case "user":
		if isCodexContext(texts) {
			r.c.in.Skipped.add("context")
			return nil
		}
		return r.c.user(r.key(), at, r.model, content)
	case "assistant":
		if err := r.begin(at); err != nil {
			return err
		}
		r.c.say(at, strings.Join(texts, "\n"))
	default:
		r.c.in.Skipped.add(item.Role + " message")
	}
	return nil
}

// isCodexContext recognizes what Codex itself tells the model in the user's name. lathe has its own.
func isCodexContext(texts []string) bool {
	for _, t := range texts {
		t = strings.TrimSpace(t)
		if !strings.HasPrefix(t, "<environment_context>") && !strings.HasPrefix(t, "<user_instructions>") && !strings.HasPrefix(t, "# AGENTS.md instructions") {
			return false
		}
	}
	return len(texts) > 0
}

// codexTexts joins the texts of a list of {"text"}.
func codexTexts(list json.RawMessage) string {
	var items []codexContent
	_ = json.Unmarshal(list, &items) // members of another type are left out
	var texts []string
	for _, i := range items {
		texts = append(texts, i.Text)
	}
	return strings.Join(texts, "\n")
}

// codexResult reads an output: a text, {"output","metadata"} as a text or an object, or a list of contents.
func codexResult(output view) result {
	var text string
	if json.Unmarshal(output, &text) != nil {
		var items []codexContent
		if json.Unmarshal(output, &items) == nil {
			return codexContents(items)
		}
		text = string(output)
	}
	var whole struct {
		Output   *string `json:"output"`
		Content  *string `json:"content"`
		Success  *bool   `json:"success"`
		Metadata struct {
			ExitCode int `json:"exit_code"`
		} `json:"metadata"`
	}
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &whole) != nil {
		return result{output: text}
	}
	switch {
	case whole.Output != nil:
		text = *whole.Output
	case whole.Content != nil:
		text = *whole.Content
	}
	return result{output: text, failed: whole.Success != nil && !*whole.Success}
}

// codexContents is a result of texts and images.
func codexContents(items []codexContent) (out result) {
	var texts []string
	for _, i := range items {
		if mime, ok := strings.CutPrefix(i.ImageURL, "data:"); ok {
			mime, _, _ = strings.Cut(mime, ";")
			out.files = append(out.files, &lathe.File{Mime: mime, URL: i.ImageURL})
		} else if i.Text != "" {
			texts = append(texts, i.Text)
		}
	}
	out.output = strings.Join(texts, "\n")
	return out
}

// codexCall gives a call the names of lathe's tools and arguments.
func codexCall(item codexItem) (string, json.RawMessage) {
	input := json.RawMessage(item.Arguments)
	switch {
	case item.Type == "local_shell_call":
		input = item.Action
	case item.Type == "custom_tool_call":
		input, _ = json.Marshal(map[string]string{"patchText": item.Input}) // a map of texts
		if item.Name != "apply_patch" {
			input, _ = json.Marshal(map[string]string{"input": item.Input})
		}
	}
	if !json.Valid(input) {
		input, _ = json.Marshal(map[string]string{"input": string(input)})
	}
	return renamed(codexTools(), cmp.Or(item.Name, item.Type), input)
}
