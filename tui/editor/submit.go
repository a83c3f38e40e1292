package editor

import (
	"slices"
	"strings"
	"unicode"

	"github.com/lathe-agent/lathe"
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
	if e.isBlank() {
		return Nothing{}
	}
	d := e.Draft()
	first := e.buf.lines[0].text
	switch {
	case e.shell:
		line := e.expand(0).text
		e.clearSubmitted(d)
		return Shell{Line: line, Draft: d}
	case e.buf.size < 20 && isExitWord(strings.TrimSpace(d.Input)):
		e.Clear()
		return Quit{}
	case strings.HasPrefix(first, "/"):
		if out := e.submitCommand(first, d); out != nil {
			return out
		}
	}
	s := e.expand(0)
	parts := append([]lathe.Part{{Body: &lathe.Text{Text: s.text}}}, s.parts(e.dir)...)
	e.clearSubmitted(d)
	return Submit{Text: s.text, Parts: parts, Draft: d}
}

// clearSubmitted clears the prompt and adds it to the history.
func (e *Editor) clearSubmitted(d Draft) {
	e.Clear()
	e.hist.remember(d)
}

func isExitWord(s string) bool { return s == "exit" || s == "quit" || s == ":q" }

// submitCommand sends a text that begins with a slash; nil when no command has the name.
func (e *Editor) submitCommand(first string, d Draft) Result {
	name, _, _ := strings.Cut(strings.TrimPrefix(first, "/"), " ")
	name, _, _ = strings.Cut(name, "\t")
	i := slices.IndexFunc(e.sug.commands, func(c Command) bool { return c.Name == name || slices.Contains(c.Aliases, name) })
	if i < 0 {
		return nil
	}
	c := e.sug.commands[i]
	s := e.expand(len("/") + len(name))
	if c.Local {
		if s.text != "" && !c.Arguments {
			return nil
		}
		e.Clear()
		return RunCommand{Name: c.Name, Arguments: s.text}
	}
	parts := slices.DeleteFunc(s.parts(e.dir), func(p lathe.Part) bool {
		_, file := p.Body.(*lathe.File)
		return !file
	})
	e.clearSubmitted(d)
	return ServerCommand{Name: c.Name, Arguments: s.text, Parts: parts, Draft: d}
}
