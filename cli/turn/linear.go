package turn

import (
	"context"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/inline"
)

// Linear prints the turn in plain lines for screen readers: nothing is styled or drawn twice, and words stand for signs.
type Linear struct {
	*Plain
	lines *inline.Linear
}

// NewLinear returns the output for screen readers of a turn that starts now.
func NewLinear(p *Plain) *Linear {
	s := &Linear{Plain: p, lines: inline.NewLinear(func(line string) { p.say(line + "\n") })}
	s.lines.Thinking = p.Thinking
	return s
}

// Show prints the lines of an event.
func (s *Linear) Show(ctx context.Context, ev lathe.Event) {
	switch {
	case ev.Session == s.Turn.Session.ID:
		s.lines.Own(ev.Fact)
	case ev.Session != "" && s.Turn.IsDescendant(ctx, ev.Session):
		s.lines.Child(s.Turn.Title(ctx, ev.Session), ev.Fact)
	}
}

// Note prints a notice as a sentence: signs at its beginning and dots in it are not read aloud well.
func (s *Linear) Note(text string) {
	s.lines.Flush()
	s.say(strings.ReplaceAll(strings.TrimLeft(text, ">!#~… "), " · ", ", ") + "\n")
}

// Ask prints a question in words and reads the answer.
func (s *Linear) Ask(ctx context.Context, about []string, choices string) (string, error) {
	s.lines.Flush()
	spoken := make([]string, len(about))
	for i, line := range about {
		spoken[i] = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "? "); ok {
			spoken[i] = "Permission needed: " + rest
		}
	}
	s.App.Ask("%s\nType %s ", strings.Join(spoken, "\n"), choices)
	return s.readAnswer(ctx)
}

// End prints the rest of the answer and the summary.
func (s *Linear) End(ctx context.Context, err error) error {
	s.lines.Flush()
	return s.end(ctx, err, s.Note, func() {
		took := s.Turn.Record.worked(s.Began, s.Now()).Round(100 * time.Millisecond)
		s.Note("Done: " + termtext.OneLine(s.summary(ctx, "", took.String())))
	})
}
