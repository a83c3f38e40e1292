package builtin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
)

// ReadTracker remembers what the model has last seen of files, by the sum of their content.
//
// The truth is in the history: results of read, write, edit and apply_patch carry the sums in
// their metadata, so they survive a restart and go away with a compaction, which takes the
// content from the model as well. In memory is only what the calls of the running step have
// seen, since the history of a step does not have its own calls yet.
//
// One Seen is shared by the tools of a process. A nil Seen remembers nothing beyond the
// history.
type ReadTracker struct {
	mu    sync.Mutex
	steps map[lathe.SessionID]*stepReads
	locks map[string]*pathLock
}

// pathLock is held by the call that changes a file.
type pathLock struct {
	mu    sync.Mutex
	users int // holders and waiters; guarded by the mutex of ReadTracker
}

// stepReads are the reads of one step.
type stepReads struct {
	message lathe.MessageID
	sums    map[string]string // by real path
	loaded  map[string]bool   // instruction files shown, by real path
}

// maxSteps bounds the memory for abandoned sessions.
const maxSteps = 1000

// NewReadTracker returns a memory for the tools of one process.
func NewReadTracker() *ReadTracker {
	return &ReadTracker{steps: map[lathe.SessionID]*stepReads{}, locks: map[string]*pathLock{}}
}

// lock keeps other calls, also of other sessions, from changing the file at a real path between
// a look at it and its change. No caller waits for a user while holding it.
func (s *ReadTracker) lock(path string) (unlock func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	l := s.locks[path]
	if l == nil {
		l = &pathLock{}
		s.locks[path] = l
	}
	l.users++
	s.mu.Unlock()
	l.mu.Lock()
	return func() {
		l.mu.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(s.locks, path)
		}
	}
}

// sumOf is how a content is remembered.
func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// note remembers what a call has seen, by real path. A sum of "" is a content that was seen
// and is too large to be summed: it takes the place of an older sum, which no longer counts.
func (s *ReadTracker) note(c *tool.Call, sums map[string]string) {
	if s == nil || len(sums) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.step(c).sums, sums)
}

// step returns the notes of the running step, new ones where the session is at another. The
// lock is held.
func (s *ReadTracker) step(c *tool.Call) *stepReads {
	step := s.steps[c.Session]
	if step != nil && step.message == c.Message {
		return step
	}
	step = &stepReads{message: c.Message, sums: map[string]string{}, loaded: map[string]bool{}}
	s.steps[c.Session] = step
	for id := range s.steps {
		if len(s.steps) <= maxSteps {
			break
		}
		if id != c.Session {
			delete(s.steps, id)
		}
	}
	return step
}

// lastRead is the model's last read of a file.
type lastRead struct {
	seen    bool   // it has seen something
	sum     string // "" if it has seen nothing, or a content too large for a sum
	command string // the last that the model has run since, "" if none
}

// last returns what the model has last seen of the file at a real path.
func (s *ReadTracker) last(c *tool.Call, path string) (got lastRead) {
	if sum, ok := s.now(c, path); ok {
		return lastRead{seen: true, sum: sum}
	}
	key := phrase.JSON(path)
	for _, m := range slices.Backward(c.Host.History()) {
		for _, p := range slices.Backward(m.Parts) {
			if sum, ok := readSums(p, key)[path]; ok {
				got.sum, got.seen = sum, true
				return got
			}
			if got.command == "" {
				got.command = commandIn(p)
			}
		}
	}
	return lastRead{}
}

// commandIn is the command of a call of bash.
func commandIn(p lathe.Part) string {
	call, ok := p.Body.(*lathe.ToolCall)
	if !ok || call.Tool != "bash" {
		return ""
	}
	var input json.RawMessage
	switch s := call.State.(type) {
	case *lathe.Completed:
		input = s.Input
	case *lathe.Failed:
		input = s.Input
	default: // it has not run
		return ""
	}
	var in struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(input, &in) // without one, none is named
	return in.Command
}

// now looks among the calls of the running step.
func (s *ReadTracker) now(c *tool.Call, path string) (sum string, ok bool) {
	if s == nil {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	step := s.steps[c.Session]
	if step == nil || step.message != c.Message {
		return "", false
	}
	sum, ok = step.sums[path]
	return sum, ok
}

// readsMeta is the member of a result's metadata that is ours.
type readsMeta struct {
	Lathe struct {
		Seen map[string]string `json:"seen"`
	} `json:"lathe"`
}

// readSums is what a call that ended well has seen, by real path, if its metadata has a text in it.
func readSums(p lathe.Part, text []byte) map[string]string {
	var meta readsMeta
	if done := completed(p, text); done == nil || json.Unmarshal(done.Metadata, &meta) != nil {
		return nil
	}
	return meta.Lathe.Seen
}

// completed returns the state of a call that ended well and whose metadata has the path, as
// JSON has it, in it; nil for anything else. To look for the bytes is much cheaper than to
// decode them all.
func completed(p lathe.Part, path []byte) *lathe.Completed {
	call, ok := p.Body.(*lathe.ToolCall)
	if !ok {
		return nil
	}
	done, ok := call.State.(*lathe.Completed)
	if !ok || !bytes.Contains(done.Metadata, path) {
		return nil
	}
	return done
}

// withReads adds to a result's metadata what the call has seen, by real path.
func withReads(metadata json.RawMessage, sums map[string]string) json.RawMessage {
	if len(sums) == 0 {
		return metadata
	}
	var ours readsMeta
	ours.Lathe.Seen = sums
	add, err := json.Marshal(ours)
	if err != nil {
		return metadata
	}
	body := bytes.TrimSpace(metadata)
	if len(body) <= 2 { // nothing, or {}
		return add
	}
	out := make(json.RawMessage, 0, len(body)+len(add))
	out = append(out, body[:len(body)-1]...)
	out = append(out, ',')
	return append(out, add[1:]...)
}

// WithSeen adds to the metadata of a call that the model knows the contents of files, by real path: it was told how
// they changed after the call.
func WithSeen(metadata json.RawMessage, contents map[string][]byte) json.RawMessage {
	meta, ours, seen := map[string]json.RawMessage{}, map[string]json.RawMessage{}, map[string]string{}
	read := func(raw json.RawMessage, into any) bool { return len(raw) == 0 || json.Unmarshal(raw, into) == nil }
	if !read(metadata, &meta) || !read(meta["lathe"], &ours) || !read(ours["seen"], &seen) {
		return metadata
	}
	for path, data := range contents {
		seen[path] = sumOf(data)
	}
	var err error
	if ours["seen"], err = json.Marshal(seen); err != nil {
		return metadata
	}
	if meta["lathe"], err = json.Marshal(ours); err != nil {
		return metadata
	}
	out, err := json.Marshal(meta)
	if err != nil {
		return metadata
	}
	return out
}
