package editor

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// From these sizes on a paste becomes a token.
const (
	pasteLines = 3
	pasteChars = 151
)

// Paste handles a pasted text, or files dropped onto the terminal, which arrive as paths.
func (e *Editor) Paste(text string) Result {
	if e.find.on {
		e.pasteQuery(text)
		return Nothing{}
	}
	text = sanitize(text)
	if !e.shell {
		if files := droppedFiles(text); len(files) > 1 {
			return WantDropped{Paths: files, Text: text}
		}
		if file, ok := droppedFile(text); ok {
			if IsMedia(file) {
				return WantDropped{Paths: []string{file}, Text: text}
			}
			if strings.HasPrefix(strings.TrimSpace(text), "file://") {
				return e.Mention(file)
			}
		}
	}
	return e.PasteText(text)
}

// Mention puts a file into the prompt by its path.
func (e *Editor) Mention(file string) Result {
	e.beforeChange()
	e.putToken(fileToken(file, 0, 0))
	return e.updateSuggestions(true)
}

// PasteText inserts a pasted plain text.
func (e *Editor) PasteText(text string) Result {
	e.beforeChange()
	text = sanitize(text)
	if text == "" {
		return Nothing{}
	}
	if lines := strings.Count(strings.TrimSpace(text), "\n") + 1; !e.shell && !e.rawPaste &&
		(lines >= pasteLines || len(text) >= pasteChars && utf8.RuneCountInString(text) >= pasteChars) {
		e.putToken(&Token{Kind: KindPaste, Text: fmt.Sprintf("[Pasted ~%d lines]", lines), Body: text})
		return e.updateSuggestions(true)
	}
	from, to := e.selection()
	e.editAlone(from, to, plain(text))
	e.vi.machine.NotePaste(text)
	return e.updateSuggestions(true)
}

// droppedFile reads a paste as the path of one file, in the ways terminals and shells write them.
func droppedFile(text string) (string, bool) {
	s := strings.TrimSpace(text)
	if s == "" || len(s) > 4096 || strings.Contains(s, "\n") {
		return "", false
	}
	if strings.HasPrefix(s, "file://") {
		u, err := url.Parse(s)
		if err != nil || u.Path == "" || u.Host != "" && u.Host != "localhost" {
			return "", false
		}
		return u.Path, true
	}
	if q := s[0]; len(s) > 2 && (q == '\'' || q == '"') && s[len(s)-1] == q {
		s = s[1 : len(s)-1]
		if q == '\'' {
			s = strings.ReplaceAll(s, `'\''`, "'")
		}
		return s, isRooted(s)
	}
	if !isRooted(s) {
		return "", false
	}
	if s[0] == '/' || s[0] == '~' {
		return unescape(s)
	}
	return s, true
}

// droppedFiles reads a paste as the paths of several files, each as droppedFile has it, with spaces between them; nil
// if any of it is something else.
func droppedFiles(text string) (files []string) {
	rest := strings.TrimSpace(text)
	if len(rest) > 64<<10 {
		return nil
	}
	for rest != "" {
		n := wordEnd(rest)
		file, ok := droppedFile(rest[:n])
		if !ok || strings.HasPrefix(file, "./") { // not a dropped file
			return nil
		}
		files = append(files, file)
		rest = strings.TrimLeft(rest[n:], " ")
	}
	return files
}

// wordEnd is where the first word of a command line ends. Paths of Windows have no escapes.
func wordEnd(s string) int {
	quote, escapes := byte(0), slashPath(s) == s
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && escapes && quote == 0:
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ':
			return i
		}
	}
	return len(s)
}

// isRooted reports whether a text begins like the path of a file and not like a sentence.
func isRooted(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "./") || slashPath(s) != s
}

// unescape takes the backslashes of a shell out. A space without one is no part of a path.
func unescape(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
		case s[i] == ' ':
			return "", false
		}
		b.WriteByte(s[i])
	}
	return b.String(), true
}

// IsMedia reports whether a file is attached as media, by its name.
func IsMedia(file string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".avif", ".heic", ".pdf", ".svg"}, strings.ToLower(path.Ext(file)))
}

// Attach puts a picture, a document or any other file into the prompt.
func (e *Editor) Attach(name, mime string, data []byte) Result {
	e.beforeChange()
	name = sanitizeLine(path.Base(strings.ReplaceAll(name, `\`, "/")))
	mime, _, _ = strings.Cut(mime, ";")
	t := &Token{Kind: KindMedia, Name: name, Mime: mime, Data: data}
	switch {
	case mime == "image/svg+xml", strings.HasPrefix(mime, "text/") && strings.EqualFold(path.Ext(name), ".svg"):
		t = &Token{Kind: KindPaste, Text: "[SVG: " + name + "]", Name: name, Body: sanitize(string(data))}
	case strings.HasPrefix(mime, "image/"):
		t.Text = fmt.Sprintf("[Image %d]", 1+e.countMedia("image/"))
	case mime == "application/pdf":
		t.Text = fmt.Sprintf("[PDF %d]", 1+e.countMedia("application/pdf"))
	case strings.HasPrefix(mime, "text/"):
		return e.PasteText(string(data))
	default:
		t.Text = "[File: " + name + "]"
	}
	e.putToken(t)
	return e.updateSuggestions(true)
}

// SetEdited sets a text from the external editor. Tokens whose text is unchanged stay tokens.
func (e *Editor) SetEdited(text string) {
	e.beforeChange()
	text = strings.TrimRight(sanitize(text), "\n")
	d := Draft{Input: text}
	at := 0
	for _, t := range e.tokens() { // one that was moved before another is text afterwards
		if i := strings.Index(text[at:], t.Text); i >= 0 {
			d.Parts = append(d.Parts, DraftToken{at + i, *t})
			at += i + len(t.Text)
		}
	}
	e.editAlone(pos{}, e.buf.end(), d.lines())
	e.sug.close()
}
