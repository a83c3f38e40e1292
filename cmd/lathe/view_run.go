package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// isLive reports whether the turn is shown as a picture: both streams are a screen that can do it,
// and nothing else writes there.
func (r *runner) isLive() bool {
	return !r.plainly && r.Color(r.Stdout.File) && r.Color(r.Stderr) && !r.isJSON() && r.flags.schema == "" && !r.PrintLogs
}

// remark tells something: in the picture, or on standard error.
func (r *runner) remark(format string, args ...any) {
	if r.view == nil {
		r.App.Remark(format, args...)
		return
	}
	text := fmt.Sprintf(format, args...)
	r.view.do(func(s *screen) { s.remark(text) })
}

// closeView ends the picture; what comes now is printed below it.
func (r *runner) closeView() {
	if r.view == nil {
		return
	}
	r.view.close()
	why := r.view.why
	if r.view = nil; why != "" {
		r.remark("Warning: the live view failed: %s. That is a mistake of lathe; its log says where. The turn goes on as plain text, and `lathe session show %s` has what is missing here.", termtext.OneLine(why), r.session.ID)
	}
}

// dropView lets the turn go on as plain text when the picture has ended by a mistake.
func (r *runner) dropView() {
	if r.view == nil {
		return
	}
	select {
	case <-r.view.broken:
		r.closeView()
	default:
	}
}

// watch tells the view of an event of the session.
func (r *runner) watch(f lathe.Fact) {
	if r.view == nil {
		return
	}
	switch f := f.(type) {
	case *lathe.PartChanged:
		switch b := f.Part.Body.(type) {
		case *lathe.ToolCall:
			if !isCompacted(b) {
				r.view.do(func(s *screen) { s.change("", f.Part.ID, b) })
			}
		case *lathe.Reasoning:
			r.view.do(func(s *screen) { s.muses = b.Time.End == 0 })
		default:
		}
	case *lathe.PartRemoved:
		if r.printed[f.Part] {
			r.view.do(func(s *screen) { s.takeBack(f.Part) })
		}
	case *lathe.StatusChanged:
		busy := f.Status.Type == lathe.Busy
		r.view.do(func(s *screen) {
			if s.idle, s.muses = (time.Time{}), false; busy {
				s.idle = s.app.Now()
			}
		})
	default:
	}
}

// watchBelow tells the view of an event of another session.
func (r *runner) watchBelow(ctx context.Context, ev lathe.Event) {
	if r.view == nil {
		return
	}
	switch f := ev.Fact.(type) {
	case *lathe.PartChanged:
		t, ok := f.Part.Body.(*lathe.ToolCall)
		if !ok || isCompacted(t) || !r.isBelow(ctx, ev.Session) {
			return
		}
		title, known := r.titles[ev.Session]
		if !known {
			title = termtext.Plain(r.titleOf(ctx, ev.Session))
			r.titles[ev.Session] = title
		}
		r.view.do(func(s *screen) {
			s.beside(ev.Session, title)
			s.change(ev.Session, f.Part.ID, t)
		})
	case *lathe.StatusChanged:
		if f.Status.Type == lathe.Idle {
			r.view.do(func(s *screen) { s.rested(ev.Session) })
		}
	default:
	}
}

// isCompacted says that a call is an old one that is no longer sent.
func isCompacted(t *lathe.ToolCall) bool {
	done, ok := t.State.(*lathe.Completed)
	return ok && done.Compacted != 0
}

// grow shows more of a text, or of a thought if those are wanted.
func (r *runner) grow(d *lathe.PartDelta) {
	look := style(0)
	if r.reasoning[d.Part] {
		if look = dim; !r.flags.thinking {
			return
		}
	}
	r.printed[d.Part] = true
	text := termtext.PlainText(d.Delta)
	r.view.do(func(s *screen) { s.grow(d.Part, text, look) })
}

// grown completes a text that has come to its end.
func (r *runner) grown(id lathe.PartID, ended bool) {
	if r.view != nil && ended {
		r.view.do(func(s *screen) {
			if s.saying == id {
				s.endText()
			}
		})
	}
}

// changes is how many files and lines the turn has changed, for the last row of the picture.
func (r *runner) changes(ctx context.Context) string {
	if r.view == nil {
		return ""
	}
	files := r.files(ctx)
	if len(files) == 0 {
		return ""
	}
	var n lineCount
	for _, f := range files {
		n.Additions, n.Deletions = n.Additions+f.Additions, n.Deletions+f.Deletions
	}
	return termtext.Several(len(files), "file") + " changed +" + termtext.Count(n.Additions) + " −" + termtext.Count(n.Deletions)
}

// worked is how long the turn took, without the time that a person was waited for.
func (r *runner) worked() time.Duration {
	var waits []lathe.Wait
	for _, w := range r.stood {
		waits = append(waits, w...)
	}
	return lathe.Worked(lathe.Time(r.began.UnixMilli()), lathe.Time(r.Now().UnixMilli()), waits)
}

// lasted is the same in words.
func (r *runner) lasted() string {
	d := r.worked()
	if r.view != nil {
		return elapsed(d)
	}
	return d.Round(100 * time.Millisecond).String()
}

// asked puts a question and reads the answer. In the picture nothing moves meanwhile.
func (r *runner) asked(ctx context.Context, about []string, choices string) (string, error) {
	r.newLine()
	if r.view != nil && !r.view.did(func(s *screen) { s.ask(about, choices) }) {
		r.dropView()
	}
	if r.view == nil {
		fmt.Fprintf(r.Stderr, "%s\n  %s ", strings.Join(about, "\n"), choices)
	}
	line, err := cli.Reading(ctx, func() ([]byte, error) {
		text, err := bufio.NewReader(r.Stdin).ReadString('\n')
		return []byte(text), err
	})
	if r.view != nil {
		r.view.do(func(s *screen) { s.answered(string(line)) })
	}
	if r.view != nil && err == nil {
		r.note("%s → %s", about[len(about)-1], cmp.Or(termtext.Plain(string(line)), "no"))
	}
	return string(line), err
}

// ask shows a question, with the cursor behind it.
func (s *screen) ask(about []string, choices string) {
	s.endText()
	s.asking = s.live(4)
	if len(s.asking) > 0 {
		s.asking = append(s.asking, row{})
	}
	for i, line := range about {
		look := style(0)
		if i == len(about)-1 {
			look = bold
		}
		s.asking = append(s.asking, wrapped(cells(line, look), nil, cells("  ", 0), s.width()-1)...)
	}
	indent := cells("  ", 0)
	s.asking = append(s.asking, wrapped(cells(choices, dim), indent, indent, s.width()-1)...)
	last := &s.asking[len(s.asking)-1]
	last.text, last.width = last.text+" ", last.width+1
	s.draw()
}

// answered goes on. What was typed stands on the screen too, with the end of its line.
func (s *screen) answered(typed string) {
	if n := len(s.below); n > 0 {
		s.below[n-1].width += termtext.Columns(strings.TrimRight(typed, "\r\n"))
		if strings.HasSuffix(typed, "\n") {
			s.below = append(s.below, row{})
		}
	}
	s.asking = nil
}
