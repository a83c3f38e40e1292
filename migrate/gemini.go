package migrate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
)

// GeminiSessions lists the sessions below a folder of Gemini CLI, usually ~/.gemini: recorded chats, as JSON lines or in
// older versions as one JSON value, and saved checkpoints. places are directories that a session may belong to: older
// versions name a project only by a hash of its path.
func GeminiSessions(home string, places []string) ([]Session, error) {
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	if data, err := os.ReadFile(filepath.Join(home, "projects.json")); err == nil {
		_ = json.Unmarshal(data, &known) // a file that is broken names no projects
	}
	for place := range known.Projects {
		places = append(places, place)
	}
	open := func(name string) (Session, error) { return geminiFile(name, places) }
	out, err := transcripts(filepath.Join(home, "tmp"), ".jsonl", open)
	if err != nil {
		return nil, err
	}
	whole, err := transcripts(filepath.Join(home, "tmp"), ".json", open)
	return append(out, whole...), err
}

// GeminiFile describes one recorded chat.
func GeminiFile(name string) (Session, error) { return geminiFile(name, nil) }

func geminiFile(name string, places []string) (Session, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Session{}, err
	}
	base := filepath.Base(name)
	id := strings.TrimSuffix(base, filepath.Ext(base))
	r := &geminiReader{name: name}
	project := filepath.Dir(name)
	s := Session{From: name, Size: info.Size(), Stamp: stamp(info), read: r.readLines}
	switch {
	case strings.HasPrefix(base, "session-") && strings.HasSuffix(base, ".jsonl"):
	case strings.HasPrefix(base, "session-"):
		s.read = r.readWhole
	case strings.HasPrefix(base, "checkpoint-"):
		id = filepath.Base(project) + " " + id
		r.at = lathe.TimeOf(info.ModTime())
		s.read = r.readWhole
	default:
		return Session{}, lathe.Errorf(lathe.Invalid, "%s is not a chat of Gemini CLI", name)
	}
	if filepath.Base(project) == "chats" {
		project = filepath.Dir(project)
	}
	r.id, r.dir = id, geminiProject(project, places)
	s.ID = sessionID(Gemini, id)
	return s, nil
}

// geminiProject finds the directory of a project folder: it is written there, or the folder has its hash as a name.
func geminiProject(folder string, places []string) string {
	if data, err := os.ReadFile(filepath.Join(folder, ".project_root")); err == nil && len(data) < 4096 {
		return strings.TrimSpace(string(data))
	}
	for _, place := range places {
		sum := sha256.Sum256([]byte(place))
		if hex.EncodeToString(sum[:]) == filepath.Base(folder) {
			return place
		}
	}
	return ""
}

// geminiReader reads one chat.
type geminiReader struct {
	id, name, dir string
	at            lathe.Time // of messages without a time
	c             *conversation
	model         lathe.ModelRef
	ended         func() // a value was read whole
}

// valueReader ends at a value that is too long to hold: a decoder keeps all of it.
type valueReader struct {
	r     io.Reader
	since int // bytes since the last value ended
}

func (v *valueReader) Read(b []byte) (int, error) {
	if v.since > maxRecord {
		return 0, lathe.Errorf(lathe.Invalid, "a value is longer than %d MB", maxRecord>>20)
	}
	n, err := v.r.Read(b[:min(len(b), maxRecord+1-v.since)])
	v.since += n
	return n, err
}

// geminiMessage is a message of a chat, or a content of a checkpoint.
type geminiMessage struct {
	ID        string          `json:"id"`
	Timestamp time.Time       `json:"timestamp"`
	Type      string          `json:"type"`    // user, gemini, or a note of the program
	Role      string          `json:"role"`    // of a checkpoint: user or model
	Content   json.RawMessage `json:"content"` // a text, a part or parts
	Parts     json.RawMessage `json:"parts"`   // of a checkpoint
	Model     string          `json:"model"`
	Thoughts  []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	} `json:"thoughts"`
	Tokens *struct {
		Input    int64 `json:"input"`
		Output   int64 `json:"output"`
		Cached   int64 `json:"cached"`
		Thoughts int64 `json:"thoughts"`
	} `json:"tokens"`
	Calls []geminiCall `json:"toolCalls"` // with their results
}

// geminiCall is a call with its result. A record without a result was written while the tool ran.
type geminiCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Args      json.RawMessage `json:"args"`
	Result    json.RawMessage `json:"result"`
	Status    string          `json:"status"` // success, or how it failed
	Timestamp time.Time       `json:"timestamp"`
}

// geminiPart is a piece of content.
type geminiPart struct {
	Text       string `json:"text"`
	Thought    bool   `json:"thought"` // the text is a thought
	InlineData *struct {
		MimeType string `json:"mimeType"`
		Data     string `json:"data"`
	} `json:"inlineData"`
	Call *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

// start forgets an earlier read, so that a failed import can be repeated.
func (r *geminiReader) start(in Input) {
	r.c, r.model = newConversation(Gemini, r.id, in), lathe.ModelRef{Provider: "google", Model: "gemini"}
	r.c.info.Directory = r.dir
}

// readWhole reads a chat that is one JSON value: an object with messages, or a checkpoint, which is a list of contents
// or an object with a history.
func (r *geminiReader) readWhole(ctx context.Context, in Input) (lathe.Session, error) {
	r.start(in)
	file, err := openFile(r.name)
	if err != nil {
		return lathe.Session{}, err
	}
	defer func() { _ = file.Close() }() // only read
	from := &valueReader{r: counted{ctx, file, in.Count}}
	r.ended = func() { from.since = 0 }
	if err := r.value(json.NewDecoder(from)); err != nil {
		if ctx.Err() != nil {
			return lathe.Session{}, context.Cause(ctx)
		}
		in.Skipped.add("incomplete") // earlier messages stay
	}
	return r.c.end()
}

// value walks into the list of messages.
func (r *geminiReader) value(dec *json.Decoder) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	if t == json.Delim('[') {
		return r.list(dec)
	}
	for t == json.Delim('{') && dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		if key != "messages" && key != "history" {
			if err := dec.Decode(new(json.RawMessage)); err != nil {
				return err
			}
			r.ended()
			continue
		}
		if t, err := dec.Token(); err != nil || t != json.Delim('[') {
			return cmp.Or(err, io.ErrUnexpectedEOF)
		}
		if err := r.list(dec); err != nil {
			return err
		}
	}
	return nil
}

// list reads messages one by one, up to the end of the list.
func (r *geminiReader) list(dec *json.Decoder) error {
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		r.ended()
		var m geminiMessage
		if json.Unmarshal(raw, &m) != nil {
			r.c.in.Skipped.add("unknown")
			continue
		}
		if err := r.message(m); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// message reads one message. A checkpoint has roles in place of types, and no IDs and times.
func (r *geminiReader) message(m geminiMessage) error {
	at := lathe.TimeOf(m.Timestamp)
	r.c.seen(at, "")
	if at == 0 {
		at = max(r.at, r.c.last+1)
	}
	key := cmp.Or(m.ID, digest(r.id, lathe.Time(r.c.last).ISO()))
	switch cmp.Or(m.Type, m.Role) {
	case "user":
		return r.user(m, key, at)
	case "gemini", "model":
		return r.answer(m, key, at)
	case "":
		r.c.in.Skipped.add("unknown")
	default:
		r.c.in.Skipped.add(m.Type)
	}
	return nil
}

// user reads a prompt. The program also writes results of calls and its own context as the user's.
func (r *geminiReader) user(m geminiMessage, key string, at lathe.Time) error {
	var content []lathe.Body
	for _, p := range geminiParts(m.Content, m.Parts) {
		switch {
		case p.Response != nil:
			if m.Type == "" { // in a chat the call itself has its result too
				r.c.result(at, cmp.Or(p.Response.ID, p.Response.Name), geminiResult(p.Response.Response, ""))
			}
		case p.InlineData != nil:
			content = append(content, dataFile(p.InlineData.MimeType, p.InlineData.Data, ""))
		case strings.HasPrefix(p.Text, "<session_context>"): // lathe has its own
			r.c.in.Skipped.add("context")
		case strings.TrimSpace(p.Text) != "":
			content = append(content, &lathe.Text{Text: p.Text})
		}
	}
	return r.c.user(key, at, r.model, content)
}

// answer reads a message of the model, with its calls and their results.
func (r *geminiReader) answer(m geminiMessage, key string, at lathe.Time) error {
	r.model.Model = cmp.Or(m.Model, r.model.Model)
	if err := r.c.assistant(key, at, r.model); err != nil {
		return err
	}
	for _, t := range m.Thoughts {
		r.c.think(at, strings.TrimSpace(t.Subject+"\n"+t.Description))
	}
	for _, p := range geminiParts(m.Content, m.Parts) {
		switch {
		case p.Call != nil:
			name, args := renamed(geminiTools(), p.Call.Name, p.Call.Args)
			r.c.call(at, cmp.Or(p.Call.ID, p.Call.Name), name, args)
		case p.Thought:
			r.c.think(at, p.Text)
		default:
			r.c.say(at, p.Text)
		}
	}
	// The last record of a message has all of its calls, with results for those that ended.
	for _, call := range m.Calls {
		name, args := renamed(geminiTools(), call.Name, call.Args)
		r.c.call(at, call.ID, name, args)
		if len(call.Result) > 0 && call.Status != "" {
			r.c.result(max(at, lathe.TimeOf(call.Timestamp)), call.ID, geminiResult(call.Result, call.Status))
		}
	}
	if u := m.Tokens; u != nil {
		r.c.setUsage(lathe.Tokens{Input: max(0, u.Input-u.Cached), Output: u.Output, Reasoning: u.Thoughts, Cache: lathe.CacheTokens{Read: u.Cached}}, 0)
	}
	return nil
}

// geminiParts reads content: a text, a part or a list of parts.
func geminiParts(contents ...json.RawMessage) (out []geminiPart) {
	for _, content := range contents {
		content = bytes.TrimSpace(content)
		if len(content) == 0 {
			continue
		}
		switch content[0] {
		case '"':
			var text string
			_ = json.Unmarshal(content, &text) // valid JSON
			out = append(out, geminiPart{Text: text})
		case '{':
			var p geminiPart
			_ = json.Unmarshal(content, &p) // members of another type are left out
			out = append(out, p)
		default:
			var parts []json.RawMessage
			_ = json.Unmarshal(content, &parts)
			for _, p := range parts {
				out = append(out, geminiParts(p)...)
			}
		}
	}
	return out
}

// geminiResult reads a response, or the list of parts that holds one.
func geminiResult(data json.RawMessage, status string) result {
	var out result
	var texts []string
	response := func(data json.RawMessage) {
		var r struct {
			Output *string `json:"output"`
			Error  *string `json:"error"`
		}
		_ = json.Unmarshal(data, &r) // another form is kept as it is
		switch {
		case r.Error != nil:
			texts, out.failed = append(texts, *r.Error), true
		case r.Output != nil:
			texts = append(texts, *r.Output)
		default:
			texts = append(texts, string(data))
		}
	}
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '{' {
		response(data)
	} else {
		for _, p := range geminiParts(data) {
			switch {
			case p.Response != nil:
				response(p.Response.Response)
			case p.InlineData != nil:
				out.files = append(out.files, dataFile(p.InlineData.MimeType, p.InlineData.Data, ""))
			case p.Text != "":
				texts = append(texts, p.Text)
			}
		}
	}
	out.output = strings.Join(texts, "\n")
	out.failed = out.failed || status == "error" || status == "cancelled"
	return out
}
