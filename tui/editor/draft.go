package editor

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/lathe-agent/lathe"
)

// Draft is an unsent prompt, as a value that can be saved as JSON.
type Draft struct {
	Input  string       `json:"input"` // with tokens as displayed
	Parts  []DraftToken `json:"parts,omitempty"`
	Mode   string       `json:"mode,omitempty"` // "shell", or "" for a prompt
	Cursor int          `json:"cursor,omitempty"`
}

// DraftToken is a token and the byte of the input at which it begins.
type DraftToken struct {
	At    int   `json:"at"`
	Token Token `json:"token"`
}

// shellMode marks the draft of a shell command.
const shellMode = "shell"

// IsEmpty reports whether there is nothing to save.
func (d Draft) IsEmpty() bool { return strings.TrimSpace(d.Input) == "" }

// WithoutLarge returns the draft without tokens larger than a limit; their text stays.
func (d Draft) WithoutLarge(most int) Draft {
	var parts []DraftToken
	for _, p := range d.Parts {
		if len(p.Token.Data)+len(p.Token.Body) <= most {
			parts = append(parts, p)
		}
	}
	d.Parts = parts
	return d
}

// Sent is the text of the prompt that the draft becomes: pastes stand in it in full.
func (d Draft) Sent() string {
	tx := text{buf: newBuffer(d.lines())}
	return tx.expand(0).text
}

// Files lists the files that are mentioned, as they were chosen.
func (d Draft) Files() []string {
	var out []string
	for _, p := range d.Parts {
		if p.Token.Kind == KindFile {
			out = append(out, p.Token.Path)
		}
	}
	return out
}

// draftOf makes a draft of a text.
func draftOf(b *buffer, shell bool, cursor pos) Draft {
	d := Draft{Input: b.text(), Cursor: b.offset(cursor)}
	if shell {
		d.Mode = shellMode
	}
	at := 0
	for _, l := range b.lines {
		for _, p := range l.toks {
			d.Parts = append(d.Parts, DraftToken{at + p.at, *p.tok})
		}
		at += len(l.text) + 1
	}
	return d
}

// lines parses the text of a draft. Drafts come from files, so invalid tokens are dropped.
func (d Draft) lines() []*line {
	if sanitize(d.Input) != d.Input {
		return plain(sanitize(d.Input)) // places in it mean nothing
	}
	out := plain(d.Input)
	row, start, least := 0, 0, 0
	for _, p := range d.Parts {
		tok, ok := p.Token.usable()
		if !ok || p.At < least || p.At > len(d.Input) || !strings.HasPrefix(d.Input[p.At:], tok.Text) {
			continue
		}
		for row+1 < len(out) && p.At > start+len(out[row].text) {
			start += len(out[row].text) + 1
			row++
		}
		out[row].toks = append(out[row].toks, placed{p.At - start, tok})
		least = p.At + len(tok.Text)
	}
	return out
}

// DraftOf makes a draft of a prompt that was sent, to send it again: its text, and tokens where the text names
// files and agents.
func DraftOf(parts []lathe.Part) Draft {
	var d Draft
	for _, p := range parts {
		if t, ok := p.Body.(*lathe.Text); ok && !t.Synthetic.On() && !t.Ignored.On() {
			d.Input = sanitize(t.Text)
			break
		}
	}
	least := 0
	for _, p := range parts {
		tok, at := tokenOf(p.Body)
		if tok == nil {
			continue
		}
		i := byteAt(d.Input, at.Start)
		if !strings.HasPrefix(d.Input[i:], tok.Text) { // the text was changed on its way
			if i = strings.Index(d.Input[min(least, len(d.Input)):], tok.Text); i < 0 {
				continue
			}
			i += least
		}
		if i >= least {
			d.Parts = append(d.Parts, DraftToken{i, *tok})
			least = i + len(tok.Text)
		}
	}
	d.Cursor = len(d.Input)
	return d
}

// tokenOf makes a token of a part that was mentioned in a text.
func tokenOf(b lathe.Body) (*Token, lathe.Mention) {
	var tok Token
	var at lathe.Mention
	switch b := b.(type) {
	case *lathe.AgentMention:
		if b.Source == nil {
			return nil, at
		}
		at = *b.Source
		tok = Token{Kind: KindAgent, Name: b.Name, Text: at.Value}
	case *lathe.File:
		if b.Source == nil {
			return nil, at
		}
		at = b.Source.Text
		if strings.HasPrefix(b.URL, "data:") {
			data, ok := dataOf(b.URL)
			if !ok {
				return nil, at
			}
			tok = Token{Kind: KindMedia, Name: b.Filename, Mime: b.Mime, Data: data, Text: at.Value}
			break
		}
		if b.Source.Type == "symbol" {
			tok = symbolOf(b)
			break
		}
		_, start, end := cutRange(at.Value)
		tok = Token{Kind: KindFile, Path: b.Source.Path, Start: start, End: end, Text: at.Value}
	default:
		return nil, at
	}
	if fit, ok := tok.usable(); ok {
		return fit, at
	}
	return nil, at
}

// dataOf decodes an address that holds its data itself, as we write it.
func dataOf(address string) ([]byte, bool) {
	head, data, ok := strings.Cut(address, ",")
	if !ok || !strings.HasSuffix(head, ";base64") {
		return nil, false
	}
	out, err := base64.StdEncoding.DecodeString(data)
	return out, err == nil
}

// byteAt finds the byte of a place in units of UTF-16.
func byteAt(s string, units int) int {
	for i, r := range s {
		if units <= 0 {
			return i
		}
		units -= utf16.RuneLen(r)
	}
	return len(s)
}

// units counts a text in units of UTF-16, as the wire does.
func units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// sanitizeLine is tidy for a text that stands in one line.
func sanitizeLine(s string) string { return strings.ReplaceAll(sanitize(s), "\n", " ") }

// sanitize cleans a text from any source: valid UTF-8, lines end with \n, and no control characters but
// tabs.
func sanitize(s string) string {
	bad := func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }
	if utf8.ValidString(s) && strings.IndexFunc(s, bad) < 0 {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsRune(s, 0x1b) {
		s = ansi.Strip(s) // colors of a log that was copied
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case bad(r):
			return -1
		default:
			return r
		}
	}, s)
}
