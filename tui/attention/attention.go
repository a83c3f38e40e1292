// Package attention decides when a user who looks elsewhere is notified, and what the title and the tab of the window
// show. It belongs to one goroutine, like the rest of the screen.
//
// Start reading at Watch.
package attention

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/tty"
)

// Settings say when the user is notified while the terminal has no focus.
type Settings struct {
	NeedsYou  bool          // a permission or an answer is needed
	Done      bool          // a turn ended that took DoneAfter, or failed
	DoneAfter time.Duration // 0 is every turn
	Bell      bool          // ring the bell, too
	Terminal  tty.Terminal
}

// awayTime is how long the user must not have touched a terminal that does not report its focus.
const awayTime = time.Minute

// Watch knows whether the user looks at the terminal, and since when turns run. The zero value is ready.
type Watch struct {
	blurred    bool
	focusKnown bool      // the terminal reports its focus
	touched    time.Time // the last key or click
	began      map[lathe.SessionID]time.Time
}

// SetFocus takes a report of the terminal.
func (w *Watch) SetFocus(on bool) { w.blurred, w.focusKnown = !on, true }

// Touch notes a key or a click.
func (w *Watch) Touch(now time.Time) { w.touched = now }

// isAway reports whether the user looks elsewhere. A terminal without focus reports counts as looked at for a while
// after each key and click.
func (w *Watch) isAway(now time.Time) bool {
	return w.blurred || !w.focusKnown && !w.touched.IsZero() && now.Sub(w.touched) > awayTime
}

// NoteRunning remembers since when turns run.
func (w *Watch) NoteRunning(st *state.State, now time.Time) {
	if w.began == nil {
		w.began = map[lathe.SessionID]time.Time{}
	}
	for id := range st.Statuses() {
		if _, known := w.began[id]; !known {
			w.began[id] = now
		}
	}
}

// Asked is the notification that a session needs the user, "" for none.
func (w *Watch) Asked(s Settings, st *state.State, id lathe.SessionID, now time.Time) string {
	if !s.NeedsYou {
		return ""
	}
	return w.notify(s, st, id, "Needs you", now)
}

// Ended is the notification that a turn has ended, "" for none.
func (w *Watch) Ended(s Settings, st *state.State, id lathe.SessionID, now time.Time) string {
	since, known := w.began[id]
	delete(w.began, id)
	switch {
	case !s.Done || !known:
		return ""
	case hasFailed(st, id):
		return w.notify(s, st, id, "Failed", now)
	case now.Sub(since) < s.DoneAfter:
		return ""
	}
	return w.notify(s, st, id, "Done", now)
}

// notify is the sequence for a user who is away, about a session.
func (w *Watch) notify(s Settings, st *state.State, id lathe.SessionID, text string, now time.Time) string {
	if !w.isAway(now) {
		return ""
	}
	if root := st.Root(id); root.Title != "" && !lathe.IsDefaultTitle(root.Title) {
		text += ": " + root.Title
	}
	return s.Terminal.Notification(text, s.Bell)
}

// hasFailed reports whether the last answer of the session on the screen is an error.
func hasFailed(st *state.State, id lathe.SessionID) bool {
	o := st.Shown()
	if o == nil || id != st.Current || o.Transcript.Count() == 0 {
		return false
	}
	a, ok := o.Transcript.View(o.Transcript.Count() - 1).Data().(*lathe.Assistant)
	return ok && a.Error != nil
}

// Title is the title of the window: the session on the screen, after a sign for a turn that runs or waits for the user.
func Title(st *state.State) string {
	title := "lathe"
	if s, ok := st.Session(st.Current); ok && s.Title != "" && !lathe.IsDefaultTitle(s.Title) {
		title += " | " + style.Plain(s.Title).Truncate(40).Text()
	}
	switch {
	case len(st.AllAsks()) > 0: // also of another session, which is listed
		return "? " + title
	case st.Busy(st.Current):
		return "● " + title
	}
	return title
}

// Progress is the state of the turn for the tab or the task bar of a terminal that shows it.
func (s Settings) Progress(st *state.State) *tea.ProgressBar {
	switch {
	case !s.Terminal.HasProgress():
		return nil
	case len(st.AllAsks()) > 0:
		return tea.NewProgressBar(tea.ProgressBarWarning, 100)
	case st.Busy(st.Current):
		return tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
	}
	return nil
}
