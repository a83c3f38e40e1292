package mini

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/inline"
	"github.com/lathe-agent/lathe/tui/report"
)

// linearFace prints the conversation line by line, for screen readers. It never moves the cursor, and the terminal
// itself edits the lines that the user types.
type linearFace struct {
	p        *program
	linear   *inline.Linear
	prompted bool // the cursor stands behind the prompt
	out      bytes.Buffer

	question *spokenAsk // the open request; nil for none
	picking  *picker
}

// promptSign stands before the line that the user types.
const promptSign = "> "

func newLinear(p *program) *linearFace {
	l := &linearFace{p: p}
	l.linear = inline.NewLinear(l.say)
	return l
}

// say prints one line.
func (l *linearFace) say(text string) {
	if l.prompted {
		l.out.WriteString("\n")
		l.prompted = false
	}
	l.out.WriteString(termtext.PlainText(text) + "\n")
}

// begin says how to start.
func (l *linearFace) begin() {
	l.say("lathe, accessible mode. Type a prompt and press Enter. /help lists the commands. Ctrl-D leaves.")
	l.draw(true)
}

// end prints the rest of the last text.
func (l *linearFace) end() {
	l.linear.Flush()
	l.p.hint = ""
	if l.prompted {
		l.out.WriteString("\n")
	}
	l.write()
}

// write sends whole lines in one piece, so that a reader hears them together.
func (l *linearFace) write() {
	_, _ = l.p.o.Out.Write(l.out.Bytes()) // a terminal that is gone ends the input, too
	l.out.Reset()
}

// event tells an event in lines.
func (l *linearFace) event(ev lathe.Event, own bool) {
	l.linear.Thinking = l.p.thinking
	if own {
		l.linear.Own(ev.Fact)
		return
	}
	title := string(lathe.SessionOf(ev.Fact))
	if s, ok := l.p.state.Session(lathe.SessionOf(ev.Fact)); ok {
		title = s.Title
	}
	l.linear.Child(title, ev.Fact)
}

// note prints a notice. Commas are read aloud better than dots.
func (l *linearFace) note(text string) {
	l.linear.Flush()
	l.say(strings.ReplaceAll(text, " · ", ", "))
}

// prompt prints only what the user did not type as it is.
func (l *linearFace) prompt(text, how string) {
	if how != "" {
		l.say("Prompt " + strings.Trim(how, "()") + ": " + text)
	}
}

// print prints Markdown without the signs that a reader would spell.
func (l *linearFace) print(markdown string) {
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			continue
		}
		l.say(strings.ReplaceAll(strings.TrimPrefix(line, "- "), "`", ""))
	}
}

// report prints the rows of a report without its bar and signs. Columns become commas.
func (l *linearFace) report(rows func(width int) []report.Row) {
	for _, r := range rows(80) {
		text := strings.TrimLeftFunc(r.String(), func(c rune) bool {
			return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("$~/", c)
		})
		if text != "" {
			cells := slices.DeleteFunc(strings.Split(text, "  "), func(c string) bool { return strings.TrimSpace(c) == "" })
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			l.say(strings.Join(cells, ", "))
		}
	}
}

// restore prints the draft, since the line of the terminal cannot be set.
func (l *linearFace) restore(d editor.Draft) { l.say("Undone prompt: " + d.Input) }

// keep forgets a line that was not sent, since the user cannot edit it. The history has it.
func (l *linearFace) keep() {
	sender{l.p}.addHistory(l.p.edit.Draft())
	l.p.edit.Clear()
}

func (l *linearFace) keyHelp() string {
	return "! before a line runs a shell command. @ before a path mentions a file. A line that ends with a backslash continues in the next. " +
		"A prompt during a turn steers it. Ctrl-C interrupts the turn, twice leaves. Ctrl-D leaves."
}

// pick prints a numbered list.
func (l *linearFace) pick(pick *picker) {
	l.picking = pick
	if pick == nil {
		return
	}
	l.say(pick.title + ":")
	for i, it := range pick.items {
		line := fmt.Sprintf("%d: %s", i+1, it.Title)
		for _, more := range []string{it.Detail, it.Right} {
			if more != "" {
				line += ", " + more
			}
		}
		if it.ID == pick.current {
			line += " (current)"
		}
		l.say(termtext.OneLine(line))
	}
	l.say("Type a number, or press Enter to keep the current one.")
}

// ask prints a request, and waits for its answer.
func (l *linearFace) ask(group []lathe.Fact, from string) {
	l.question = nil
	if group != nil {
		l.linear.Flush()
		l.question = newSpokenAsk(l.p, group, from, l.say)
	}
}

// handle takes a line.
func (l *linearFace) handle(in any) {
	switch in := in.(type) {
	case interrupted:
		l.prompted = false
		l.say("")
		l.p.interrupt()
	case line:
		l.prompted = false
		l.line(in.text)
	case tea.KeyPressMsg, tea.PasteMsg:
	}
}

// line gives a line to the list, the request or the prompt.
func (l *linearFace) line(text string) {
	switch {
	case l.picking != nil:
		l.takeNumber(strings.TrimSpace(text))
	case l.question != nil:
		out := l.question.answer(text, l.p.o.Now())
		if _, open := out.(ask.None); !open {
			l.question = nil // before the engine says so, no other line is an answer
			l.p.answer(out)
		}
	default:
		l.takeLine(text)
	}
}

// takeNumber takes the number of an entry.
func (l *linearFace) takeNumber(text string) {
	n, err := strconv.Atoi(text)
	switch {
	case text == "":
		l.p.chosen("")
	case err != nil || n < 1 || n > len(l.picking.items):
		l.say("Type a number from 1 to " + strconv.Itoa(len(l.picking.items)) + ", or press Enter.")
	default:
		l.p.chosen(l.picking.items[n-1].ID)
	}
}

// takeLine takes a line of a prompt. A backslash at its end continues it.
func (l *linearFace) takeLine(text string) {
	e := l.p.edit
	more := strings.HasSuffix(text, `\`)
	text = strings.TrimSuffix(text, `\`)
	// The editor makes the same of it as of typed keys, so that both faces have the same commands.
	if rest, ok := strings.CutPrefix(text, "!"); ok && e.IsEmpty() {
		e.Restore(editor.Draft{Input: rest, Mode: "shell"})
	} else {
		for i, part := range mentions(text) {
			if i%2 == 1 {
				e.Mention(part)
			} else {
				e.Insert(part)
			}
		}
	}
	if more {
		e.Insert("\n")
		return
	}
	sender{l.p}.carryOut(e.Submit())
}

// draw prints the prompt when the user is expected to type.
func (l *linearFace) draw(bool) {
	if l.p.hint != "" {
		l.say(l.p.hint)
		l.p.hint = ""
	}
	if l.isExpecting() && !l.prompted {
		l.out.WriteString(promptSign)
		l.prompted = true
	}
	if l.out.Len() > 0 {
		l.write()
	}
}

// isExpecting reports whether the user is to type: an answer, or a prompt when nothing runs.
func (l *linearFace) isExpecting() bool {
	idle := !l.p.isBusy() && !l.p.turn.sent && l.p.active == 0 && l.p.state.Loaded
	return idle || l.question != nil || l.picking != nil
}

func (l *linearFace) interval() (time.Duration, bool) { return 0, false }
func (l *linearFace) tick()                           {}

// mentions splits a line at the paths behind an @: text, path, text and so on.
func mentions(text string) (out []string) {
	at := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || i > 0 && text[i-1] != ' ' && text[i-1] != '\n' {
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != ' ' && text[end] != '\n' {
			end++
		}
		if end > i+1 {
			out = append(out, text[at:i], text[i+1:end])
			at, i = end, end
		}
	}
	return append(out, text[at:])
}
