package editor

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tui/style"
)

// Kind is the kind of a token.
type Kind string

// The kinds of tokens.
const (
	KindFile  Kind = "file"  // a file or folder, by its path
	KindAgent Kind = "agent" // an agent, by its name
	KindPaste Kind = "paste" // a text that replaces the token when it is sent
	KindMedia Kind = "media" // an image, a document or another attachment
	// KindSymbol is a symbol that a language server knows: lines of a file, by a name.
	KindSymbol Kind = "symbol"
)

// Token is an immutable placeholder in the prompt.
type Token struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"` // as it is shown: one line, not empty

	Path  string `json:"path,omitempty"`  // of a file, as it was chosen
	Start int    `json:"start,omitempty"` // first line of a range, from 1
	End   int    `json:"end,omitempty"`   // last line of it
	Name  string `json:"name,omitempty"`  // of an agent, of a symbol, or of the file that media came from
	Code  int    `json:"code,omitempty"`  // kind of a symbol
	Body  string `json:"body,omitempty"`  // the pasted text
	Mime  string `json:"mime,omitempty"`
	Data  []byte `json:"data,omitempty"`
}

// usable sanitizes a token from a file.
func (t Token) usable() (*Token, bool) {
	t.Text = sanitizeLine(t.Text)
	switch t.Kind {
	case KindFile, KindAgent, KindPaste, KindMedia, KindSymbol:
		return &t, t.Text != ""
	default:
		return nil, false
	}
}

var rangeForm = phrase.Regexp(`#L?(\d{1,7})(?:-L?(\d{1,7})?)?$`)

// cutRange takes a range of lines off the end of a path.
func cutRange(s string) (file string, start, end int) {
	m := rangeForm().FindStringSubmatchIndex(s)
	if m == nil {
		return s, 0, 0
	}
	start, _ = strconv.Atoi(s[m[2]:m[3]])
	if end = start; m[4] >= 0 {
		end, _ = strconv.Atoi(s[m[4]:m[5]])
	}
	if start < 1 || end < start {
		return s[:m[0]], 0, 0
	}
	return s[:m[0]], start, end
}

// fileToken stands for a file, or for lines of it.
func fileToken(file string, start, end int) *Token {
	t := &Token{Kind: KindFile, Path: file, Text: "@" + sanitizeLine(file), Start: start, End: end}
	switch {
	case start > 0 && end > start:
		t.Text += fmt.Sprintf("#%d-%d", start, end)
	case start > 0:
		t.Text += fmt.Sprintf("#%d", start)
	}
	return t
}

func agentToken(name string) *Token {
	return &Token{Kind: KindAgent, Name: name, Text: "@" + sanitizeLine(name)}
}

// part converts a token to a message part, with its position in UTF-16 units; nil when the text
// is enough.
func (t *Token) part(dir string, start, end int) lathe.Body {
	at := lathe.Mention{Value: t.Text, Start: start, End: end}
	switch t.Kind {
	case KindAgent:
		return &lathe.AgentMention{Name: t.Name, Source: &at}
	case KindFile:
		f := &lathe.File{
			Mime: "text/plain", URL: t.fileURL(dir), Filename: t.Path,
			Source: &lathe.FileSource{Type: "file", Path: t.Path, Text: at},
		}
		if strings.HasSuffix(t.Path, "/") {
			f.Mime = "application/x-directory"
		}
		return f
	case KindSymbol:
		return t.symbolPart(dir, at)
	case KindMedia:
		return &lathe.File{
			Mime: t.Mime, Filename: t.Name,
			URL:    "data:" + t.Mime + ";base64," + base64.StdEncoding.EncodeToString(t.Data),
			Source: &lathe.FileSource{Type: "file", Path: t.Name, Text: at},
		}
	default:
		return nil
	}
}

// fileURL names the file for the engine, whose directory may be on another system than ours.
func (t *Token) fileURL(dir string) string {
	file := slashPath(t.Path)
	if !strings.HasPrefix(file, "/") {
		file = strings.TrimSuffix(slashPath(dir), "/") + "/" + strings.TrimPrefix(file, "./")
	}
	if cleaned := path.Clean(file); cleaned != "/" && strings.HasSuffix(file, "/") {
		file = cleaned + "/"
	} else {
		file = cleaned
	}
	u := url.URL{Scheme: "file", Path: file}
	if t.Start > 0 {
		u.RawQuery = fmt.Sprintf("start=%d&end=%d", t.Start, max(t.Start, t.End))
	}
	return u.String()
}

// slashPath writes a path of Windows as addresses do; others stay as they are.
func slashPath(p string) string {
	if len(p) >= 2 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z' {
		return "/" + strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// look is the color of a token.
func (t *Token) look(th *style.Theme) style.Attr {
	switch t.Kind {
	case KindAgent:
		return style.Bold(th.Accent)
	case KindFile, KindSymbol:
		return style.Bold(th.Warning)
	default:
		return style.Attr{FG: th.Background.Or(th.SelectedText), BG: th.Secondary, Bold: true}
	}
}
