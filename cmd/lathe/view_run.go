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
	"github.com/lathe-agent/lathe/tui/inline"
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
	r.view.Do(func(s *inline.Screen) { s.Remark(text) })
}

// closeView ends the picture; what comes now is printed below it.
func (r *runner) closeView() {
	if r.view == nil {
		return
	}
	r.view.Close()
	why := r.view.Why
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
	case <-r.view.Broken:
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
				r.view.Do(func(s *inline.Screen) { s.Change("", f.Part.ID, b) })
			}
		case *lathe.Reasoning:
			r.view.Do(func(s *inline.Screen) { s.Think(b.Time.End == 0) })
		default:
		}
	case *lathe.PartRemoved:
		if r.printed[f.Part] {
			r.view.Do(func(s *inline.Screen) { s.TakeBack(f.Part) })
		}
	case *lathe.StatusChanged:
		busy := f.Status.Type == lathe.Busy
		r.view.Do(func(s *inline.Screen) { s.Wait(busy) })
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
		r.view.Do(func(s *inline.Screen) {
			s.Beside(ev.Session, title)
			s.Change(ev.Session, f.Part.ID, t)
		})
	case *lathe.StatusChanged:
		if f.Status.Type == lathe.Idle {
			r.view.Do(func(s *inline.Screen) { s.Rested(ev.Session) })
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
	reasoning := r.reasoning[d.Part]
	if reasoning && !r.flags.thinking {
		return
	}
	r.printed[d.Part] = true
	text := termtext.PlainText(d.Delta)
	r.view.Do(func(s *inline.Screen) { s.Grow(d.Part, text, reasoning) })
}

// grown completes a text that has come to its end.
func (r *runner) grown(id lathe.PartID, ended bool) {
	if r.view != nil && ended {
		r.view.Do(func(s *inline.Screen) { s.EndText(id) })
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
	added, deleted := 0, 0
	for _, f := range files {
		added, deleted = added+f.Additions, deleted+f.Deletions
	}
	return termtext.Several(len(files), "file") + " changed +" + termtext.Count(added) + " −" + termtext.Count(deleted)
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
		return inline.Elapsed(d)
	}
	return d.Round(100 * time.Millisecond).String()
}

// asked puts a question and reads the answer. In the picture nothing moves meanwhile.
func (r *runner) asked(ctx context.Context, about []string, choices string) (string, error) {
	r.newLine()
	if r.view != nil && !r.view.Did(func(s *inline.Screen) { s.Ask(about, choices) }) {
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
		r.view.Do(func(s *inline.Screen) { s.Answered(string(line)) })
	}
	if r.view != nil && err == nil {
		r.note("%s → %s", about[len(about)-1], cmp.Or(termtext.Plain(string(line)), "no"))
	}
	return string(line), err
}
