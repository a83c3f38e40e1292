package turn

import (
	"cmp"
	"context"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/inline"
)

// Live draws the turn in a live view. If the view fails, it falls back to Plain.
type Live struct {
	*Plain
	view   *inline.View // nil when it has ended
	follow inline.Follow
	titles map[lathe.SessionID]string
}

// NewLive starts a live view below the cursor. End or Close stops it. giveUp is how long a provider may send nothing; nil
// is not known.
func NewLive(p *Plain, giveUp func(provider string) time.Duration) *Live {
	follow := inline.Follow{Thinking: p.Thinking, Reasoning: p.reasoning, Printed: p.printed, GiveUp: giveUp}
	return &Live{Plain: p, follow: follow, titles: map[lathe.SessionID]string{}, view: inline.Start(inline.Options{
		Out: p.Out, Size: p.ScreenSize, Now: p.Now, Log: p.Log, OnDraw: p.OnDraw,
	})}
}

// Close stops the view. Later output is printed below it.
func (s *Live) Close() {
	if s.view == nil {
		return
	}
	s.view.Close()
	why := s.view.Reason
	if s.view = nil; why != "" {
		s.Plain.remark("Warning: the live view failed: " + termtext.OneLine(why) + ". This is a bug in lathe. Please report it, with the log: https://github.com/lathe-agent/lathe/issues. The turn continues as plain text; `lathe session show " + string(s.Turn.Session.ID) + "` prints the rest.")
	}
}

// ended reports whether the view has stopped. It closes a view that failed.
func (s *Live) ended() bool {
	if s.view != nil {
		select {
		case <-s.view.Broken:
			s.Close()
		default:
		}
	}
	return s.view == nil
}

// Show draws an event.
func (s *Live) Show(ctx context.Context, ev lathe.Event) {
	switch {
	case s.ended():
		s.Plain.Show(ctx, ev)
	case ev.Session != s.Turn.Session.ID:
		s.child(ctx, ev)
	default:
		s.view.Do(func(v *inline.Screen) { s.follow.Own(v, ev.Fact) })
	}
}

// child draws the tool calls of a subagent.
func (s *Live) child(ctx context.Context, ev lathe.Event) {
	if f, ok := ev.Fact.(*lathe.PartChanged); ok {
		if c, ok := f.Part.Body.(*lathe.ToolCall); !ok || inline.IsCompacted(c) || !s.Turn.IsDescendant(ctx, ev.Session) {
			return
		}
		if _, known := s.titles[ev.Session]; !known {
			s.titles[ev.Session] = s.Turn.Title(ctx, ev.Session)
		}
	}
	title := s.titles[ev.Session]
	s.view.Do(func(v *inline.Screen) { s.follow.Child(v, ev.Session, title, ev.Fact) })
}

// Note draws a notice.
func (s *Live) Note(text string) {
	if s.view == nil {
		s.Plain.Note(text)
		return
	}
	s.view.Do(func(v *inline.Screen) { v.Notice(text) })
}

// Ask draws a question and reads the answer. The view stands still meanwhile.
func (s *Live) Ask(ctx context.Context, about []string, choices string) (string, error) {
	if s.ended() || !s.view.DoAndWait(func(v *inline.Screen) { v.Ask(about, choices) }) {
		s.ended()
		return s.Plain.Ask(ctx, about, choices)
	}
	line, err := s.readAnswer(ctx)
	s.view.Do(func(v *inline.Screen) { v.EndQuestion(line) })
	if err == nil {
		s.Note(about[len(about)-1] + " → " + cmp.Or(termtext.Plain(line), "no"))
	}
	return line, err
}

// End draws the summary and stops the view.
func (s *Live) End(ctx context.Context, err error) error {
	if s.ended() {
		return s.Plain.End(ctx, err)
	}
	defer s.Close()
	return s.end(ctx, err, s.Note, func() {
		s.Note(s.summary(ctx, s.changes(ctx), inline.Elapsed(s.Turn.Record.worked(s.Began, s.Now()))))
	})
}

// changes returns the number of files and lines that the turn changed.
func (s *Live) changes(ctx context.Context) string {
	files, added, deleted := s.Turn.files(ctx), 0, 0
	if len(files) == 0 {
		return ""
	}
	for _, f := range files {
		added, deleted = added+f.Additions, deleted+f.Deletions
	}
	return termtext.Plural(len(files), "file") + " changed +" + termtext.Count(added) + " −" + termtext.Count(deleted)
}
