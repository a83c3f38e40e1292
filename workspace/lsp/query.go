package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/termtext"
)

// Query is a question about a symbol.
type Query struct {
	Path   string // real path of a file; "" is any, where the question allows it
	Symbol string // its name, or Type.Method
	Line   int    // from 1; 0 is not known
}

// Place is a location with the text of its line.
type Place struct {
	Path string // real
	Line int    // from 1
	Text string
}

// Symbol is a named thing in a file.
type Symbol struct {
	Name      string
	Container string
	Kind      int // of the protocol
	Path      string
	Range     Range
}

// maxPlaces limits the places of an answer.
const maxPlaces = 100

// errNoServer says that no server handles a file.
var errNoServer = errors.New("no language server for this file is installed, or the project must be trusted first (lathe debug lsp)")

// opened is a client with a file that it has open.
type opened struct {
	*client
	project Project
	path    string
	text    string
	starts  []int
}

// open returns the first server of a file that offers something, and shows it the file.
func (v *Servers) open(ctx context.Context, p Project, path string, offer func(serverCapabilities) json.RawMessage) (opened, error) {
	if !p.contains(path) {
		return opened{}, errors.New("the file is outside of the project")
	}
	err := errNoServer
	for _, s := range v.serversFor(p, path) {
		o, failed := s.show(ctx, p, path)
		if failed != nil {
			err = fmt.Errorf("%s: %w", s.launch.ID, failed)
			continue
		}
		if offers(offer(o.caps)) {
			return o, nil
		}
		err = fmt.Errorf("%s does not offer this", s.launch.ID)
	}
	return opened{}, err
}

// show has the server open a file as it is on disk.
func (s *server) show(ctx context.Context, p Project, path string) (opened, error) {
	o := opened{project: p, path: path}
	done := make(chan error, 1)
	ok := s.post(func(ctx context.Context) {
		c, err := s.ensure(ctx)
		if err == nil {
			s.refresh(ctx, c, &batch{})
			o.client = c
			o.text, err = s.openNow(ctx, c, path)
		}
		done <- err
	})
	if !ok {
		return o, errors.New("it does not keep up")
	}
	select {
	case err := <-done:
		o.starts = lines(o.text)
		return o, err
	case <-ctx.Done():
		return opened{}, errors.New("is still loading; try again later")
	}
}

// openNow opens a file that is not open yet and returns its text.
func (s *server) openNow(ctx context.Context, c *client, path string) (string, error) {
	s.mu.Lock()
	d := s.docs[path]
	s.mu.Unlock()
	if d != nil {
		return d.text, nil
	}
	stat := stampOf(path)
	data, err := readLimited(path, maxFile)
	if err != nil {
		return "", err
	}
	if err := c.open(ctx, path, string(data)); err != nil {
		return "", err
	}
	s.keep(path, string(data), stat)
	s.forgetOldest(ctx, c)
	return string(data), nil
}

// Definition returns where a symbol is defined.
func (v *Servers) Definition(ctx context.Context, p Project, q Query) ([]Place, error) {
	return v.places(ctx, p, q, "textDocument/definition", func(c serverCapabilities) json.RawMessage { return c.Definition })
}

// References returns where a symbol is used.
func (v *Servers) References(ctx context.Context, p Project, q Query) ([]Place, error) {
	return v.places(ctx, p, q, "textDocument/references", func(c serverCapabilities) json.RawMessage { return c.References })
}

// places asks for locations of a symbol.
func (v *Servers) places(ctx context.Context, p Project, q Query, method string, offer func(serverCapabilities) json.RawMessage) ([]Place, error) {
	o, at, err := v.locate(ctx, p, q, offer)
	if err != nil {
		return nil, err
	}
	params := referenceParams{positionParams: at}
	params.Context.IncludeDeclaration = true
	var raw json.RawMessage
	if err := o.call(ctx, method, params, &raw); err != nil {
		return nil, err
	}
	return o.read(readLocations(raw)), nil
}

// Hover returns the description of a symbol.
func (v *Servers) Hover(ctx context.Context, p Project, q Query) (string, error) {
	o, at, err := v.locate(ctx, p, q, func(c serverCapabilities) json.RawMessage { return c.Hover })
	if err != nil {
		return "", err
	}
	var got struct {
		Contents json.RawMessage `json:"contents"`
	}
	if err := o.call(ctx, "textDocument/hover", at, &got); err != nil {
		return "", err
	}
	return hoverText(got.Contents), nil
}

// hoverText reads the forms that a description may have.
func hoverText(raw json.RawMessage) string {
	const most = 2000
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var out []string
	for _, item := range list[:min(len(list), maxItems)] {
		var text string
		var marked struct{ Value string }
		if json.Unmarshal(item, &text) != nil {
			_ = json.Unmarshal(item, &marked) // anything else is nothing
			text = marked.Value
		}
		if text != "" {
			out = append(out, text)
		}
	}
	text := strings.Join(out, "\n\n")
	if len(text) > 4*most {
		text = strings.ToValidUTF8(text[:4*most], "")
	}
	return termtext.Clip(strings.TrimSpace(termtext.PlainText(text)), most)
}

// locate finds the place of the symbol that a query is about.
func (v *Servers) locate(ctx context.Context, p Project, q Query, offer func(serverCapabilities) json.RawMessage) (opened, positionParams, error) {
	if q.Path == "" {
		found, err := v.exactSymbol(ctx, p, q.Symbol)
		if err != nil {
			return opened{}, positionParams{}, err
		}
		q.Path, q.Line = found.Path, found.Range.Start.Line+1
		q.Symbol = lastName(found.Name)
	}
	o, err := v.open(ctx, p, q.Path, offer)
	if err != nil {
		return o, positionParams{}, err
	}
	at, err := o.find(ctx, q)
	return o, positionParams{textDocument{uriOf(q.Path)}, at}, err
}

// exactSymbol finds the one symbol of the project with a name.
func (v *Servers) exactSymbol(ctx context.Context, p Project, name string) (Symbol, error) {
	if name == "" {
		return Symbol{}, errors.New("name the symbol, or the file and the line")
	}
	all, err := v.Symbols(ctx, p, lastName(name))
	if err != nil {
		return Symbol{}, err
	}
	for _, s := range all {
		if s.isNamed(name) {
			return s, nil
		}
	}
	return Symbol{}, fmt.Errorf("no symbol named %s was found by the running language servers; name its file", clean(name, 60))
}

// lastName is the part of a name after its last dot.
func lastName(name string) string { return name[strings.LastIndexAny(name, ".:")+1:] }

// isNamed reports whether a symbol has a name: its own, or that with its container.
func (s Symbol) isNamed(name string) bool {
	plain := strings.NewReplacer("(", "", ")", "", "*", "", "::", ".").Replace
	own, want := plain(s.Name), plain(name)
	return own == want || strings.HasSuffix(own, "."+want) || plain(s.Container)+"."+own == want || strings.HasSuffix(plain(s.Container)+"."+own, "."+want)
}

// find returns the position of a symbol in a file: in the given line, else where it is declared, else its first mention.
func (o opened) find(ctx context.Context, q Query) (Position, error) {
	if q.Line > len(o.starts) {
		return Position{}, fmt.Errorf("the file has only %d lines", len(o.starts))
	}
	if q.Line > 0 {
		line := lineAt(o.text, o.starts, q.Line-1)
		at := 0
		switch {
		case q.Symbol != "":
			if at = wordIn(line, lastName(q.Symbol)); at < 0 {
				return Position{}, fmt.Errorf("%s does not stand in line %d: %s", clean(q.Symbol, 60), q.Line, clean(line, 120))
			}
		default:
			at = len(line) - len(strings.TrimLeft(line, " \t"))
		}
		return o.enc.position(o.text, o.starts, o.starts[q.Line-1]+at), nil
	}
	if q.Symbol == "" {
		return Position{}, errors.New("name the symbol or its line")
	}
	if offers(o.caps.DocumentSymbol) {
		list, err := o.symbols(ctx)
		if err == nil {
			for _, s := range list {
				if s.isNamed(q.Symbol) {
					return o.nameIn(s), nil
				}
			}
		}
	}
	if at := wordIn(o.text, lastName(q.Symbol)); at >= 0 {
		return o.enc.position(o.text, o.starts, at), nil
	}
	return Position{}, fmt.Errorf("%s does not stand in this file", clean(q.Symbol, 60))
}

// nameIn is the position of a symbol's name: some servers give the range of the whole declaration.
func (o opened) nameIn(s Symbol) Position {
	from, to := o.enc.offset(o.text, o.starts, s.Range.Start), o.enc.offset(o.text, o.starts, s.Range.End)
	if to > from {
		if at := wordIn(o.text[from:to], lastName(strings.NewReplacer("(", "", ")", "", "*", "").Replace(s.Name))); at >= 0 {
			return o.enc.position(o.text, o.starts, from+at)
		}
	}
	return s.Range.Start
}

// wordIn finds a whole word in a text; -1 if it is not there.
func wordIn(text, word string) int {
	if word == "" {
		return -1
	}
	isPart := func(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return -1
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if (at == 0 || !isPart(before)) && (at+len(word) == len(text) || !isPart(after)) {
			return at
		}
		from = at + len(word)
	}
}

// read turns locations into places, with lines of files inside the project only.
func (o opened) read(list []location) (out []Place) {
	cache := map[string][]string{}
	for _, l := range list {
		path, ok := pathOf(l.URI)
		if !ok {
			continue
		}
		if len(out) == maxPlaces {
			break
		}
		at := Place{Path: path, Line: l.Range.Start.Line + 1}
		if inside := o.project.contains(realPath(path)); inside {
			if cache[path] == nil {
				data, _ := readLimited(path, maxFile) // without it there is no text
				cache[path] = strings.Split(string(data), "\n")
			}
			if n := l.Range.Start.Line; n >= 0 && n < len(cache[path]) {
				at.Text = clean(cache[path][n], 160)
			}
		}
		if !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// readLocations reads one location, a list of them, or a list of links.
func readLocations(raw json.RawMessage) []location {
	var list []location
	if json.Unmarshal(raw, &list) != nil {
		var one location
		if json.Unmarshal(raw, &one) != nil {
			return nil
		}
		list = []location{one}
	}
	for i := range list {
		if list[i].URI == "" {
			list[i].URI, list[i].Range = list[i].TargetURI, list[i].TargetRange
		}
	}
	return list
}

// fileExists reports whether a file exists, for edits of servers.
func fileExists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
