package markdown

import (
	"bytes"
	"strings"
)

// The words of a block are read once from left to right into a flat row of tokens. Marks that may open
// something are kept aside until what closes them is found (signs of emphasis in runs.go, brackets here);
// those that never are stay text. Every search that fails is remembered, so that no text, however odd, takes
// more than a time proportional to its length.

type tokenKind uint8

const (
	tokenText  tokenKind = iota // with escapes
	tokenBreak                  // the end of a line
	tokenCode
	tokenHTML
	tokenAddress // url is where it leads
	tokenRun     // signs of emphasis
	tokenOpen    // a link or an image begins
	tokenClose
)

// token is a piece of text, or a change of style.
type token struct {
	kind     tokenKind
	image    bool  // otherwise a link
	empty    bool  // nothing stands between it and its end
	from, to int32 // in the text
	run      int32 // among the runs
	url      string
}

// bracket is one that may begin a link.
type bracket struct {
	token int
	image bool
	inner bool // another stands behind it
	run   int  // the last run before it
	end   int  // where its text begins
}

// reader reads the text of one block.
type reader struct {
	src  []byte
	refs [2][]reference // of the whole text, of this leaf

	at     int
	text   int // where text begins that is not yet a token
	bareAt int // an address without marks may begin here

	tokens   []token
	runs     []signRun
	takes    []take
	last     int // the last run that is open
	brackets []bracket
	inert    int // number of brackets before a link, which cannot be links themselves

	ticks   map[int]int // the last run of backticks of each length, once a search for one has failed
	missing [4]bool     // an end of HTML of this form does not come any more
}

// read makes tokens of the text.
func (w *reader) read() {
	w.runs, w.takes = append(w.runs[:0], signRun{}), append(w.takes[:0], take{})
	for w.at < len(w.src) {
		if w.at == w.bareAt && w.bare() {
			continue
		}
		switch c := w.src[w.at]; c {
		case ' ', '\t', '(':
			w.at++
			w.bareAt = w.at
		case '\n':
			w.lineBreak()
		case '\\':
			w.escape()
		case '`':
			w.code()
		case '*', '_', '~':
			w.sign(c)
		case '<':
			w.angle()
		case '!':
			w.at++
			if w.at < len(w.src) && w.src[w.at] == '[' {
				w.open(true)
			}
		case '[':
			w.open(false)
		case ']':
			w.close()
		default:
			w.at++
		}
	}
	w.flush(w.at)
	w.pair(0)
}

// isText reports whether a token is only text: marks without a partner are.
func (w *reader) isText(i int) bool {
	t := &w.tokens[i]
	if t.kind == tokenRun {
		return w.runs[t.run].left == w.runs[t.run].size
	}
	return t.kind == tokenText
}

// flush makes a token of the text before a place.
func (w *reader) flush(to int) {
	if w.text < to {
		w.tokens = append(w.tokens, token{kind: tokenText, from: int32(w.text), to: int32(to)})
	}
	w.text = to
}

// add adds a token that takes so much of the text.
func (w *reader) add(t token, size int) {
	w.flush(w.at)
	w.tokens = append(w.tokens, t)
	w.at += size
	w.text, w.bareAt = w.at, w.at
}

// lineBreak ends a line. Spaces before its end are not drawn.
func (w *reader) lineBreak() {
	to := w.at
	for to > w.text && strings.IndexByte(" \t\r", w.src[to-1]) >= 0 {
		to--
	}
	w.flush(to)
	w.text = w.at
	w.add(token{kind: tokenBreak}, 1)
}

// escape reads a backslash: a hard line break, an escaped sign, or text.
func (w *reader) escape() {
	switch next := w.at + 1; {
	case next < len(w.src) && w.src[next] == '\n':
		w.flush(w.at)
		w.at, w.text = next, next
		w.add(token{kind: tokenBreak}, 1)
	case next < len(w.src) && isPunct(w.src[next]):
		w.at += 2
	default:
		w.at++
	}
}

// code reads a code span.
func (w *reader) code() {
	n := runOf(w.src[w.at:], '`')
	end := -1
	if last, known := w.ticks[n]; w.ticks == nil || known && last >= w.at+n {
		end = closingRun(w.src[w.at+n:], n)
	}
	if end < 0 {
		if w.ticks == nil {
			w.countTicks(w.at + n)
		}
		w.at += n
		w.bareAt = w.at
		return
	}
	from, to := w.at+n, w.at+n+end
	isSpace := func(c byte) bool { return c == ' ' || c == '\n' }
	if isSpace(w.src[from]) && isSpace(w.src[to-1]) && len(bytes.Trim(w.src[from:to], blanks)) > 0 {
		from, to = from+1, to-1
	}
	w.add(token{kind: tokenCode, from: int32(from), to: int32(to)}, 2*n+end)
}

// countTicks notes where the last run of backticks of each length stands.
func (w *reader) countTicks(at int) {
	w.ticks = map[int]int{}
	for at < len(w.src) {
		i := bytes.IndexByte(w.src[at:], '`')
		if i < 0 {
			return
		}
		at += i
		n := runOf(w.src[at:], '`')
		w.ticks[n] = at
		at += n
	}
}

// angle reads an autolink or an HTML tag in <>.
func (w *reader) angle() {
	rest := w.src[w.at:]
	prefix := "mailto:"
	n := mailbox(rest[1:])
	if n == 0 {
		n, prefix = scheme(rest[1:]), ""
	}
	if n > 0 && 1+n < len(rest) && rest[1+n] == '>' {
		w.add(token{kind: tokenAddress, from: int32(w.at + 1), to: int32(w.at + 1 + n), url: prefix + string(rest[1:1+n])}, n+2)
		return
	}
	if n = tag(rest); n == 0 {
		n = w.special(rest)
	}
	if n > 0 {
		w.add(token{kind: tokenHTML, from: int32(w.at), to: int32(w.at + n)}, n)
		return
	}
	w.at++
}

// special reads comments and other HTML that is not a tag.
func (w *reader) special(rest []byte) int {
	if bytes.HasPrefix(rest, []byte("<!-->")) || bytes.HasPrefix(rest, []byte("<!--->")) {
		return bytes.IndexByte(rest, '>') + 1
	}
	for i, form := range [...][2]string{{"<!--", "-->"}, {"<?", "?>"}, {"<![CDATA[", "]]>"}, {"<!", ">"}} {
		if !bytes.HasPrefix(rest, []byte(form[0])) || form[0] == "<!" && (len(rest) < 3 || !isAlpha(rest[2])) {
			continue
		}
		if w.missing[i] {
			return 0
		}
		if end := bytes.Index(rest[len(form[0]):], []byte(form[1])); end >= 0 {
			return len(form[0]) + end + len(form[1])
		}
		w.missing[i] = true
		return 0
	}
	return 0
}

// bare reads an address that has no marks around it. There is none within the text of a link.
func (w *reader) bare() bool {
	if len(w.brackets) > 0 {
		return false
	}
	line := w.src[w.at:]
	n, prefix := bare(line)
	if n == 0 {
		return false
	}
	w.add(token{kind: tokenAddress, from: int32(w.at), to: int32(w.at + n), url: prefix + string(line[:n])}, n)
	return true
}

// open keeps a bracket. For an image, the ! before it has been read.
func (w *reader) open(image bool) {
	size := 1 + b2i(image)
	w.at -= size - 1
	if k := len(w.brackets) - 1; k >= 0 {
		w.brackets[k].inner = true
	}
	w.flush(w.at)
	w.brackets = append(w.brackets, bracket{token: len(w.tokens), image: image, run: w.last, end: w.at + size})
	w.add(token{kind: tokenText, from: int32(w.at), to: int32(w.at + size)}, size)
}

// close looks for the link that a bracket ends.
func (w *reader) close() {
	k := len(w.brackets) - 1
	if k < 0 {
		w.at++
		return
	}
	b := w.brackets[k]
	w.brackets = w.brackets[:k]
	inert := k < w.inert && !b.image
	w.inert = min(w.inert, k)
	url, end, ok := "", 0, false
	if !inert {
		url, end, ok = w.leads(b)
	}
	if !ok {
		w.at++
		return
	}
	w.flush(w.at)
	t := &w.tokens[b.token]
	t.kind, t.image, t.url, t.empty = tokenOpen, b.image, url, len(w.tokens) == b.token+1
	w.pair(b.run)
	w.add(token{kind: tokenClose, image: b.image, url: url}, end-w.at)
	if !b.image {
		w.inert = k
	}
}

// leads says where a link leads whose text has just ended, and where its end is.
func (w *reader) leads(b bracket) (url string, end int, ok bool) {
	next := w.at + 1
	if next < len(w.src) && w.src[next] == '(' {
		if url, end, ok := target(w.src, next); ok {
			return string(url), end, true
		}
	}
	if len(w.refs[0])+len(w.refs[1]) == 0 {
		return "", 0, false
	}
	label, n := labelAt(w.src[next:])
	if len(bytes.Trim(label, blanks)) == 0 {
		if b.inner || w.at-b.end > maxLabel {
			return "", 0, false
		}
		label = w.src[b.end:w.at]
	}
	url, ok = w.find(normalizeLabel(label))
	return url, next + n, ok
}

func (w *reader) find(label string) (string, bool) {
	for _, refs := range w.refs {
		for _, r := range refs {
			if r.label == label {
				return r.url, true
			}
		}
	}
	return "", false
}
