package hook

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
)

// idleTime is how long a session waits for a prompt before hooks hear of it.
const idleTime = 60 * time.Second

// Source reads sessions.
type Source interface {
	Session(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	// Messages returns the newest messages, oldest first.
	Messages(ctx context.Context, id lathe.SessionID, before lathe.Position, limit int) (lathe.Page, error)
}

// Sessions are the sessions of a directory that hooks know in this process. They outlive a change of the config.
type Sessions struct {
	Source
	// Transcripts returns the folder for the transcript of a session, which is removed with it.
	Transcripts func(id lathe.SessionID) string
	Version     string
	// Interactive says that one user sits in front of this process, so that a further session is one after /clear.
	Interactive bool
	// Idle replaces the time after which a session is idle; 0 is a minute.
	Idle time.Duration

	work   sync.WaitGroup
	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	mu     sync.Mutex // guards the fields below
	set    *Set       // of the current config
	known  map[lathe.SessionID]*knownSession
	closed bool
}

// knownSession is a session in which a hook has run, or could have.
type knownSession struct {
	timer  *time.Timer // until it is idle; nil if none runs
	said   []string    // notes that were shown
	writes sync.Mutex  // one writer of its transcript
}

// NewSessions returns an empty list. It starts nothing.
func NewSessions(from Source, transcripts func(lathe.SessionID) string, version string) *Sessions {
	s := &Sessions{Source: from, Transcripts: transcripts, Version: version, known: map[lathe.SessionID]*knownSession{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// use makes a set the one that ends the sessions.
func (s *Sessions) use(set *Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set = set
}

// servers are the MCP servers of the current config.
func (s *Sessions) servers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == nil {
		return nil
	}
	return s.set.Servers
}

// of returns the state of a session. The mutex is held.
func (s *Sessions) of(id lathe.SessionID) *knownSession {
	if s.known[id] == nil {
		s.known[id] = &knownSession{}
	}
	return s.known[id]
}

// start returns how a session starts in this process: startup, clear, resume, or "" if it has started.
func (s *Sessions) start(ctx context.Context, id lathe.SessionID) string {
	s.mu.Lock()
	_, started := s.known[id]
	further := s.Interactive && len(s.known) > 0
	s.of(id)
	s.mu.Unlock()
	if started {
		return ""
	}
	if page, err := s.Messages(ctx, id, lathe.Position{}, 1); err == nil && len(page.Messages) > 0 {
		return "resume"
	}
	if further {
		return "clear"
	}
	return "startup"
}

// active ends the wait for a prompt.
func (s *Sessions) active(id lathe.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.known[id]; k != nil && k.timer != nil {
		k.timer.Stop()
	}
}

// idle runs a function when no prompt comes for a while.
func (s *Sessions) idle(id lathe.SessionID, run func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := idleTime
	if s.Idle > 0 {
		wait = s.Idle
	}
	k := s.of(id)
	if k.timer != nil {
		k.timer.Stop()
	}
	k.timer = time.AfterFunc(wait, func() { s.background(run) })
}

// background runs a function that Close waits for.
func (s *Sessions) background(run func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(func() { run(s.ctx) })
	}
}

// notifyOnce shows a note once for a session.
func (s *Sessions) notifyOnce(id lathe.SessionID, text string, show func(string)) {
	s.mu.Lock()
	k := s.of(id)
	isNew := !slices.Contains(k.said, text) && len(k.said) < 100
	if isNew {
		k.said = append(k.said, text)
	}
	s.mu.Unlock()
	if isNew {
		show(text)
	}
}

// End runs SessionEnd for a session that was deleted, in the background.
func (s *Sessions) End(id lathe.SessionID) {
	s.mu.Lock()
	_, known := s.known[id]
	set := s.set
	delete(s.known, id)
	s.mu.Unlock()
	if known && set != nil && set.has(sessionEnd) {
		s.background(func(ctx context.Context) { set.end(context.WithoutCancel(ctx), id, "other") }) // an exit waits for it
	}
}

// Close runs SessionEnd for all sessions and ends all hooks.
func (s *Sessions) Close() {
	s.mu.Lock()
	set, known := s.set, s.known
	closed := s.closed
	s.closed, s.known = true, map[lathe.SessionID]*knownSession{}
	for _, k := range known {
		if k.timer != nil {
			k.timer.Stop()
		}
	}
	s.mu.Unlock()
	if closed {
		return
	}
	s.cancel()
	s.work.Wait()
	var ends sync.WaitGroup
	for id := range known {
		if set != nil && set.has(sessionEnd) {
			ends.Go(func() { set.end(context.Background(), id, "other") })
		}
	}
	ends.Wait()
	for id := range known {
		if path := s.transcriptPath(id); path != "" {
			_ = os.Remove(path) // files that stay are removed with other old folders
			_ = os.Remove(filepath.Dir(path))
		}
	}
}

// transcriptPath is where the transcript of a session lies; "" means that there is no place for it.
func (s *Sessions) transcriptPath(id lathe.SessionID) string {
	dir := s.Transcripts(id)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, string(id)+".jsonl")
}

// lastAnswer is the text of the last answer in a session.
func (s *Sessions) lastAnswer(ctx context.Context, id lathe.SessionID) string {
	page, err := s.Messages(ctx, id, lathe.Position{}, 1)
	if err != nil || len(page.Messages) == 0 {
		return ""
	}
	var words []string
	for _, p := range page.Messages[0].Parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Synthetic.On() {
			words = append(words, t.Text)
		}
	}
	return strings.Join(words, "\n")
}
