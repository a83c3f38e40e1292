// Package toast owns the toasts at the top right of the screen. Time is given by the
// caller; nothing here waits for it. It is not safe for use by several goroutines. Start with Stack.
package toast

import (
	"slices"
	"time"

	"github.com/lathe-agent/lathe/tui/style"
)

// Variant is the kind of a note.
type Variant int

// The kinds of notes.
const (
	Info Variant = iota
	Success
	Warning
	Error
)

const (
	defaultDuration = 5 * time.Second
	maxShown        = 3
	maxKept         = 20 // including queued ones; more are dropped
	maxWidth        = 60
	maxRows         = 8    // of one note
	maxText         = 2000 // bytes of one note
)

// Note is the content of a toast.
type Note struct {
	Variant     Variant
	Title, Text string        // either may be empty
	For         time.Duration // how long it stays; 0 is five seconds
	Topic       string        // replaces an earlier note on the same topic; "" replaces none
}

// Stack holds the notes on the screen, oldest first, and those that wait for a place. The zero value is empty.
type Stack struct {
	notes []shown
	rows  []int // of each note on the screen, as it was drawn last
}

type shown struct {
	Note
	until time.Time // zero while it waits
}

// Add shows a note. A repeated note extends the first one, and one on the same topic replaces it.
func (s *Stack) Add(n Note, now time.Time) {
	if n.For <= 0 {
		n.For = defaultDuration
	}
	n.Title, n.Text = n.Title[:min(len(n.Title), maxText)], n.Text[:min(len(n.Text), maxText)]
	for i := range s.notes {
		old := s.notes[i]
		if n.Topic != "" && old.Topic == n.Topic || old.Variant == n.Variant && old.Title == n.Title && old.Text == n.Text {
			s.notes[i].Note = n
			if !old.until.IsZero() {
				s.notes[i].until = now.Add(n.For)
			}
			return
		}
	}
	if len(s.notes) >= maxKept {
		return
	}
	s.notes = append(s.notes, shown{Note: n})
	s.place(now)
}

// place shows queued notes in free slots.
func (s *Stack) place(now time.Time) {
	for i := range min(len(s.notes), maxShown) {
		if s.notes[i].until.IsZero() {
			s.notes[i].until = now.Add(s.notes[i].For)
		}
	}
}

// Expire removes expired notes and reports whether there were any.
func (s *Stack) Expire(now time.Time) bool {
	was := len(s.notes)
	s.notes = slices.DeleteFunc(s.notes, func(n shown) bool { return !n.until.IsZero() && !now.Before(n.until) })
	s.place(now)
	return len(s.notes) < was
}

// Next is when the next note goes; false without notes.
func (s *Stack) Next() (at time.Time, ok bool) {
	for _, n := range s.notes {
		if !n.until.IsZero() && (!ok || n.until.Before(at)) {
			at, ok = n.until, true
		}
	}
	return at, ok
}

// Len is how many notes are on the screen.
func (s *Stack) Len() int { return min(len(s.notes), maxShown) }

// Click removes the note at a row of the view and reports whether there was one.
func (s *Stack) Click(y int, now time.Time) bool {
	for i, rows := range s.rows {
		if y < 0 || i >= len(s.notes) {
			return false
		}
		if y < rows {
			s.notes = append(s.notes[:i], s.notes[i+1:]...)
			s.rows = nil
			s.place(now)
			return true
		}
		y -= rows
	}
	return false
}

// View draws the notes for a free area of this size: rows that all are as wide as the widest, to be laid over its
// right edge. A note that does not fit below the first is left out. View is nil without notes.
func (s *Stack) View(th *style.Theme, width, height int) []style.Line {
	s.rows = s.rows[:0]
	width = min(width, maxWidth)
	if len(s.notes) == 0 || width < 6 || height < 1 {
		return nil
	}
	var out []style.Line
	widest := 0
	for i, n := range s.notes[:s.Len()] {
		rows := n.view(th, width-1) // a space at the right
		if i == 0 {
			rows = rows[:min(len(rows), height)]
		}
		if len(out)+len(rows) > height {
			break
		}
		s.rows = append(s.rows, len(rows))
		for _, row := range rows {
			widest = max(widest, row.Width())
		}
		out = append(out, rows...)
	}
	return style.Block(out, widest+1, len(out), th.BackgroundMenu)
}

// view draws one note: a bar in the color of its kind, a title, a text.
func (n Note) view(th *style.Theme, width int) []style.Line {
	color, sign := n.Variant.look(th)
	bar := style.Of("▌ ", style.Fg(color))
	hang := append(bar[:1:1], style.Span{Text: "  "})
	var out []style.Line
	first := bar.Add(sign+" ", style.Bold(color))
	add := func(text string, a style.Attr) {
		for _, l := range style.Lines(text, a) {
			out = append(out, append(first[:len(first):len(first)], l...).Wrap(width, hang)...)
			first = hang
		}
	}
	if n.Title != "" {
		add(n.Title, style.Bold(th.Text))
	}
	if n.Text != "" {
		add(n.Text, style.Fg(th.Text))
	}
	if len(out) > maxRows {
		out = append(out[:maxRows-1], hang.Add("…", style.Fg(th.TextMuted)))
	}
	return out
}

// look is the color and the sign of a kind. The sign helps users who cannot distinguish colors.
func (v Variant) look(th *style.Theme) (c style.Color, sign string) {
	switch v {
	case Success:
		return th.Success, "✓"
	case Warning:
		return th.Warning, "!"
	case Error:
		return th.Error, "✗"
	default:
		return th.Info, "i"
	}
}
