package markdown

import (
	"strings"

	"github.com/lathe-agent/lathe/tui/style"
)

// Lexer colors code line by line. Its only state is a construct that spans lines (a comment, a long string),
// so a copy of it is a position to return to. The zero value has no
// language.
type Lexer struct {
	lang *language
	st   lexState
}

// lexState is the state carried from one line to the next.
type lexState struct {
	mode  lexMode
	arg   uint8 // which string or comment of the language
	depth uint8 // of comments that nest
}

type lexMode uint8

const (
	lexPlain lexMode = iota
	lexString
	lexComment
	lexTag // between < and > of markup
)

// maxLexed is how many bytes of a line are highlighted.
const maxLexed = 8192

// NewLexer begins a text in a language. It is named as in a fence ("go", "typescript"), or by a file's
// path. An unknown one gives text without colors.
func NewLexer(name string) Lexer { return Lexer{lang: lookup(name)} }

// IsSupported reports whether the language is known.
func (x *Lexer) IsSupported() bool { return x.lang != nil }

// Same reports whether two states are equal, so that the next lines get the same colors.
func (x *Lexer) Same(y Lexer) bool { return x.lang == y.lang && x.st == y.st }

// Line returns a highlighted line and advances to the next. The text may come from any source.
func (x *Lexer) Line(text string, th *style.Theme) style.Line {
	if text == "" {
		return nil
	}
	text = style.Clean(text)
	if x.lang == nil {
		return style.Line{{Text: text, Attr: style.Fg(th.MarkdownCodeBlock)}}
	}
	r := run{text: style.Prefix(text, maxLexed), th: th}
	x.run(&r)
	r.put(text[len(r.text):], plain)
	return r.out
}

// Skip goes over a line without coloring it.
func (x *Lexer) Skip(text string) {
	if x.lang == nil || text == "" {
		return
	}
	r := run{text: style.Prefix(style.Clean(text), maxLexed)}
	x.run(&r)
}

func (x *Lexer) run(r *run) {
	switch {
	case x.lang.whole != nil:
		r.put(r.text, x.lang.whole(r.text))
	case x.lang.markup:
		x.markup(r)
	default:
		x.generic(r)
	}
}

// kind is the class of a piece of code.
type kind uint8

const (
	plain kind = iota
	comment
	keyword
	function
	variable
	str
	number
	typ
	operator
	punct
	added
	removed
	heading
)

// color maps a kind of token to the theme's color.
func (k kind) color(th *style.Theme) style.Color {
	switch k {
	case comment:
		return th.SyntaxComment
	case keyword:
		return th.SyntaxKeyword
	case function:
		return th.SyntaxFunction
	case variable:
		return th.SyntaxVariable
	case str:
		return th.SyntaxString
	case number:
		return th.SyntaxNumber
	case typ:
		return th.SyntaxType
	case operator:
		return th.SyntaxOperator
	case punct:
		return th.SyntaxPunctuation
	case added:
		return th.DiffAdded
	case removed:
		return th.DiffRemoved
	case heading:
		return th.MarkdownHeading
	default:
		return th.MarkdownCodeBlock
	}
}

// run is one line on its way. Without a theme nothing is kept but the state.
type run struct {
	text string
	at   int
	th   *style.Theme
	out  style.Line
	last kind
}

// put adds a piece, joining it with the one before where they look the same.
func (r *run) put(text string, k kind) {
	if text == "" || r.th == nil {
		return
	}
	if n := len(r.out); n > 0 && (r.last == k || strings.Trim(text, " ") == "") {
		r.out[n-1].Text += text
		return
	}
	r.out = append(r.out, style.Span{Text: text, Attr: style.Fg(k.color(r.th))})
	r.last = k
}

// take moves on by n bytes that are of a kind.
func (r *run) take(n int, k kind) {
	r.put(r.text[r.at:r.at+n], k)
	r.at += n
}

func (r *run) rest() string { return r.text[r.at:] }

// generic reads most languages: comments, strings, numbers, words and signs.
func (x *Lexer) generic(r *run) {
	if x.st.mode == lexPlain && x.lang.head != nil {
		n, k := x.lang.head(r.text)
		r.take(n, k)
	}
	for r.at < len(r.text) {
		switch x.st.mode {
		case lexString:
			x.inString(r)
		case lexComment:
			x.inComment(r)
		default:
			x.token(r)
		}
	}
	if x.st.mode == lexString && !x.lang.strings[x.st.arg].long {
		x.st = lexState{}
	}
}

// inString reads the rest of a string, up to its end or the end of the line.
func (x *Lexer) inString(r *run) {
	def := x.lang.strings[x.st.arg]
	rest := r.rest()
	for i := 0; i < len(rest); i++ {
		if def.escape && rest[i] == '\\' {
			i++
			continue
		}
		if strings.HasPrefix(rest[i:], def.close) {
			r.take(i+len(def.close), str)
			x.st = lexState{}
			return
		}
	}
	r.take(len(rest), str)
}

// inComment reads the rest of a block comment, which may nest.
func (x *Lexer) inComment(r *run) {
	def := x.lang.blocks[x.st.arg]
	rest := r.rest()
	for i := 0; i < len(rest); i++ {
		if def.nests && strings.HasPrefix(rest[i:], def.open) && x.st.depth < 100 {
			x.st.depth++
			i += len(def.open) - 1
			continue
		}
		if !strings.HasPrefix(rest[i:], def.close) {
			continue
		}
		if x.st.depth > 0 {
			x.st.depth--
			i += len(def.close) - 1
			continue
		}
		r.take(i+len(def.close), comment)
		x.st = lexState{}
		return
	}
	r.take(len(rest), comment)
}

// token reads one piece outside of strings and comments.
func (x *Lexer) token(r *run) {
	rest, l := r.rest(), x.lang
	c := rest[0]
	switch {
	case c == ' ':
		r.take(runOf(rest, ' '), plain)
	case x.comment(r), x.string(r):
	case isDigit(c):
		r.take(numberLen(rest), number)
	case isLetter(c) || l.extra != "" && strings.IndexByte(l.extra, c) >= 0:
		x.word(r)
	case c == '$' && l.dollar:
		n := 1
		if len(rest) > 1 && rest[1] == '{' {
			if end := strings.IndexByte(rest, '}'); end > 0 {
				n = end + 1
			}
		} else {
			for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])) {
				n++
			}
		}
		r.take(n, variable)
	case c == '@' && len(rest) > 1 && isLetter(rest[1]):
		r.take(1+wordLen(rest[1:], l.extra), function)
	case strings.IndexByte("+-*/%=<>!&|^~?:", c) >= 0:
		r.take(1, operator)
	default:
		r.take(1, punct)
	}
}

// comment begins a comment if there is one here.
func (x *Lexer) comment(r *run) bool {
	rest := r.rest()
	for i, def := range x.lang.blocks {
		if strings.HasPrefix(rest, def.open) && (!def.first || r.at == 0) {
			x.st = lexState{mode: lexComment, arg: uint8(i)}
			r.take(len(def.open), comment)
			return true
		}
	}
	for _, mark := range x.lang.lines {
		if !strings.HasPrefix(rest, mark) {
			continue
		}
		if x.lang.spaced && r.at > 0 && r.text[r.at-1] != ' ' {
			continue // $# and a#b are no comments
		}
		r.take(len(rest), comment)
		return true
	}
	return false
}

// string begins a string if there is one here.
func (x *Lexer) string(r *run) bool {
	rest := r.rest()
	for i, def := range x.lang.strings {
		if !strings.HasPrefix(rest, def.open) {
			continue
		}
		if def.char && !isChar(rest) {
			r.take(1, operator) // a lifetime, or an apostrophe
			return true
		}
		if x.lang.keys {
			if n := keyLen(rest, def.close); n > 0 {
				r.take(n, typ)
				return true
			}
		}
		x.st = lexState{mode: lexString, arg: uint8(i)}
		r.take(len(def.open), str)
		return true
	}
	return false
}

// word reads a name and classifies it.
func (x *Lexer) word(r *run) {
	rest, l := r.rest(), x.lang
	n := max(wordLen(rest, l.extra), 1)
	w := rest[:n]
	if l.folds {
		w = strings.ToLower(w)
	}
	var behind byte
	if n < len(rest) {
		behind = rest[n]
	}
	k := plain
	switch known, ok := l.words[w]; {
	case l.prefixes != "" && (behind == '"' || behind == '\'') && n <= 2 && strings.Contains(l.prefixes, w):
		k = str
	case ok:
		k = known
	case behind == '(' || behind == '!' && l.bang:
		k = function
	case behind == ':' && l.colonKeys:
		k = variable
	case l.caps && w[0] >= 'A' && w[0] <= 'Z' && n > 1:
		k = typ
	}
	r.take(n, k)
}
