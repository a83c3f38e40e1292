package dialog

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

// maxField is how many bytes a field holds, so that no paste makes its keys slow.
const maxField = 32 << 10

// Field is one line of text that is edited. The zero value is empty and ready.
type Field struct {
	text string // clean
	at   int    // byte offset of the cursor, between two characters
	left int    // cells scrolled out at the left
}

// Text returns the text.
func (f *Field) Text() string { return f.text }

// Set replaces the text; the cursor goes behind it.
func (f *Field) Set(text string) {
	f.text, f.at, f.left = "", 0, 0
	f.insert(text)
}

// Paste inserts a text of any kind; its lines become one.
func (f *Field) Paste(text string) { f.insert(strings.Trim(text, "\r\n\t ")) }

func (f *Field) insert(text string) {
	text = style.Clean(strings.ReplaceAll(text, "\r\n", "\n"))
	text = style.Prefix(text, maxField-len(f.text))
	f.text = f.text[:f.at] + text + f.text[f.at:]
	f.at = f.nextBoundary(f.at + len(text))
}

// Key edits the text. It reports whether the key was one for it.
func (f *Field) Key(m *key.Map, k tea.KeyPressMsg) bool {
	if key.IsTyped(k) {
		f.insert(k.Text)
		return true
	}
	name, ok := m.First(k, key.InputMoveLeft, key.InputMoveRight, key.InputLineHome, key.InputLineEnd,
		key.InputVisualLineHome, key.InputVisualLineEnd, key.InputBufferHome, key.InputBufferEnd,
		key.InputBackspace, key.InputDelete, key.InputDeleteLine, key.InputDeleteToLineEnd, key.InputDeleteToLineStart,
		key.InputWordForward, key.InputWordBackward, key.InputDeleteWordForward, key.InputDeleteWordBackward)
	switch {
	case ok:
		f.do(name)
	case key.IsComposed(k):
		f.insert(k.Text)
	default:
		return false
	}
	return true
}

// do runs a named editing key.
func (f *Field) do(name key.Name) {
	switch name {
	case key.InputMoveLeft:
		f.at = f.before(f.at)
	case key.InputMoveRight:
		f.at = f.after(f.at)
	case key.InputLineHome, key.InputVisualLineHome, key.InputBufferHome:
		f.at = 0
	case key.InputLineEnd, key.InputVisualLineEnd, key.InputBufferEnd:
		f.at = len(f.text)
	case key.InputBackspace:
		f.cut(f.before(f.at), f.at)
	case key.InputDelete:
		f.cut(f.at, f.after(f.at))
	case key.InputDeleteLine:
		f.cut(0, len(f.text))
	case key.InputDeleteToLineEnd:
		f.cut(f.at, len(f.text))
	case key.InputDeleteToLineStart:
		f.cut(0, f.at)
	case key.InputWordForward:
		f.at = f.wordEnd()
	case key.InputWordBackward:
		f.at = f.wordStart()
	case key.InputDeleteWordForward:
		f.cut(f.at, f.wordEnd())
	case key.InputDeleteWordBackward:
		f.cut(f.wordStart(), f.at)
	}
}

func (f *Field) cut(from, to int) {
	f.text = f.text[:from] + f.text[to:]
	f.at = f.nextBoundary(from)
}

// before is where the character at the left of an offset begins.
func (f *Field) before(at int) int {
	last := 0
	for i := 0; i < at; {
		last = i
		i += firstSize(f.text[i:])
	}
	return last
}

func (f *Field) after(at int) int {
	if at >= len(f.text) {
		return len(f.text)
	}
	return at + firstSize(f.text[at:])
}

// nextBoundary moves an offset to the next character boundary: joined text may combine into one character.
func (f *Field) nextBoundary(at int) int {
	i := 0
	for i < at {
		i += firstSize(f.text[i:])
	}
	return i
}

func (f *Field) wordStart() int {
	head := strings.TrimRightFunc(f.text[:f.at], notInWord)
	return f.nextBoundary(len(strings.TrimRightFunc(head, inWord)))
}

func (f *Field) wordEnd() int {
	tail := strings.TrimLeftFunc(f.text[f.at:], notInWord)
	return f.nextBoundary(len(f.text) - len(strings.TrimLeftFunc(tail, inWord)))
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}
func notInWord(r rune) bool { return !inWord(r) }

// firstSize is how many bytes the first character of a text has, as a person counts characters.
func firstSize(s string) int {
	c, _, _ := style.Next(s)
	return len(c)
}

// View draws at most width cells around the cursor and tells its column among them.
func (f *Field) View(a style.Attr, width int) (line style.Line, cursor int) {
	return f.draw(f.text, style.Width(f.text[:f.at]), a, width)
}

// Secret draws dots instead of the text.
func (f *Field) Secret(a style.Attr, width int) (line style.Line, cursor int) {
	all, before := 0, 0
	for i := 0; i < len(f.text); all++ {
		if i < f.at {
			before++
		}
		i += firstSize(f.text[i:])
	}
	return f.draw(strings.Repeat("•", all), before, a, width)
}

// draw scrolls the text so that the cursor stays visible.
func (f *Field) draw(text string, column int, a style.Attr, width int) (style.Line, int) {
	width = max(width, 1)
	switch whole := style.Width(text); {
	case whole < width:
		f.left = 0
	case column < f.left:
		f.left = column
	case column >= f.left+width: // the cursor stands behind the last cell
		f.left = column - width + 1
	}
	line := style.Line{{Text: text, Attr: a}}.Cut(f.left, f.left+width)
	return line, column - f.left
}

// Click puts the cursor at a column of the last drawing.
func (f *Field) Click(x int) {
	column := f.left + x
	at, used := 0, 0
	for at < len(f.text) {
		c, w, _ := style.Next(f.text[at:])
		if used+w > column {
			break
		}
		at, used = at+len(c), used+w
	}
	f.at = at
}
