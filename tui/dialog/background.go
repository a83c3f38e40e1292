package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// NewTasks picks a background task: Chosen has its ID, and session_delete as its key to stop it.
func NewTasks(m *key.Map, all []lathe.BackgroundTask, now time.Time) *List {
	return NewList(m, Options{
		Title: "Background tasks", Placeholder: "Search tasks", Empty: "No background tasks.", Items: TaskItems(all, now), Wide: true,
		Extras: []Extra{{Name: key.SessionDelete, Label: "stop", Confirm: "Press " + m.Label(key.SessionDelete) + " again to stop"}},
	})
}

// TaskItems are the entries of NewTasks, for SetItems when something has changed.
func TaskItems(all []lathe.BackgroundTask, now time.Time) []Item {
	items := make([]Item, len(all))
	for i, t := range all {
		title, _, _ := strings.Cut(t.Title, "\n")
		it := Item{ID: string(t.ID), Title: title, Search: string(t.ID), Detail: string(t.State), Right: age(t.Started.Std(), now)}
		if t.State == lathe.TaskRunning {
			it.Mark = Running
		}
		if t.Exit != nil && *t.Exit != 0 {
			it.Detail += fmt.Sprintf(" (exit %d)", *t.Exit)
		}
		for _, port := range t.Ports {
			it.Detail += fmt.Sprintf(" · port %d", port)
		}
		items[i] = it
	}
	return items
}

// NewBoard picks a session of any project: Chosen has its ID, and session_peek, session_answer, session_archive or, to
// stop it, session_delete as its key. It is filled with BoardItems.
func NewBoard(m *key.Map, preview func(id string) string) *List {
	return NewList(m, Options{
		Title: "Board", Placeholder: "Search sessions", Empty: "No sessions yet.", Wide: true, Live: true, Preview: preview,
		Extras: []Extra{
			{Name: key.SessionPeek, Label: "peek"},
			{Name: key.SessionAnswer, Label: "answer"},
			{Name: key.SessionDelete, Label: "stop"}, // it can be continued, so it needs no second press
			{Name: key.SessionArchive, Label: "archive"},
		},
	})
}

// BoardItems are the entries of NewBoard, grouped by state.
func BoardItems(all []lathe.BoardEntry, current lathe.SessionID, now time.Time) []Item {
	states := lathe.BoardStates()
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b lathe.BoardEntry) int {
		return cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State))
	})
	items := make([]Item, len(sorted))
	for i, e := range sorted {
		_, model, _ := strings.Cut(e.Model, "/")
		right := []string{e.Branch, model}
		if e.Cost > 0 {
			right = append(right, e.Cost.Short())
		}
		right = append(right, age(e.Updated.Std(), now))
		it := Item{
			ID: string(e.Session), Title: e.Title, Group: string(e.State), Detail: e.Last, Search: e.Directory + " " + e.Branch,
			Right: strings.Join(slices.DeleteFunc(right, func(s string) bool { return s == "" }), "  "),
		}
		switch {
		case e.State == lathe.BoardNeedsYou:
			it.Mark = Waiting
		case e.State == lathe.BoardRunning:
			it.Mark = Running
		case e.State == lathe.BoardInterrupted, e.State == lathe.BoardAway:
			it.Mark = Interrupted
		case e.Session == current:
			it.Mark = Current
		}
		items[i] = it
	}
	return items
}

// BoardPreview is the place of a session on the board, and its last line.
func BoardPreview(all []lathe.BoardEntry, id, home string) string {
	i := slices.IndexFunc(all, func(e lathe.BoardEntry) bool { return string(e.Session) == id })
	if i < 0 {
		return ""
	}
	e := all[i]
	return strings.Trim(strings.Join([]string{termtext.Tilde(e.Directory, home), e.Branch, e.Last}, " · "), " ·")
}

// peekLines is how many lines of a session a peek shows.
const peekLines = 200

// Peek is the end of a conversation in plain lines: prompts, answers, and a line for each call.
func Peek(messages []lathe.Message) (lines []string) {
	for _, m := range messages {
		if isUser(m) {
			lines = append(lines, "> "+style.FirstLine(promptText(m)))
			continue
		}
		for _, p := range m.Parts {
			switch b := p.Body.(type) {
			case *lathe.Text:
				lines = append(lines, strings.Split(strings.TrimSpace(b.Text), "\n")...)
			case *lathe.ToolCall:
				lines = append(lines, "· "+b.Tool+" "+b.State.Status()+" "+style.FirstLine(callTitle(b)))
			default:
			}
		}
		if a, ok := m.Data.(*lathe.Assistant); ok && a.Error != nil {
			lines = append(lines, "! "+lathe.FaultMessage(a.Error))
		}
	}
	return lines[max(0, len(lines)-peekLines):]
}

// callTitle is the title of a call, once it has one.
func callTitle(c *lathe.ToolCall) string {
	switch s := c.State.(type) {
	case *lathe.Running:
		return s.Title
	case *lathe.Completed:
		return s.Title
	case *lathe.Failed:
		return s.Error
	default:
		return ""
	}
}

// The answers of NewAnswer that are no option of a question.
const (
	AnswerOnce   = "once"
	AnswerReject = "reject"
	AnswerOpen   = "open"
)

// NewAnswer answers the requests of one call, or a question, without leaving the board. Chosen has the answer as its ID: an option of a
// question by its label, or one of the constants. Of a request with several questions only AnswerOpen is there.
func NewAnswer(m *key.Map, group []lathe.Fact, more int) *List {
	o := Options{Title: "Answer", Placeholder: "Search answers", Wide: true, Selected: AnswerOpen} // a stray enter decides nothing
	about := ""
	switch r := group[0].(type) {
	case *lathe.PermissionAsked:
		about = r.Permission + ": " + r.Summary()
		for _, f := range group[1:] {
			if also, ok := f.(*lathe.PermissionAsked); ok {
				about += " · " + also.Permission + ": " + also.Summary()
			}
		}
		o.Items = []Item{{ID: AnswerOnce, Title: "Allow once"}, {ID: AnswerReject, Title: "Reject"}}
	case *lathe.QuestionAsked:
		for _, q := range r.Questions {
			about = strings.TrimSpace(about + " " + q.Question)
		}
		if len(r.Questions) == 1 && !r.Questions[0].Multiple.On() {
			for _, x := range r.Questions[0].Options {
				o.Items = append(o.Items, Item{ID: optionPrefix + x.Label, Title: x.Label, Detail: x.Description})
			}
		}
	default:
	}
	if more > 0 {
		about += fmt.Sprintf(" (%d more after it)", more)
	}
	o.Items = append(o.Items, Item{ID: AnswerOpen, Title: "Open the session"})
	o.Preview = func(string) string { return about }
	return NewList(m, o)
}

// optionPrefix keeps the labels of options apart from the other answers.
const optionPrefix = "option "

// Option is the label of an option that was chosen in NewAnswer.
func Option(id string) (label string, ok bool) { return strings.CutPrefix(id, optionPrefix) }
