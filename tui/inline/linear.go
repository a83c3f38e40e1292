package inline

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/style"
)

// Linear tells a turn in lines, for screen readers: nothing that was printed changes, nothing moves, and no sign
// stands for a word. Make one with NewLinear.
type Linear struct {
	Print    func(line string)
	Thinking bool // reasoning is printed

	reasoning map[lathe.PartID]bool
	texts     map[lathe.PartID]string // the last line of each text, not printed yet
	begun     map[lathe.PartID]bool   // calls whose start was announced, and texts
	summary   lathe.MessageID
}

// NewLinear returns a Linear that prints with a function.
func NewLinear(print func(line string)) *Linear {
	return &Linear{Print: print, reasoning: map[lathe.PartID]bool{}, texts: map[lathe.PartID]string{}, begun: map[lathe.PartID]bool{}}
}

// Own tells an event of the session itself.
func (l *Linear) Own(f lathe.Fact) {
	switch f := f.(type) {
	case *lathe.MessageChanged:
		if m, ok := f.Info.Data.(*lathe.Assistant); ok && m.Summary.On() {
			l.summary = f.Info.ID
		}
	case *lathe.PartDelta:
		if f.Message != l.summary && (l.Thinking || !l.reasoning[f.Part]) {
			l.grow(f.Part, f.Delta)
		}
	case *lathe.PartChanged:
		l.part(f.Part, "")
	case *lathe.PartRemoved:
		if l.begun[f.Part] {
			delete(l.texts, f.Part)
			l.Print("Connection lost. The last text is repeated.")
		}
	default:
	}
}

// Child tells an event of a session that works for this one.
func (l *Linear) Child(title string, f lathe.Fact) {
	if f, ok := f.(*lathe.PartChanged); ok {
		if _, ok := f.Part.Body.(*lathe.ToolCall); ok {
			l.part(f.Part, "Task "+termtext.OneLine(title)+", ")
		}
	}
}

func (l *Linear) part(p lathe.Part, who string) {
	switch b := p.Body.(type) {
	case *lathe.Text:
		if p.Message == l.summary || !IsAnswer(b) {
			return
		}
		if !l.begun[p.ID] {
			l.grow(p.ID, b.Text)
		}
		l.flush(p.ID)
	case *lathe.Reasoning:
		l.reasoning[p.ID] = b.Time.End == 0
		if b.Time.End != 0 {
			l.flush(p.ID)
		}
	case *lathe.ToolCall:
		if !IsCompacted(b) {
			l.call(p.ID, b, who)
		}
	default:
	}
}

// grow prints the finished lines of a text.
func (l *Linear) grow(id lathe.PartID, more string) {
	l.begun[id] = true
	text := l.texts[id] + termtext.PlainText(more)
	for {
		line, rest, ended := strings.Cut(text, "\n")
		if !ended {
			break
		}
		l.Print(line)
		text = rest
	}
	l.texts[id] = text
}

// flush prints the last line of a text.
func (l *Linear) flush(id lathe.PartID) {
	if rest := l.texts[id]; strings.TrimSpace(rest) != "" {
		l.Print(rest)
	}
	delete(l.texts, id)
}

// Flush prints the last lines of all texts.
func (l *Linear) Flush() {
	for id := range l.texts {
		l.flush(id)
	}
}

// call announces the start of a call that may take long, and the end of every call.
func (l *Linear) call(id lathe.PartID, c *lathe.ToolCall, who string) {
	s := NewScreen(Options{})
	k := &call{}
	s.update(k, c)
	name := "Tool: " + strings.TrimSpace(k.tool+" "+termtext.Clip(k.title, 200))
	switch {
	case c.Settled():
		end := "done"
		if _, failed := c.State.(*lathe.Failed); failed {
			end = "failed"
		}
		line := fmt.Sprintf("%s%s, %s in %s", who, name, end, Elapsed(max(0, k.took)))
		if how := spoken(k); how != "" {
			line += ", " + how
		}
		l.Print(line)
	case k.title != "" && (c.Tool == "bash" || c.Tool == "task") && !l.begun[id]:
		l.begun[id] = true
		l.Print(who + name + ", started")
	}
}

// spoken is the result of a call in words.
func spoken(k *call) string {
	text := termtext.Clip(style.Clean(k.result.Text()), 300)
	if k.tool == "bash" && k.mark == "✓" {
		return cmp.Or(text, "exit 0")
	}
	if added, removed, ok := strings.Cut(text, " −"); ok && strings.HasPrefix(added, "+") {
		return strings.TrimPrefix(added, "+") + " lines added, " + removed + " removed"
	}
	return text
}
