package tui

import (
	"context"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/style"
)

// A wheel that is turned on and on goes faster, where that is wanted, and slow again after a rest.
func TestNotch_Acceleration(t *testing.T) {
	now := time.Unix(1000, 0)
	o := Options{Now: func() time.Time { return now }, Look: Look{ScrollSpeed: 2}}
	p := newProgram(context.Background(), o)
	for range 20 {
		if n := p.wheelRows(); n != 2 {
			t.Fatalf("a notch is %d rows without acceleration, want 2", n)
		}
	}
	p.o.Look.Acceleration = true
	first, last := p.wheelRows(), 0
	for range 40 {
		now = now.Add(10 * time.Millisecond)
		last = p.wheelRows()
	}
	if first != 2 || last != 16 {
		t.Errorf("from %d rows to %d, want from 2 to 16", first, last)
	}
	now = now.Add(time.Second)
	if n := p.wheelRows(); n != 2 {
		t.Errorf("after a rest a notch is %d rows", n)
	}
}

func TestCursor_Looks(t *testing.T) {
	if c := (Cursor{}).apply(nil); c != nil {
		t.Error("a cursor out of nothing")
	}
	if c := (Cursor{Line: true, NoBlink: true}).apply(tea.NewCursor(1, 2)); c.Shape != tea.CursorBar || c.Blink || c.X != 1 || c.Y != 2 {
		t.Errorf("%+v", c)
	}
	if c := (Cursor{Underline: true}).apply(tea.NewCursor(1, 2)); c.Shape != tea.CursorUnderline || !c.Blink {
		t.Errorf("%+v", c)
	}
}

func TestNamedColor(t *testing.T) {
	th := style.Default(true)
	for in, want := range map[string]style.Color{"accent": th.Accent, "#010203": style.RGB(1, 2, 3)} {
		if got, ok := namedColor(th, in); !ok || got != want {
			t.Errorf("%s: %v %v", in, got, ok)
		}
	}
	if _, ok := namedColor(th, "#12"); ok {
		t.Error("half a color counts")
	}
}
