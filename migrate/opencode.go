package migrate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store/foreign"
)

// OpenCodeSessions lists the sessions below OpenCode's data folder, usually ~/.local/share/opencode: in its database,
// or with older versions in a folder of JSON files. Records and IDs are those of lathe.
func OpenCodeSessions(ctx context.Context, data string) (out []Session, err error) {
	seen := map[lathe.SessionID]bool{}
	names, _ := filepath.Glob(filepath.Join(data, "opencode*.db")) // the pattern is valid
	for _, name := range names {
		list, err := OpenCodeDatabase(ctx, name)
		if err != nil {
			return out, err
		}
		for _, s := range list {
			seen[s.ID] = true
			out = append(out, s)
		}
	}
	old, err := openCodeStorage(filepath.Join(data, "storage"))
	for _, s := range old { // the newer version has copied them
		if !seen[s.ID] {
			out = append(out, s)
		}
	}
	return out, err
}

// OpenCodeDatabase lists the sessions of a database. The time of the last change is the stamp, because one file has all.
func OpenCodeDatabase(ctx context.Context, path string) (out []Session, err error) {
	err = withDatabase(ctx, path, foreign.OpenCodeTables(), func(db *foreign.Database) error {
		return db.OpenCodeSessions(ctx, func(row foreign.Row) error {
			id := lathe.SessionID(row["id"])
			if lathe.CheckID(lathe.PrefixSession, string(id)) != nil {
				return nil
			}
			r := &openCodeReader{path: path, row: row}
			out = append(out, Session{ID: id, From: path + " " + row["id"], Stamp: row["time_updated"], read: r.read})
			return nil
		})
	})
	return out, err
}

// openCodeReader reads one session of a database.
type openCodeReader struct {
	path string
	row  foreign.Row
}

// read joins the columns and the JSON of each row to the record that OpenCode's exports have.
func (r *openCodeReader) read(ctx context.Context, in Input) (lathe.Session, error) {
	s, err := r.record()
	if err != nil {
		return s, err
	}
	// A session that was opened and never used has no messages, and nobody misses it.
	empty := true
	err = withDatabase(ctx, r.path, foreign.OpenCodeTables(), func(db *foreign.Database) error {
		return db.OpenCodeMessages(ctx, r.row["id"], func(row foreign.Row) error {
			in.Count(len(row["data"]))
			text := openCodeObject(row["data"], "id", row["id"], "sessionID", r.row["id"])
			parts := [][]byte{}
			err := db.OpenCodeParts(ctx, row["id"], func(p foreign.Row) error {
				in.Count(len(p["data"]))
				parts = append(parts, openCodeObject(p["data"], "id", p["id"], "sessionID", r.row["id"], "messageID", row["id"]))
				return nil
			})
			if err != nil {
				return err
			}
			m, ok := openCodeMessage(text, parts, in.Skipped)
			if !ok {
				return nil
			}
			empty = false
			return in.Add(m)
		})
	})
	if err == nil && empty {
		err = errEmpty
	}
	return s, err
}

// openCodeObject adds members to an object, which come first. It returns nil for what is not an object.
func openCodeObject(data string, members ...string) []byte {
	data = strings.TrimSpace(data)
	if !strings.HasPrefix(data, "{") || !json.Valid([]byte(data)) {
		return nil
	}
	out := []byte{'{'}
	for i := 0; i < len(members); i += 2 {
		value, err := json.Marshal(members[i+1])
		if err != nil {
			return nil
		}
		out = append(append(append(out, '"'), members[i]...), '"', ':')
		out = append(append(out, value...), ',')
	}
	rest := strings.TrimSpace(data[1:])
	if rest == "}" {
		out = out[:len(out)-1]
	}
	return append(out, rest...)
}

// openCodeMessage reads a message and those of its parts that make sense.
func openCodeMessage(text []byte, parts [][]byte, skipped Skipped) (lathe.Message, bool) {
	var m lathe.Message
	if text == nil || m.ReadInfo(text) != nil || lathe.CheckID(lathe.PrefixMessage, string(m.ID)) != nil {
		skipped.add("message")
		return m, false
	}
	if parent := m.Parent(); parent != "" && lathe.CheckID(lathe.PrefixMessage, string(parent)) != nil {
		skipped.add("message")
		return m, false
	}
	for _, data := range parts {
		var p lathe.Part
		if data == nil || p.UnmarshalJSON(data) != nil || lathe.CheckID(lathe.PrefixPart, string(p.ID)) != nil {
			skipped.add("part")
			continue
		}
		p.Session, p.Message = m.Session, m.ID
		m.Parts = append(m.Parts, p)
	}
	return m, true
}

// record reads the session itself.
func (r *openCodeReader) record() (s lathe.Session, err error) {
	text := func(key string) json.RawMessage {
		v, ok := r.row[key]
		if !ok {
			return nil
		}
		out, _ := json.Marshal(v) // a text
		return out
	}
	value := func(key string) json.RawMessage {
		if v := r.row[key]; json.Valid([]byte(v)) {
			return json.RawMessage(v)
		}
		return nil
	}
	object := func(members map[string]json.RawMessage) json.RawMessage {
		for k, v := range members {
			if v == nil || string(v) == "null" {
				delete(members, k)
			}
		}
		out, _ := json.Marshal(members) // all are valid
		return out
	}
	// Sums of cost and tokens are left out: they come from the steps, and would count twice.
	members := map[string]json.RawMessage{
		"id": text("id"), "parentID": text("parent_id"), "slug": text("slug"), "directory": text("directory"), "title": text("title"),
		"version": text("version"), "metadata": value("metadata"), "permission": value("permission"), "agent": text("agent"), "model": value("model"),
		"time": object(map[string]json.RawMessage{"created": value("time_created"), "updated": value("time_updated"), "archived": value("time_archived")}),
	}
	if r.row["summary_files"] != "" {
		members["summary"] = object(map[string]json.RawMessage{"additions": value("summary_additions"), "deletions": value("summary_deletions"), "files": value("summary_files")})
	}
	if err := s.UnmarshalJSON(object(members)); err != nil {
		return s, err
	}
	return s, openCodeCheck(&s)
}

// openCodeCheck drops what could lead elsewhere.
func openCodeCheck(s *lathe.Session) error {
	if err := lathe.CheckID(lathe.PrefixSession, string(s.ID)); err != nil {
		return err
	}
	if s.Parent != "" && lathe.CheckID(lathe.PrefixSession, string(s.Parent)) != nil {
		s.Parent = ""
	}
	if lathe.CheckID("", s.Slug) != nil {
		s.Slug = ""
	}
	s.Workspace, s.Share, s.Revert = "", nil, nil // they belong to the other program
	s.Cost, s.Tokens = new(lathe.Money), &lathe.Tokens{}
	return nil
}

// openCodeStorage lists the sessions of older versions: storage/session/PROJECT/ID.json.
func openCodeStorage(root string) (out []Session, err error) {
	return transcripts(filepath.Join(root, "session"), ".json", func(name string) (Session, error) {
		id := strings.TrimSuffix(filepath.Base(name), ".json")
		if err := lathe.CheckID(lathe.PrefixSession, id); err != nil {
			return Session{}, err
		}
		info, err := os.Stat(name)
		if err != nil {
			return Session{}, err
		}
		r := &openCodeFolder{root: root, name: name, id: id}
		return Session{ID: lathe.SessionID(id), From: name, Stamp: stamp(info), read: r.read}, nil
	})
}

// openCodeFolder reads one session of a folder: message/SESSION/ID.json and part/MESSAGE/ID.json.
type openCodeFolder struct{ root, name, id string }

// read reads the record, then file by file the messages.
func (r *openCodeFolder) read(ctx context.Context, in Input) (lathe.Session, error) {
	var s lathe.Session
	data, err := readRecord(r.name)
	if err == nil {
		err = s.UnmarshalJSON(data)
	}
	if err == nil {
		s.ID = lathe.SessionID(r.id)
		err = openCodeCheck(&s)
	}
	if err != nil {
		return s, err
	}
	names, err := recordNames(filepath.Join(r.root, "message", r.id))
	if err != nil {
		return s, err
	}
	n := 0
	for _, name := range names {
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		m, ok := r.message(name, in)
		if !ok {
			continue
		}
		n++
		if err := in.Add(m); err != nil {
			return s, err
		}
	}
	if n == 0 {
		err = errEmpty
	}
	return s, err
}

// message reads a message and its parts from their files.
func (r *openCodeFolder) message(name string, in Input) (lathe.Message, bool) {
	text, err := readRecord(name)
	if err != nil {
		in.Skipped.add("message")
		return lathe.Message{}, false
	}
	in.Count(len(text))
	id := strings.TrimSuffix(filepath.Base(name), ".json")
	var parts [][]byte
	files, _ := recordNames(filepath.Join(r.root, "part", id)) // none if it cannot be read
	for _, f := range files {
		data, err := readRecord(f)
		if err != nil {
			data = nil // counted with those that make no sense
		}
		in.Count(len(data))
		parts = append(parts, data)
	}
	return openCodeMessage(text, parts, in.Skipped)
}

// recordNames lists the JSON files of a folder by name, which is their order there.
func recordNames(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names, nil
}

// readRecord reads a small JSON file.
func readRecord(name string) ([]byte, error) {
	f, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil || info.Size() > maxRecord {
		return nil, cmp.Or(err, error(lathe.Errorf(lathe.Invalid, "%s is longer than %s bytes", name, strconv.Itoa(maxRecord))))
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(f)
	if err == nil && !json.Valid(b.Bytes()) {
		err = lathe.Errorf(lathe.Invalid, "%s is not JSON", name)
	}
	return b.Bytes(), err
}
