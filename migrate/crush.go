package migrate

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store/foreign"
)

// CrushSessions lists the sessions of a database of crush, usually .crush/crush.db in a project. dir is the project.
func CrushSessions(ctx context.Context, path, dir string) (out []Session, err error) {
	size, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	err = withDatabase(ctx, path, foreign.CrushTables(), func(db *foreign.Database) error {
		return db.CrushSessions(ctx, func(row foreign.Row) error {
			r := &crushReader{path: path, dir: cmp.Or(row["workspace_cwd"], dir), row: row}
			out = append(out, Session{
				ID: sessionID(Crush, row["id"]), From: path + " " + row["id"], Stamp: row["updated_at"] + "-" + fmt.Sprint(size.Size()), read: r.read,
			})
			return nil
		})
	})
	return out, err
}

// withDatabase opens a database for the time of a call, because hundreds of sessions may be open at once otherwise.
func withDatabase(ctx context.Context, path string, tables []string, f func(*foreign.Database) error) error {
	db, err := foreign.Open(ctx, path, tables...)
	if err != nil {
		return err
	}
	return errors.Join(f(db), db.Close())
}

// CrushDatabases lists the databases of crush for a project and those that it knows of: the folder of a project is
// where its database is, and data/projects.json names projects.
func CrushDatabases(project, data string) map[string]string {
	out := map[string]string{} // the project by database
	for dir := project; ; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, ".crush", "crush.db")
		if _, err := os.Stat(name); err == nil {
			out[name] = dir
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	var known struct {
		Projects []struct {
			Path    string `json:"path"`
			DataDir string `json:"data_dir"`
		} `json:"projects"`
	}
	if text, err := os.ReadFile(filepath.Join(data, "projects.json")); err == nil {
		_ = json.Unmarshal(text, &known) // a file that is broken names no projects
	}
	for _, p := range known.Projects {
		name := filepath.Join(cmp.Or(p.DataDir, filepath.Join(p.Path, ".crush")), "crush.db")
		if _, err := os.Stat(name); err == nil {
			out[name] = p.Path
		}
	}
	return out
}

// crushReader reads one session.
type crushReader struct {
	path, dir string
	row       foreign.Row
	c         *conversation
	model     lathe.ModelRef
}

// crushPart is a piece of content: {"type","data"}, with the members of all types.
type crushPart struct {
	Type string `json:"type"`
	Data struct {
		// of a text or a thought
		Text     string `json:"text"`
		Hidden   bool   `json:"hidden"`
		Thinking string `json:"thinking"`

		// of a call; the input is JSON in a text
		ID    string `json:"id"`
		Name  string `json:"name"`
		Input string `json:"input"`

		// of a result; the data is an image in base64
		CallID  string          `json:"tool_call_id"`
		Content string          `json:"content"`
		Data    json.RawMessage `json:"data"`
		Mime    string          `json:"mime_type"`
		IsError bool            `json:"is_error"`

		// of an attachment, whose members have the names of a Go struct
		Path     string
		MIMEType string

		// of a command that the user ran
		Command string `json:"command"`
		Output  string `json:"output"`

		// of the end of a message
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Details string `json:"details"`
	} `json:"data"`
}

// crushTime reads a time in seconds; some versions write milliseconds.
func crushTime(text string) lathe.Time {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 8e15 {
		return 0
	}
	if f < 1e11 {
		f *= 1000
	}
	return lathe.Time(math.Floor(f))
}

// read opens the database anew, because it may have changed since the list was made.
func (r *crushReader) read(ctx context.Context, in Input) (lathe.Session, error) {
	r.c, r.model = newConversation(Crush, r.row["id"], in), lathe.ModelRef{Provider: "unknown", Model: "unknown"}
	r.c.seen(crushTime(r.row["created_at"]), r.dir)
	r.c.seen(crushTime(r.row["updated_at"]), "")
	r.c.named = r.row["title"]
	if parent := r.row["parent_session_id"]; parent != "" {
		r.c.info.Parent = sessionID(Crush, parent)
	}
	err := withDatabase(ctx, r.path, foreign.CrushTables(), func(db *foreign.Database) error {
		return db.CrushMessages(ctx, r.row["id"], func(row foreign.Row) error {
			in.Count(len(row["parts"]))
			return r.message(row)
		})
	})
	if err != nil {
		return lathe.Session{}, err
	}
	r.total()
	return r.c.end()
}

// total books what the session used on its last answer: crush counts sessions, not answers.
func (r *crushReader) total() {
	number := func(key string) int64 {
		n, _ := strconv.ParseInt(r.row[key], 10, 64) // 0 if it is none
		return n
	}
	cost, _ := strconv.ParseFloat(r.row["cost"], 64)
	if r.c.open != nil {
		r.c.open.data.Tokens = lathe.Tokens{Input: number("prompt_tokens"), Output: number("completion_tokens")}
		r.c.open.data.Cost = lathe.Dollars(cost)
	}
}

// message reads a row. Results of calls are messages of their own, with the role tool.
func (r *crushReader) message(row foreign.Row) error {
	var parts []crushPart
	if text, ok := row["parts"]; !ok {
		r.c.in.Skipped.add("too long")
		return nil
	} else if json.Unmarshal([]byte(text), &parts) != nil {
		r.c.in.Skipped.add("unknown")
		return nil
	}
	at := crushTime(row["created_at"])
	if m := row["model"]; m != "" {
		r.model = lathe.ModelRef{Provider: cmp.Or(row["provider"], "unknown"), Model: m}
	}
	if row["is_summary_message"] == "1" {
		return r.c.compaction(row["id"], at, r.model, crushText(parts))
	}
	switch row["role"] {
	case "user":
		return r.c.user(row["id"], at, r.model, r.prompt(parts))
	case "assistant":
		return r.answer(row["id"], at, parts)
	case "tool":
		for _, p := range parts {
			if p.Type == "tool_result" {
				r.c.result(max(at, crushTime(row["updated_at"])), p.Data.CallID, crushResult(p))
			}
		}
	default:
		r.c.in.Skipped.add(row["role"] + " message")
	}
	return nil
}

// crushText joins the texts among the parts.
func crushText(parts []crushPart) (text string) {
	for _, p := range parts {
		if p.Type == "text" {
			text += p.Data.Text
		}
	}
	return text
}

// crushResult is the result of a call, with the image that a tool may return.
func crushResult(p crushPart) result {
	out := result{output: p.Data.Content, failed: p.Data.IsError}
	var data string
	if json.Unmarshal(p.Data.Data, &data) == nil && data != "" && p.Data.Mime != "" {
		out.files = append(out.files, dataFile(p.Data.Mime, data, ""))
	}
	return out
}

// prompt reads the content of a user.
func (r *crushReader) prompt(parts []crushPart) (content []lathe.Body) {
	for _, p := range parts {
		switch p.Type {
		case "text":
			if p.Data.Text != "" {
				text := &lathe.Text{Text: p.Data.Text}
				if p.Data.Hidden {
					text.Synthetic = lathe.Yes
				}
				content = append(content, text)
			}
		case "binary":
			var data []byte
			if json.Unmarshal(p.Data.Data, &data) == nil && p.Data.MIMEType != "" {
				content = append(content, dataFile(p.Data.MIMEType, base64.StdEncoding.EncodeToString(data), filepath.Base(p.Data.Path)))
			}
		case "shell_command":
			content = append(content, &lathe.Text{Text: "$ " + p.Data.Command + "\n" + p.Data.Output})
		case "finish":
		default:
			r.c.in.Skipped.add(p.Type)
		}
	}
	return content
}

// answer reads a message of the model. An error that ended it becomes a text, so that the reason stays visible.
func (r *crushReader) answer(key string, at lathe.Time, parts []crushPart) error {
	if err := r.c.assistant(key, at, r.model); err != nil {
		return err
	}
	for _, p := range parts {
		switch p.Type {
		case "text":
			r.c.say(at, p.Data.Text)
		case "reasoning":
			r.c.think(at, p.Data.Thinking)
		case "tool_call":
			name, input := renamed(crushTools(), p.Data.Name, json.RawMessage(p.Data.Input))
			if !json.Valid(input) {
				input = nil
			}
			r.c.call(at, p.Data.ID, name, input)
		case "finish":
			if p.Data.Reason == "error" {
				r.c.say(at, "Error: "+p.Data.Message+" "+p.Data.Details)
			}
		default:
			r.c.in.Skipped.add(p.Type)
		}
	}
	return nil
}
