// Package markdown draws texts of models: markdown as lines of a screen, and code in the colors of its
// language. It owns the division of a text into blocks and their look.
//
// A Doc is made for growing texts: rows that can no longer change are cached, so that another
// word costs the same after a long text as after a short one. It reads blocks line by line (scan.go) and
// continues where it stopped. parse.go parses the content of a block, words.go and runs.go its inline
// elements, and pen.go draws them. lexer.go highlights code line by line.
//
// Everything here belongs to one goroutine. Start with Doc.Lines.
package markdown

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/tui/style"
)

// Options configure the rendering.
type Options struct {
	Theme   *style.Theme
	Width   int
	Conceal bool // hide the syntax
	Growing bool // the text is incomplete: close unfinished marks at its end

	Addresses bool // print link addresses, for terminals without hyperlinks
}

// Doc is a text that may grow. The zero value is an empty one.
type Doc struct {
	text string
	at   int  // so much of it has been read
	long bool // the next text continues a long line
	scan scanner
	done []leaf // drawn by pen
	todo []leaf
	refs []reference

	pen   pen
	base  pen // as it was when rows were taken
	shown []style.Line
	look  Options
	valid bool // shown is up to date
}

// maxRefs is the maximum number of link definitions. Each may change rows drawn before it.
const maxRefs = 64

// Set gives the whole text. It costs little where the text only grew.
func (d *Doc) Set(text string) {
	if !strings.HasPrefix(text, d.text) {
		*d = Doc{pen: pen{rows: d.pen.rows[:0]}}
	}
	if len(text) > len(d.text) {
		d.text, d.valid = text, false
		d.read()
	}
}

// read goes through the lines that are complete, and through parts of those that are too long.
func (d *Doc) read() {
	for {
		part, n, whole := nextLine(d.text[d.at:])
		if n == 0 {
			break
		}
		if d.long {
			d.scan.more(part)
		} else {
			d.scan.line(part)
		}
		d.at, d.long = d.at+n, !whole
	}
	for _, l := range d.scan.out {
		d.define(l)
	}
	d.todo = append(d.todo, d.scan.out...)
	d.scan.out = nil
}

// nextLine returns the first line and how much of the text it takes, with its end. Where the line is longer
// than maxPara, it returns a part of it. Nothing is returned while the line may still grow.
func nextLine(text string) (line string, n int, whole bool) {
	const window = maxPara + utf8.UTFMax
	if i := strings.IndexByte(text[:min(len(text), window)], '\n'); i >= 0 {
		return text[:i], i + 1, true
	}
	if len(text) < window {
		return "", 0, false
	}
	n = strings.LastIndexByte(text[:maxPara], ' ')
	if n < maxPara/2 {
		for n = maxPara; !utf8.RuneStart(text[n]) && n > maxPara-utf8.UTFMax; {
			n--
		}
	}
	return text[:n], n, false
}

// define takes the addresses that a paragraph defines for links elsewhere in the text.
func (d *Doc) define(l leaf) {
	if l.kind != leafPara || len(l.text) == 0 || l.text[0] != '[' || !bytes.Contains(l.text, []byte("]:")) {
		return
	}
	before := len(d.refs)
	for _, ref := range parse(l.text, l.kind).refs {
		known := slices.ContainsFunc(d.refs, func(r reference) bool { return r.label == ref.label })
		if len(d.refs) < maxRefs && !known { // the first definition counts
			d.refs = append(d.refs, ref)
		}
	}
	if len(d.refs) > before && len(d.done) > 0 {
		d.redraw()
	}
}

// redraw schedules all leaves to be drawn again.
func (d *Doc) redraw() {
	d.todo = append(d.done, d.todo...)
	d.done = nil
	rows := append(d.pen.rows[:0], d.base.rows...)
	d.pen = d.base
	d.pen.rows = rows
}

// TakeFinal removes the rows that can no longer change and returns them, for a screen that is written from top to
// bottom. The last of them stays, since a long line continues in it.
func (d *Doc) TakeFinal(o Options) []style.Line {
	d.Lines(o)
	n := len(d.pen.rows) - 1
	if n <= 0 {
		return nil
	}
	out := slices.Clone(d.pen.rows[:n])
	d.base = d.pen
	d.base.rows = []style.Line{d.pen.rows[n]}
	d.pen.rows = append(d.pen.rows[:0], d.base.rows...)
	d.done, d.valid = nil, false
	return out
}

// Lines returns the rows of the text, none wider than the width. They belong to the Doc: they must not be
// changed, and hold until the next call of one of its methods.
func (d *Doc) Lines(o Options) []style.Line {
	o.Width = max(o.Width, 1)
	if d.valid && o == d.look {
		return d.shown
	}
	if was := d.look; was.Theme != o.Theme || was.Width != o.Width || was.Conceal != o.Conceal || was.Addresses != o.Addresses {
		d.redraw()
	}
	d.look, d.valid = o, true
	d.pen.look, d.pen.refs = o, d.refs
	for _, l := range d.todo {
		d.pen.draw(&l)
		d.keep(l)
	}
	d.todo = nil
	d.shown = d.tail()
	return d.shown
}

// keep stores a leaf for a redraw at another width. Lines of the same code become one leaf.
func (d *Doc) keep(l leaf) {
	if k := len(d.done) - 1; k >= 0 && !l.cont && (l.kind == leafCode || l.kind == leafHTML) {
		if p := &d.done[k]; p.kind == l.kind && p.block == l.block && len(p.text) < maxLeaf {
			p.text = append(append(p.text, '\n'), l.text...)
			return
		}
	}
	d.done = append(d.done, l)
}

// tail draws the rows that may still change: the open paragraph and the last line.
func (d *Doc) tail() []style.Line {
	s := d.scan.clone()
	if rest := d.text[d.at:]; rest != "" && !(d.look.Growing && !d.long && isHalfMark(rest)) {
		if d.long {
			s.more(rest)
		} else {
			s.line(rest)
		}
	}
	s.flush()
	p := d.pen
	for i := range s.out {
		p.open = d.look.Growing && i == len(s.out)-1
		p.draw(&s.out[i])
	}
	d.pen.rows = p.rows[:len(d.pen.rows)]
	return p.rows
}

// isHalfMark reports whether a last line is only the beginning of a mark. Shown as it is, it would turn the
// paragraph above into a heading for a moment.
func isHalfMark(line string) bool {
	t := strings.TrimLeft(line, " ")
	return t == "" || len(t) <= 2 && strings.Trim(t, "-=*`~_+|") == "" || len(t) < 7 && strings.Trim(t, "#") == ""
}

// Code returns code in the colors of its language (a name as in a fence, or a file's path), one line for
// each of its lines, not wrapped.
func Code(lang, code string, th *style.Theme) []style.Line {
	code = strings.TrimSuffix(strings.ReplaceAll(code, "\r\n", "\n"), "\n")
	x := NewLexer(lang)
	out := make([]style.Line, 0, strings.Count(code, "\n")+1)
	for line := range strings.SplitSeq(code, "\n") {
		out = append(out, x.Line(line, th))
	}
	return out
}
