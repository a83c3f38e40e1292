package markdown

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"
)

// language describes a language for the lexer.
type language struct {
	words    map[string]kind // keywords, types and constants
	lines    []string        // line comment markers
	blocks   []block
	strings  []quote // longer openings first
	prefixes string  // letters that may stand before a string, separated by spaces
	extra    string  // further characters of names

	folds     bool // keywords in any case
	caps      bool // a name with a capital is a type
	dollar    bool // $name is a variable
	bang      bool // name! is a call
	spaced    bool // comments need a space before them
	keys      bool // a string before a colon is a key
	colonKeys bool // a name before a colon is a key
	markup    bool // tags

	head  func(line string) (int, kind) // classifies the start of a line
	whole func(line string) kind        // for languages of whole lines
}

type block struct {
	open, close string
	nests       bool
	first       bool // only at the beginning of a line
}

type quote struct {
	open, close string
	escape      bool // a backslash takes the next character along
	long        bool // reaches over the end of the line
	char        bool // one character, otherwise no string at all
}

// lookup finds a language by the name in a fence, by an ending or by a path; nil if it is not known.
func lookup(name string) *language {
	name = strings.ToLower(strings.TrimSpace(name))
	if i := strings.IndexAny(name, " {,:\t"); i > 0 {
		name = name[:i]
	}
	if name == "" {
		return nil
	}
	base := path.Base(strings.ReplaceAll(name, "\\", "/"))
	for _, key := range []string{name, base, strings.TrimPrefix(path.Ext(base), "."), stem(base)} {
		if build := languages()[key]; build != nil {
			return build()
		}
	}
	return nil
}

// stem is a name without its ending, for files as Dockerfile.dev; "" where the ending says more.
func stem(base string) string {
	s := strings.TrimSuffix(base, path.Ext(base))
	if s == "dockerfile" || s == "makefile" || s == "containerfile" {
		return s
	}
	return ""
}

//go:embed languages.txt
var languageText string

// languages has each under all its names and endings. They are built one by one, when they are first asked for.
var languages = sync.OnceValue(func() map[string]func() *language {
	out := map[string]func() *language{}
	for text := range strings.SplitSeq(languageText, "\n\n") {
		if text[0] == ';' {
			continue
		}
		names, text, _ := strings.Cut(text, "\n")
		all := strings.Fields(names)
		build := sync.OnceValue(func() *language { return readLanguage(all[0], text) })
		for _, name := range all {
			out[name] = build
		}
	}
	return out
})

// readLanguage makes the language of a paragraph of the table.
func readLanguage(name, text string) *language {
	l := &language{words: map[string]kind{}, head: heads(name)}
	if name == "diff" {
		l.whole = diffLine
	}
	for line := range strings.Lines(text) {
		what, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		list := strings.Fields(rest)
		has := func(trait string) bool { return slices.Contains(list, trait) }
		switch what {
		case "keywords":
			l.name(keyword, list)
		case "types":
			l.name(typ, list)
		case "constants":
			l.name(number, list)
		case "comment":
			l.lines = list
		case "block":
			l.blocks = append(l.blocks, block{open: list[0], close: list[1], nests: has("nests"), first: has("first")})
		case "string":
			l.strings = append(l.strings, quote{open: list[0], close: list[1], escape: has("escape"), long: has("long"), char: has("char")})
		case "prefixes":
			l.prefixes = rest
		case "extra":
			l.extra = rest
		case "traits":
			l.folds, l.caps, l.dollar, l.bang = has("folds"), has("caps"), has("dollar"), has("bang")
			l.spaced, l.keys, l.colonKeys, l.markup = has("spaced"), has("keys"), has("colonKeys"), has("markup")
		}
	}
	return l
}

func (l *language) name(k kind, words []string) {
	for _, w := range words {
		l.words[w] = k
	}
}
