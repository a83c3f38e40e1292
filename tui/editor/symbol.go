package editor

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/fuzzy"
)

// Symbol is an @ suggestion from a language server.
type Symbol struct {
	Name       string
	Path       string // from the directory, or absolute
	Start, End int    // lines, from 1
	Kind       int    // of the Language Server Protocol
}

const (
	// symbolsAfter is how many files come before the symbols, of which the list has mostSymbols.
	symbolsAfter = 4
	mostSymbols  = 5
	// symbolLines is how much of a file a symbol stands for if its server knows only the line of its name.
	symbolLines = 40
)

// WantsSymbols reports whether a query may name a symbol.
func WantsSymbols(query string) bool { return len(query) > 1 && !strings.ContainsAny(query, "/\\") }

// SymbolsOf converts what a server found for suggestions. Paths below the directory are relative to it.
func SymbolsOf(found []api.Symbol, dir string) (out []Symbol) {
	dir = strings.TrimSuffix(slashPath(dir), "/") + "/"
	for _, s := range found {
		u, err := url.Parse(s.Location.URI)
		if err != nil || u.Scheme != "file" || u.Path == "" || len(out) == mostSymbols {
			continue
		}
		r := s.Location.Range
		one := Symbol{Name: sanitizeLine(s.Name), Path: strings.TrimPrefix(path.Clean(u.Path), dir), Start: r.Start.Line + 1, End: r.End.Line + 1, Kind: s.Kind}
		if one.Name == "" || one.Start < 1 {
			continue
		}
		if one.End <= one.Start {
			one.End = one.Start + symbolLines - 1
		}
		out = append(out, one)
	}
	return out
}

// SetSymbols sets the symbols that fit the query of WantFiles, best first. Results of an outdated query are dropped.
func (e *Editor) SetSymbols(query string, symbols []Symbol) {
	s := &e.sug
	if s.kind != mentionSuggest || query != s.fileQuery() {
		return
	}
	s.symbols, s.symbolsFor = slices.Clone(symbols), query
	s.fill()
}

// fillSymbols adds the symbols, below the first files.
func (s *suggest) fillSymbols(first int) {
	query := s.fileQuery()
	if !WantsSymbols(query) {
		return
	}
	letters := fuzzy.NewQuery(query)
	var fit []item
	for i := range s.symbols {
		if s.symbolsFor != query { // until the new results arrive, keep old ones that still match
			if _, ok := s.fits(letters, s.symbols[i].Name); !ok {
				continue
			}
		}
		fit = append(fit, item{symbol: &s.symbols[i]})
	}
	s.items = slices.Insert(s.items, min(first+symbolsAfter, len(s.items)), fit...)
}

// symbolToken stands for the lines of a symbol.
func symbolToken(s Symbol) *Token {
	return &Token{Kind: KindSymbol, Path: s.Path, Name: s.Name, Start: s.Start, End: s.End, Code: s.Kind, Text: "@" + s.Name}
}

// symbolPart is the lines of a symbol as a part of a prompt, with the members of OpenCode's source.
func (t *Token) symbolPart(dir string, at lathe.Mention) lathe.Body {
	place := func(line int) string { return fmt.Sprintf(`{"line":%d,"character":0}`, line-1) }
	more := fmt.Sprintf(`"range":{"start":%s,"end":%s},"name":%s,"kind":%d`, place(t.Start), place(t.End), lathe.AppendJSONString(nil, t.Name), t.Code)
	return &lathe.File{
		Mime: "text/plain", URL: t.fileURL(dir), Filename: t.Path,
		Source: &lathe.FileSource{Type: "symbol", Path: t.Path, Text: at, Extra: lathe.Extra(more)},
	}
}

// symbolOf makes a token of a part with a symbol, to send it again.
func symbolOf(f *lathe.File) Token {
	t := Token{Kind: KindSymbol, Path: f.Source.Path, Name: strings.TrimPrefix(f.Source.Text.Value, "@"), Text: f.Source.Text.Value}
	if u, err := url.Parse(f.URL); err == nil {
		t.Start, _ = strconv.Atoi(u.Query().Get("start")) // without it, it is the whole file
		t.End, _ = strconv.Atoi(u.Query().Get("end"))
	}
	return t
}
