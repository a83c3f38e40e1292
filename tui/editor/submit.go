package editor

import (
	"slices"
	"strings"
	"unicode"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// expanded is the text to send: pastes are inlined, and other tokens have positions.
type expanded struct {
	text string
	toks []DraftToken // by bytes of text
}

// expand writes the text out, from a byte of its first line on, without spaces around it.
func (tx *text) expand(from int) expanded {
	var b strings.Builder
	var out expanded
	for i, l := range tx.buf.lines {
		at := 0
		if i == 0 {
			at = from
		} else {
			b.WriteByte('\n')
		}
		for _, p := range l.toks {
			if p.at < at {
				continue
			}
			b.WriteString(l.text[at:p.at])
			at = p.end()
			if p.tok.Kind == KindPaste {
				b.WriteString(p.tok.Body)
				continue
			}
			out.toks = append(out.toks, DraftToken{b.Len(), *p.tok})
			b.WriteString(p.tok.Text)
		}
		b.WriteString(l.text[at:])
	}
	full := b.String()
	out.text = strings.TrimSpace(full)
	lost := len(full) - len(strings.TrimLeftFunc(full, unicode.IsSpace))
	for i := range out.toks {
		out.toks[i].At -= lost
	}
	return out
}

// parts makes parts of the tokens.
func (s expanded) parts(dir string) []lathe.Part {
	var out []lathe.Part
	done, n := 0, 0 // so that a long text is counted once
	for _, p := range s.toks {
		n += units(s.text[done:p.At])
		done = p.At
		if body := p.Token.part(dir, n, n+units(p.Token.Text)); body != nil {
			out = append(out, lathe.Part{Body: body})
		}
	}
	return out
}

// Submit sends the prompt, like the submit key.
func (e *Editor) Submit() Result {
	e.beforeChange()
	if e.isBlank() {
		return Nothing{}
	}
	d := e.Draft()
	first := e.buf.lines[0].text
	switch {
	case e.shell:
		line := e.expand(0).text
		clearSubmitted(e, d)
		return Shell{Line: line, Draft: d}
	case e.buf.size < 20 && isExitWord(strings.TrimSpace(d.Input)):
		e.Clear()
		return Quit{}
	case e.InMemory():
		line := e.expand(len("#")).text
		clearSubmitted(e, d)
		return Remember{Line: line, Draft: d}
	case strings.HasPrefix(first, "/"):
		if out := e.submitCommand(first, d); out != nil {
			return out
		}
	}
	return e.SubmitText()
}

// SubmitText sends the prompt as a text, without looking for a command in it. Of two slashes before a name, only the
// second is sent; a comment such as //go:build stays.
func (e *Editor) SubmitText() Result {
	d, from := e.Draft(), 0
	if rest, ok := strings.CutPrefix(e.buf.lines[0].text, "//"); ok && isCommandName(firstWord(rest)) && !strings.Contains(firstWord(rest), ":") {
		from = len("/")
	}
	s := e.expand(from)
	parts := append([]lathe.Part{{Body: &lathe.Text{Text: s.text}}}, s.parts(e.dir)...)
	clearSubmitted(e, d)
	return Submit{Text: s.text, Parts: parts, Draft: d}
}

// InMemory reports whether the text is a line to remember: one line that begins with # and is no issue number, no
// "##" and no "#!". A line with a space before the # is a prompt.
func (tx *text) InMemory() bool {
	rest, ok := strings.CutPrefix(tx.buf.lines[0].text, "#")
	if !ok || len(tx.buf.lines) > 1 || strings.HasPrefix(rest, "#") || strings.HasPrefix(rest, "!") {
		return false
	}
	return rest == "" || !unicode.IsDigit(rune(rest[0])) && len(tx.buf.lines[0].toks) == 0
}

func firstWord(s string) string {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i]
	}
	return s
}

// isCommandName reports whether a word after a slash can be the name of a command; a colon is in the names of MCP
// prompts. A path has more slashes, a file a dot.
func isCommandName(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("-_:", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// clearSubmitted clears the prompt and adds it to the history.
func clearSubmitted(e *Editor, d Draft) {
	e.Clear()
	e.hist.remember(d)
}

// isExitWord reports whether a whole prompt asks to exit, as in other programs.
func isExitWord(s string) bool { return s == "exit" || s == "quit" || s == ":q" }

// submitCommand runs the command that a text begins with; nil when the text names none, such as a path. A mistyped
// command stays in the editor.
func (e *Editor) submitCommand(first string, d Draft) Result {
	name := firstWord(first[len("/"):])
	i := slices.IndexFunc(e.sug.commands, func(c Command) bool { return c.Name == name || slices.Contains(c.Aliases, name) })
	if i < 0 {
		if !isCommandName(name) {
			return nil
		}
		return UnknownCommand{Name: name, Nearest: e.sug.nearest(name)}
	}
	c := e.sug.commands[i]
	s := e.expand(len("/") + len(name))
	if c.Local {
		if s.text != "" && !c.Arguments {
			return UnknownCommand{Name: name, Known: true}
		}
		e.Clear()
		return RunCommand{Name: c.Name, Arguments: s.text}
	}
	parts := slices.DeleteFunc(s.parts(e.dir), func(p lathe.Part) bool {
		_, file := p.Body.(*lathe.File)
		return !file
	})
	clearSubmitted(e, d)
	return ServerCommand{Name: c.Name, Arguments: s.text, Parts: parts, Draft: d}
}

// nearest is the command that a mistyped name most likely means.
func (s *suggest) nearest(name string) string {
	var all []string
	for _, c := range s.commands {
		if all = append(all, c.Name); !c.Hidden {
			all = append(all, c.Aliases...)
		}
	}
	return phrase.Nearest(strings.ToLower(name), all)
}
