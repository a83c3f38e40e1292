// Package transfer reads sessions that lathe and OpenCode exported, or that a link shares. It reads message by
// message, so that an export may be longer than memory, and treats every byte as hostile: sizes, depth, ids and
// times are checked before anything is passed on. It writes nothing; package store does.
//
// Start reading at Read. stream.go splits long JSON into values.
package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Limits of what is accepted from a file.
const (
	MaxSize  = 16 << 30  // bytes
	maxItem  = 256 << 20 // bytes of one message
	maxDepth = 500
)

// Read reads an export of either generation, or the flat list a share link serves, and
// calls add with each message as soon as it is complete, so that memory is bounded by the longest
// message. It returns the session, which may come last in the file. Ids and times are checked; that
// no id occurs twice is for the caller to see. The flat list has parts apart from their
// messages: add gets them in a message without Data, before or after the message itself.
func Read(r io.Reader, add func(lathe.Message) error) (lathe.Session, error) {
	s := &exportReader{in: jsonStream{r: r, line: 1}, add: add}
	if err := s.read(); err != nil {
		return lathe.Session{}, err
	}
	return s.info, checkSession(&s.info)
}

// exportReader reads one export.
type exportReader struct {
	in   jsonStream
	add  func(lathe.Message) error
	info lathe.Session
	n    int // entries of the list so far
}

// read distinguishes the two formats by their first byte.
func (s *exportReader) read() error {
	if err := s.in.skipMark(); err != nil {
		return err
	}
	first, err := s.in.peek()
	switch {
	case err == io.EOF:
		return lathe.Errorf(lathe.Invalid, "the export is empty")
	case err != nil:
		return err
	case first == '[':
		err = s.in.array(0, s.shareItem)
	case first == '{':
		err = s.whole()
	default:
		_, err = s.in.value(0)
		if err == nil {
			err = lathe.Errorf(lathe.Invalid, "the export is not an object with info and messages")
		}
	}
	if err != nil {
		return err
	}
	return s.in.end()
}

// whole reads the format that `lathe export` and OpenCode write.
func (s *exportReader) whole() error {
	hasInfo, hasMessages := false, false
	err := s.in.object(func(key string) error {
		switch key {
		case "info":
			hasInfo = true
			data, err := s.in.value(1)
			if err != nil {
				return err
			}
			return placed("info", s.info.UnmarshalJSON(data))
		case "messages":
			hasMessages = true
			if c, err := s.in.peek(); err != nil || c != '[' {
				if _, err := s.in.value(1); err != nil {
					return err
				}
				return lathe.Errorf(lathe.Invalid, "messages: want an array")
			}
			return s.in.array(1, s.message)
		default:
			_, err := s.in.value(1)
			return err
		}
	})
	if err == nil && !(hasInfo && hasMessages) {
		return lathe.Errorf(lathe.Invalid, "this is not an export of a session: it needs the members info and messages")
	}
	return err
}

// message reads an element of "messages".
func (s *exportReader) message(data []byte) error {
	var m lathe.Message
	where := fmt.Sprintf("messages[%d]", s.n)
	s.n++
	if err := placed(where, m.UnmarshalJSON(data)); err != nil {
		return err
	}
	return s.take(m)
}

// take checks a message and passes it on.
func (s *exportReader) take(m lathe.Message) error {
	if m.Data != nil {
		if err := lathe.CheckID(lathe.PrefixMessage, string(m.ID)); err != nil {
			return err
		}
		if err := checkMessage(&m); err != nil {
			return err
		}
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if err := lathe.CheckID(lathe.PrefixPart, string(p.ID)); err != nil {
			return err
		}
		if err := checkPart(p); err != nil {
			return err
		}
		p.Message = m.ID
	}
	return s.add(m)
}

// shareItem reads an entry of a shared session, {"type","data"}, which lists messages and parts separately.
func (s *exportReader) shareItem(data []byte) error {
	where := fmt.Sprintf("[%d]", s.n)
	s.n++
	var e struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if data[0] != '{' {
		return lathe.Errorf(lathe.Invalid, "%s: want an object, got %s", where, clip(data))
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return lathe.Errorf(lathe.Invalid, "%s: %w", where, err)
	}
	if e.Data == nil && (e.Type == "session" || e.Type == "message" || e.Type == "part") {
		return lathe.Errorf(lathe.Invalid, "%s: want an object, got nothing", where)
	}
	switch e.Type {
	case "session":
		return placed(where, s.info.UnmarshalJSON(e.Data))
	case "message":
		var m lathe.Message
		if err := placed(where, m.ReadInfo(e.Data)); err != nil {
			return err
		}
		return s.take(m)
	case "part":
		var p lathe.Part
		if err := placed(where, p.UnmarshalJSON(e.Data)); err != nil {
			return err
		}
		return s.take(lathe.Message{ID: p.Message, Parts: []lathe.Part{p}})
	default: // diffs and models are not part of the session itself
		return nil
	}
}

func clip(data []byte) string { return string(data[:min(len(data), 40)]) }

// placed says where in the file a record is wrong, in place of what kind of record it is.
func placed(where string, err error) error {
	var e *lathe.Error
	if !errors.As(err, &e) {
		return err
	}
	text := e.Error()
	if i := strings.IndexAny(text, ".:"); i > 0 {
		text = where + text[i:]
	}
	return lathe.Errorf(e.Code, "%s", text)
}

// Parse is Read of a text in memory. The result hangs together: ids are unique, every
// message belongs to the session and every part to its message.
func Parse(data []byte) (e lathe.Export, err error) {
	e.Messages = []lathe.Message{}
	var apart []lathe.Message
	e.Info, err = Read(bytes.NewReader(data), func(m lathe.Message) error {
		if m.Data == nil {
			apart = append(apart, m)
		} else {
			e.Messages = append(e.Messages, m)
		}
		return nil
	})
	if err != nil {
		return lathe.Export{}, err
	}
	if err := join(&e, apart); err != nil {
		return lathe.Export{}, err
	}
	return e, own(&e)
}

// join gives messages the parts that a share link lists separately.
func join(e *lathe.Export, apart []lathe.Message) error {
	at := map[lathe.MessageID]int{}
	for i, m := range e.Messages {
		at[m.ID] = i
	}
	for _, m := range apart {
		i, ok := at[m.ID]
		if !ok {
			return lathe.Errorf(lathe.Invalid, "part %s belongs to message %s, which is missing", m.Parts[0].ID, m.ID)
		}
		e.Messages[i].Parts = append(e.Messages[i].Parts, m.Parts...)
	}
	return nil
}

// own sets which session everything belongs to, and refuses an id that occurs twice.
func own(e *lathe.Export) error {
	seen := map[string]bool{}
	once := func(id string) error {
		if seen[id] {
			return lathe.Errorf(lathe.Invalid, "id %s occurs twice", id)
		}
		seen[id] = true
		return nil
	}
	for i := range e.Messages {
		m := &e.Messages[i]
		if err := once(string(m.ID)); err != nil {
			return err
		}
		m.Session = e.Info.ID
		for j := range m.Parts {
			p := &m.Parts[j]
			if err := once(string(p.ID)); err != nil {
				return err
			}
			p.Session, p.Message = m.Session, m.ID
		}
	}
	slices.SortStableFunc(e.Messages, func(a, b lathe.Message) int {
		if a.Before(b) {
			return -1
		}
		if b.Before(a) {
			return 1
		}
		return 0
	})
	return nil
}

// check validates the record itself. A slug names files, so one that could lead elsewhere is
// dropped; the engine makes another.
func checkSession(s *lathe.Session) error {
	if s.ID == "" {
		return lathe.Errorf(lathe.Invalid, "the export names no session: the id in info is missing")
	}
	if err := lathe.CheckID(lathe.PrefixSession, string(s.ID)); err != nil {
		return err
	}
	if err := optID(lathe.PrefixSession, string(s.Parent)); err != nil {
		return err
	}
	if err := optID(lathe.PrefixWorkspace, string(s.Workspace)); err != nil {
		return err
	}
	if lathe.CheckID("", s.Slug) != nil {
		s.Slug = ""
	}
	if r := s.Revert; r != nil {
		if err := errors.Join(optID(lathe.PrefixMessage, string(r.Message)), optID(lathe.PrefixPart, string(r.Part))); err != nil {
			return lathe.Errorf(lathe.Invalid, "info.revert: %w", err)
		}
	}
	if !isValid(s.Created) || !isValid(s.Updated) {
		return lathe.Errorf(lathe.Invalid, "info.time: %g and %g are not both times in milliseconds", float64(s.Created), float64(s.Updated))
	}
	return nil
}

func checkMessage(m *lathe.Message) error {
	if err := optID(lathe.PrefixMessage, string(m.Parent())); err != nil {
		return lathe.Errorf(lathe.Invalid, "message %s: parentID: %w", m.ID, err)
	}
	if !isValid(m.Created) { // messages are ordered by it
		return lathe.Errorf(lathe.Invalid, "message %s: time.created %g is not a time in milliseconds", m.ID, float64(m.Created))
	}
	return nil
}

func checkPart(p *lathe.Part) error {
	call, ok := p.Body.(*lathe.ToolCall)
	if !ok {
		return nil
	}
	done, ok := call.State.(*lathe.Completed)
	if !ok {
		return nil
	}
	for _, a := range done.Attachments {
		if err := optID(lathe.PrefixPart, string(a.ID)); err != nil {
			return lathe.Errorf(lathe.Invalid, "part %s: attachment: %w", p.ID, err)
		}
	}
	return nil
}

// optID is lathe.CheckID for ids that may be absent.
func optID(p lathe.Prefix, id string) error {
	if id == "" {
		return nil
	}
	return lathe.CheckID(p, id)
}

// isValid reports whether the time is one that JavaScript's dates can hold.
func isValid(t lathe.Time) bool { return math.Abs(float64(t)) <= 8.64e15 }
