package lathe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"
)

// Export is a whole session as files carry it: {"info","messages"}.
type Export struct {
	Info     Session
	Messages []Message // oldest first, with their parts
}

// Limits of what is accepted from a file.
const (
	MaxExport      = 1 << 30 // bytes
	maxExportDepth = 500
)

// MarshalJSON writes {"info","messages"}.
func (e Export) MarshalJSON() ([]byte, error) { return encode(nil, &e), nil }

func (e *Export) fields(c *codec) {
	object(c, "info", &e.Info)
	list(c, "messages", &e.Messages)
}

// ParseExport reads an export of either generation, or the flat list a share link
// serves. The result is checked and hangs together: ids are well formed and unique, every
// message belongs to the session and every part to its message.
func ParseExport(data []byte) (Export, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := checkJSON(data); err != nil {
		return Export{}, err
	}
	var e Export
	var err error
	if start := skipSpace(data, 0); data[start] == '[' {
		e, err = parseShare(data)
	} else {
		e, err = parseWhole(data)
	}
	if err != nil {
		return Export{}, err
	}
	return e, e.check()
}

// checkJSON refuses what is not JSON and says where it breaks off.
func checkJSON(data []byte) error {
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return Errorf(Invalid, "the export is empty")
	case len(data) > MaxExport:
		return Errorf(Invalid, "the export is larger than %d MB", MaxExport>>20)
	case !utf8.Valid(data):
		return Errorf(Invalid, "the export is not valid UTF-8 (%s)", position(data, invalidAt(data)))
	case depth(data) > maxExportDepth:
		return Errorf(Invalid, "the export is nested more than %d levels deep", maxExportDepth)
	}
	if json.Valid(data) {
		return nil
	}
	var syntax *json.SyntaxError
	err := json.Unmarshal(data, new(json.RawMessage))
	if errors.As(err, &syntax) && syntax.Offset >= int64(len(data)) {
		return Errorf(Invalid, "the export breaks off (%s): it is incomplete", position(data, len(data)))
	}
	if syntax != nil {
		return Errorf(Invalid, "the export is not JSON (%s): %s", position(data, int(syntax.Offset)-1), syntax.Error())
	}
	return Errorf(Invalid, "the export is not JSON: %v", err)
}

func position(data []byte, at int) string {
	before := data[:min(at, len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	return fmt.Sprintf("line %d, column %d", line, len(before)-bytes.LastIndexByte(before, '\n'))
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, w := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && w == 1 {
			return i
		}
		i += w
	}
	return len(data)
}

// depth returns how deep the values are nested, looking at brackets outside strings.
func depth(data []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			end, err := stringEnd(data, i)
			if err != nil {
				return deepest
			}
			i = end - 1
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// parseWhole reads the format that `lathe export` and OpenCode write.
func parseWhole(data []byte) (e Export, err error) {
	members, err := scanObject(data, nil)
	if err != nil {
		return e, Errorf(Invalid, "the export is not an object with info and messages")
	}
	var info, messages []byte
	for _, m := range members {
		switch string(m.key) {
		case "info":
			info = m.val
		case "messages":
			messages = m.val
		}
	}
	if info == nil || messages == nil {
		return e, Errorf(Invalid, "this is not an export of a session: it needs the members info and messages")
	}
	if err := decode(info, "info", &e.Info); err != nil {
		return e, err
	}
	e.Messages = []Message{}
	scanErr := scanArray(messages, func(item []byte) {
		var m Message
		if err == nil {
			err = decode(item, fmt.Sprintf("messages[%d]", len(e.Messages)), &m)
		}
		if err == nil && m.Data == nil {
			err = Errorf(Invalid, "messages[%d]: info is missing", len(e.Messages))
		}
		e.Messages = append(e.Messages, m)
	})
	if err == nil && scanErr != nil {
		err = Errorf(Invalid, "messages: want an array")
	}
	return e, err
}

// shareItem is one entry of the flat list: {"type","data"}.
type shareItem struct {
	kind string
	data json.RawMessage
}

func (s *shareItem) fields(c *codec) {
	str(c, "type", &s.kind)
	raw(c, "data", &s.data)
}

// parseShare reads the data of a shared session, which lists messages and parts separately.
func parseShare(data []byte) (e Export, err error) {
	e.Messages = []Message{}
	var parts []Part
	i := 0
	scanErr := scanArray(data, func(item []byte) {
		if err == nil {
			err = e.shareItem(item, fmt.Sprintf("[%d]", i), &parts)
		}
		i++
	})
	if err == nil && scanErr != nil {
		err = Errorf(Invalid, "want an array")
	}
	if err != nil {
		return e, err
	}
	at := map[MessageID]int{}
	for i, m := range e.Messages {
		at[m.ID] = i
	}
	for _, p := range parts {
		i, ok := at[p.Message]
		if !ok {
			return e, Errorf(Invalid, "part %s belongs to message %s, which is missing", p.ID, p.Message)
		}
		e.Messages[i].Parts = append(e.Messages[i].Parts, p)
	}
	return e, nil
}

func (e *Export) shareItem(item []byte, where string, parts *[]Part) error {
	var s shareItem
	if err := decode(item, where, &s); err != nil {
		return err
	}
	switch s.kind {
	case "session":
		return decode(s.data, where, &e.Info)
	case "message":
		var m Message
		err := decode(s.data, where, info{&m})
		e.Messages = append(e.Messages, m)
		return err
	case "part":
		var p Part
		err := decode(s.data, where, &p)
		*parts = append(*parts, p)
		return err
	default: // diffs and models are not part of the session itself
		return nil
	}
}

// check validates ids and times, and sets which session and message everything belongs to.
func (e *Export) check() error {
	if err := e.Info.check(); err != nil {
		return err
	}
	seen := map[string]bool{}
	once := func(p Prefix, id string) error {
		if err := CheckID(p, id); err != nil {
			return err
		}
		if seen[id] {
			return Errorf(Invalid, "id %s occurs twice", id)
		}
		seen[id] = true
		return nil
	}
	for i := range e.Messages {
		m := &e.Messages[i]
		if err := once(PrefixMessage, string(m.ID)); err != nil {
			return err
		}
		if err := m.check(); err != nil {
			return err
		}
		m.Session = e.Info.ID
		for j := range m.Parts {
			p := &m.Parts[j]
			if err := once(PrefixPart, string(p.ID)); err != nil {
				return err
			}
			if err := p.check(); err != nil {
				return err
			}
			p.Session, p.Message = m.Session, m.ID
		}
	}
	slices.SortStableFunc(e.Messages, Message.compare)
	return nil
}

// check validates the record itself. A slug names files, so one that could lead elsewhere is
// dropped; the engine makes another.
func (s *Session) check() error {
	if s.ID == "" {
		return Errorf(Invalid, "the export names no session: the id in info is missing")
	}
	if err := CheckID(PrefixSession, string(s.ID)); err != nil {
		return err
	}
	if err := optID(PrefixSession, string(s.Parent)); err != nil {
		return err
	}
	if err := optID(PrefixWorkspace, string(s.Workspace)); err != nil {
		return err
	}
	if CheckID("", s.Slug) != nil {
		s.Slug = ""
	}
	if r := s.Revert; r != nil {
		if err := errors.Join(optID(PrefixMessage, string(r.Message)), optID(PrefixPart, string(r.Part))); err != nil {
			return Errorf(Invalid, "info.revert: %w", err)
		}
	}
	if !s.Created.valid() || !s.Updated.valid() {
		return Errorf(Invalid, "info.time: %g and %g are not both times in milliseconds", float64(s.Created), float64(s.Updated))
	}
	return nil
}

func (m *Message) check() error {
	if err := optID(PrefixMessage, string(m.Parent())); err != nil {
		return Errorf(Invalid, "message %s: parentID: %w", m.ID, err)
	}
	if !m.Created.valid() { // messages are ordered by it
		return Errorf(Invalid, "message %s: time.created %g is not a time in milliseconds", m.ID, float64(m.Created))
	}
	return nil
}

func (p *Part) check() error {
	call, ok := p.Body.(*ToolCall)
	if !ok {
		return nil
	}
	done, ok := call.State.(*Completed)
	if !ok {
		return nil
	}
	for _, a := range done.Attachments {
		if err := optID(PrefixPart, string(a.ID)); err != nil {
			return Errorf(Invalid, "part %s: attachment: %w", p.ID, err)
		}
	}
	return nil
}

// optID is CheckID for ids that may be absent.
func optID(p Prefix, id string) error {
	if id == "" {
		return nil
	}
	return CheckID(p, id)
}

// valid reports whether the time is one that JavaScript's dates can hold.
func (t Time) valid() bool { return math.Abs(float64(t)) <= 8.64e15 }

// WriteIndented writes one value of an export with two spaces an indent, below prefix.
func WriteIndented(w io.Writer, value []byte, prefix string) error {
	var b bytes.Buffer
	if err := json.Indent(&b, value, prefix, "  "); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
