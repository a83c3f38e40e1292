package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config/claudecode"
)

// ClaudeSessions lists the transcripts below a folder of Claude Code, usually ~/.claude: a file of JSON lines for each
// session in projects/, and one for each subagent.
func ClaudeSessions(home string) ([]Session, error) {
	return transcripts(filepath.Join(home, "projects"), ".jsonl", ClaudeFile)
}

// transcripts finds the files with an ending below a folder. A folder that is not there has none.
func transcripts(root, ending string, open func(name string) (Session, error)) (out []Session, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == root && os.IsNotExist(err):
			return nil
		case err != nil || d.IsDir() || !strings.HasSuffix(name, ending):
			return nil // a file that cannot be read has no session
		}
		if s, err := open(name); err == nil {
			out = append(out, s)
		}
		return nil
	})
	return out, err
}

// ClaudeFile describes one transcript. The session has the name of its file.
func ClaudeFile(name string) (Session, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Session{}, err
	}
	id := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	r := &claudeReader{id: id, name: name, side: strings.HasPrefix(id, "agent-")}
	return Session{ID: sessionID(Claude, id), From: name, Size: info.Size(), Stamp: stamp(info), read: r.read}, nil
}

// claudeReader reads one transcript.
type claudeReader struct {
	id, name string
	side     bool // a subagent's, whose records are all aside
	c        *conversation
	model    lathe.ModelRef
}

// claudeRecord is a line of a transcript, with the members that matter here.
type claudeRecord struct {
	Type        string    `json:"type"`
	Subtype     string    `json:"subtype"` // of system records
	UUID        string    `json:"uuid"`
	Session     string    `json:"sessionId"` // of a subagent: its parent
	Timestamp   time.Time `json:"timestamp"`
	Cwd         string    `json:"cwd"`
	Sidechain   bool      `json:"isSidechain"` // of a subagent
	Meta        bool      `json:"isMeta"`      // written by the program in the name of the user
	Summary     string    `json:"summary"`     // a title, in older versions
	Title       string    `json:"title"`
	CustomTitle string    `json:"customTitle"`      // by the user
	AITitle     string    `json:"aiTitle"`          // by the model
	IsSummary   bool      `json:"isCompactSummary"` // it replaces all messages before it
	CostUSD     float64   `json:"costUSD"`          // in older versions
	Message     struct {
		ID      string       `json:"id"`
		Model   string       `json:"model"`
		Content view         `json:"content"`
		Usage   *claudeUsage `json:"usage"`
	} `json:"message"`
}

// claudeUsage counts tokens as Anthropic does: the four counts are disjoint.
type claudeUsage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Read   int64 `json:"cache_read_input_tokens"`
	Write  int64 `json:"cache_creation_input_tokens"`
}

// claudeBlock is a piece of content: text, a thought, an image, a call, a result.
type claudeBlock struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Thinking  string `json:"thinking"` // a thought
	ID        string `json:"id"`
	Name      string `json:"name"`
	Input     view   `json:"input"`
	ToolUseID string `json:"tool_use_id"` // the call of a result
	Content   view   `json:"content"`
	IsError   bool   `json:"is_error"` // of a result
	Title     string `json:"title"`    // of a document
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
}

// read reads the lines in the order of the file. After an edited prompt the file has both versions, one after
// the other, and so has the session.
func (r *claudeReader) read(ctx context.Context, in Input) (lathe.Session, error) {
	r.c, r.model = newConversation(Claude, r.id, in), lathe.ModelRef{Provider: "anthropic", Model: "claude"}
	err := eachLine(ctx, r.name, in, func(line []byte) error {
		var rec claudeRecord
		if json.Unmarshal(line, &rec) != nil {
			in.Skipped.add("unknown")
			return nil
		}
		return r.record(rec)
	})
	if err != nil {
		return lathe.Session{}, err
	}
	return r.c.end()
}

// record reads a line. Most kinds are the program's own notes: queues, snapshots of files, attachments of its system
// prompt. They are counted and left out.
func (r *claudeReader) record(rec claudeRecord) error {
	at := lathe.TimeOf(rec.Timestamp)
	if rec.Sidechain && !r.side { // old versions wrote subagents into the same file
		r.c.in.Skipped.add("subagent")
		return nil
	}
	switch rec.Type {
	case "user":
		r.c.seen(at, rec.Cwd)
		if r.side && r.c.info.Parent == "" && rec.Session != "" {
			r.c.info.Parent = sessionID(Claude, rec.Session)
		}
		return r.user(rec, at)
	case "assistant":
		r.c.seen(at, rec.Cwd)
		return r.assistant(rec, at)
	case "summary": // of earlier sessions too; the last one counts
		r.c.named = rec.Summary
	case "custom-title", "ai-title":
		for _, title := range []string{rec.CustomTitle, rec.AITitle, rec.Title} {
			if title != "" {
				r.c.named = title
				break
			}
		}
	case "":
		r.c.in.Skipped.add("unknown")
	default:
		r.c.in.Skipped.add(rec.Type)
	}
	return nil
}

// user reads a prompt, or the results of calls, which Claude Code writes as the user's.
func (r *claudeReader) user(rec claudeRecord, at lathe.Time) error {
	blocks := claudeBlocks(rec.Message.Content)
	if rec.IsSummary {
		return r.c.compaction(rec.UUID, at, r.model, claudeText(blocks))
	}
	var content []lathe.Body
	for _, b := range blocks {
		switch b.Type {
		case "text":
			if strings.TrimSpace(b.Text) != "" {
				text := &lathe.Text{Text: b.Text}
				if rec.Meta {
					text.Synthetic = lathe.Yes
				}
				content = append(content, text)
			}
		case "image", "document":
			if f := claudeFile(b); f != nil {
				content = append(content, f)
			}
		case "tool_result":
			r.c.result(at, b.ToolUseID, claudeResult(b))
		default:
			r.c.in.Skipped.add(b.Type)
		}
	}
	return r.c.user(rec.UUID, at, r.model, content)
}

// assistant reads a record of an answer; an answer has one for each of its blocks, with the same message ID.
func (r *claudeReader) assistant(rec claudeRecord, at lathe.Time) error {
	if name := rec.Message.Model; name != "" && name != "<synthetic>" {
		r.model.Model = name
	}
	key := rec.Message.ID
	if key == "" {
		key = rec.UUID
	}
	if err := r.c.assistant(key, at, r.model); err != nil {
		return err
	}
	for _, b := range claudeBlocks(rec.Message.Content) {
		switch b.Type {
		case "text":
			r.c.say(at, b.Text)
		case "thinking":
			r.c.think(at, b.Thinking)
		case "tool_use":
			name, input := claudeCall(b.Name, json.RawMessage(b.Input))
			r.c.call(at, b.ID, name, input)
		default:
			r.c.in.Skipped.add(b.Type)
		}
	}
	if u := rec.Message.Usage; u != nil && rec.Message.Model != "<synthetic>" {
		r.c.setUsage(lathe.Tokens{Input: u.Input, Output: u.Output, Cache: lathe.CacheTokens{Read: u.Read, Write: u.Write}}, lathe.Dollars(rec.CostUSD))
	}
	return nil
}

// claudeCall gives a call the names of lathe's tools and arguments, where there are any.
func claudeCall(name string, input json.RawMessage) (string, json.RawMessage) {
	own := claudecode.LatheTool(name)
	if own == "" {
		return name, input
	}
	return own, claudecode.LatheInput(own, input)
}

// claudeBlocks reads content, which may be a text alone.
func claudeBlocks(content view) (blocks []claudeBlock) {
	content = bytes.TrimSpace(content)
	if len(content) > 0 && content[0] == '"' {
		var text string
		_ = json.Unmarshal(content, &text) // the line is valid JSON
		return []claudeBlock{{Type: "text", Text: text}}
	}
	_ = json.Unmarshal(content, &blocks) // members of another type are left out
	return blocks
}

// claudeText joins the texts among the blocks.
func claudeText(blocks []claudeBlock) string {
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" && b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// claudeFile is an image or a document.
func claudeFile(b claudeBlock) *lathe.File {
	switch b.Source.Type {
	case "base64":
		return dataFile(b.Source.MediaType, b.Source.Data, b.Title)
	case "url":
		return &lathe.File{Mime: "image/*", URL: b.Source.URL, Filename: b.Title}
	default:
		return nil
	}
}

// claudeResult is the result of a call: texts become its output, images its attachments.
func claudeResult(b claudeBlock) result {
	blocks := claudeBlocks(b.Content)
	out := result{output: claudeText(blocks), failed: b.IsError}
	for _, inner := range blocks {
		if f := claudeFile(inner); f != nil && (inner.Type == "image" || inner.Type == "document") {
			out.files = append(out.files, f)
		}
	}
	return out
}
