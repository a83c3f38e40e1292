package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// writer builds a word from its parts.
type writer struct {
	text, mask, glob strings.Builder
	known            bool
	why              string
	isGlob, bare     bool
	open             bool     // after a [, where it is not known what is a text
	wild             bool     // among are patterns
	among            []string // values of the whole so far, where it is one of a few
}

func (o *writer) lit(s string) {
	o.text.WriteString(s)
	if !o.open {
		o.mask.WriteString(s)
	}
	for i := range o.among {
		if o.among[i] += s; o.wild {
			o.among[i] = strings.TrimSuffix(o.among[i], s) + escape(s)
		}
	}
	o.glob.WriteString(escape(s))
}

// escape makes a text a pattern that matches nothing else.
func escape(s string) string {
	if !strings.ContainsAny(s, `\*?[`) {
		return s
	}
	var out strings.Builder
	for _, c := range []byte(s) {
		if strings.IndexByte(`\*?[`, c) >= 0 {
			out.WriteByte('\\')
		}
		out.WriteByte(c)
	}
	return out.String()
}

// any is a wildcard of the shell.
func (o *writer) any(c byte) {
	o.text.WriteByte(c)
	o.mask.WriteByte('*')
	o.glob.WriteByte(c)
	o.isGlob, o.open = true, o.open || c == '['
}

// hole is a part that is unknown.
func (o *writer) hole(source, why string, quoted bool) {
	o.text.WriteString(source)
	o.mask.WriteByte('*')
	if o.known || o.why == "" {
		o.why = why
	}
	o.known, o.bare, o.among = false, o.bare || !quoted, nil
}

// choice is a part that is one of a few values.
func (o *writer) choice(source string, values []string, wild, quoted bool) {
	before := o.among
	if o.known {
		before = []string{o.text.String()}
		if wild {
			before[0] = o.glob.String()
		}
	}
	if len(before) == 0 || len(before)*len(values) > maxChoices || o.text.Len() > maxValue || wild != o.wild && len(o.among) > 0 || wild && !quoted {
		o.hole(source, "it is one of several values", quoted)
		return
	}
	var all []string
	size := 0
	for _, b := range before {
		for _, v := range values {
			all = append(all, b+v)
			size += len(b) + len(v)
		}
	}
	if size > maxValue {
		all = nil
	}
	o.hole(source, "it is one of several values", quoted)
	o.among, o.wild = all, wild
}

func (o *writer) word() Word {
	w := Word{Text: o.text.String(), Known: o.known, Glob: o.isGlob, mask: o.mask.String(), bare: o.bare}
	if o.isGlob || !o.known {
		w.more = &more{why: o.why, among: o.among, wild: o.wild}
		if o.isGlob {
			w.more.glob = o.glob.String()
		}
	}
	return w
}

// words evaluates the words of a command: one may become several, or none.
func (a *analyzer) words(list []*syntax.Word, sc *scope) []Word {
	out := a.newWords(len(list))
	for _, w := range list {
		if text, ok := plain(w); ok {
			out = append(out, Word{Text: text, mask: text, Known: true})
			if !a.spend(1) {
				return out
			}
			continue
		}
		for _, w := range a.braces(w) {
			if split, ok := a.split(w, sc); ok {
				out = append(out, split...)
				continue
			}
			out = append(out, a.word(w, sc))
			if len(out) > maxNodes || !a.spend(1) {
				return out
			}
		}
	}
	return out
}

// newWords returns an empty list. Lists share one allocation that fits many commands.
func (a *recorder) newWords(n int) []Word {
	const chunk = 64
	if len(a.free) < n {
		a.free = make([]Word, max(n, chunk))
	}
	out := a.free[:0:n]
	a.free = a.free[n:]
	return out
}

// plain is the text of a word in which nothing is special, or all of it is quoted, as most are.
func plain(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	switch part := w.Parts[0].(type) {
	case *syntax.Lit:
		for i := range len(part.Value) { // a set of bytes would be made for every word
			switch part.Value[i] {
			case '\\', '*', '?', '[', '{', '~':
				return "", false
			}
		}
		return part.Value, true
	case *syntax.SglQuoted:
		return part.Value, !part.Dollar
	case *syntax.DblQuoted:
		if lit, ok := onlyPart(part.Parts).(*syntax.Lit); ok && !part.Dollar {
			return lit.Value, strings.IndexByte(lit.Value, '\\') < 0
		}
	}
	return "", false
}

func onlyPart(parts []syntax.WordPart) syntax.WordPart {
	if len(parts) != 1 {
		return nil
	}
	return parts[0]
}

// split is a word that is nothing but a variable without quotes.
func (a *reader) split(w *syntax.Word, sc *scope) ([]Word, bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	p, ok := w.Parts[0].(*syntax.ParamExp)
	if !ok || !plainParam(p) {
		return nil, false
	}
	v := a.lookup(p.Param.Value, sc)
	if !v.known || sc.vars["IFS"] != nil || sc.lost || strings.ContainsAny(v.text, `*?[\`) {
		return nil, false
	}
	var out []Word
	for _, f := range strings.FieldsFunc(v.text, func(c rune) bool { return c == ' ' || c == '\t' || c == '\n' }) {
		out = append(out, Word{Text: f, Known: true, mask: f})
	}
	return out, true
}

func plainParam(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Index == nil && !p.Excl && !p.Length && !p.Width && p.Slice == nil && p.Repl == nil &&
		p.Exp == nil && p.Names == 0 && p.Flags == nil && p.NestedParam == nil && !p.IsSet && len(p.Modifiers) == 0
}

// word evaluates a word that stays one.
func (a *analyzer) word(w *syntax.Word, sc *scope) Word {
	o := &writer{known: true}
	if w == nil {
		return o.word()
	}
	if text, ok := plain(w); ok {
		a.spend(1)
		return Word{Text: text, mask: text, Known: true}
	}
	a.parts(o, w.Parts, sc, false)
	return o.word()
}

func (a *analyzer) parts(o *writer, parts []syntax.WordPart, sc *scope, quoted bool) {
	for i, part := range parts {
		if !a.spend(1) {
			return
		}
		switch part := part.(type) {
		case *syntax.Lit:
			value := part.Value
			if i == 0 && !quoted && strings.HasPrefix(value, "~") {
				value = a.tilde(o, value, len(parts) == 1, sc)
			}
			literal(o, value, quoted)
		case *syntax.SglQuoted:
			value, ok := part.Value, true
			if part.Dollar {
				value, ok = ansi(part.Value)
			}
			if !ok {
				o.hole(a.text(part), "its escapes are not understood", true)
				continue
			}
			o.lit(value)
		case *syntax.DblQuoted:
			a.parts(o, part.Parts, sc, true)
		case *syntax.ParamExp:
			a.param(o, part, sc, quoted)
		case *syntax.CmdSubst:
			a.stmts(part.Stmts, sc.clone())
			o.hole(a.text(part), "it is what a command prints", quoted)
		case *syntax.ProcSubst:
			a.stmts(part.Stmts, sc.clone())
			o.hole(a.text(part), "it is a pipe to a command", true)
		case *syntax.ArithmExp:
			a.arithmetic(part.X, sc)
			o.hole(a.text(part), "it is the result of a calculation", quoted)
		case *syntax.ExtGlob:
			o.hole(a.text(part), "it is an extended pattern", false)
		case *syntax.BraceExp:
			o.hole(a.text(part), "its braces are not understood", false)
		default:
			o.hole(a.text(part), "it is not understood", quoted)
		}
	}
}

// tilde replaces a home directory, and returns what is left of the text.
func (a *reader) tilde(o *writer, s string, whole bool, sc *scope) string {
	name, rest, slash := strings.Cut(s[1:], "/")
	if !slash && !whole {
		return s // ~"x" is no home
	}
	if slash {
		rest = "/" + rest
	}
	dir, ok := "", false
	switch home := a.lookup("HOME", sc); {
	case name == "" && home.known:
		dir, ok = home.text, true
	case name == "+" && len(sc.dirs) == 1:
		dir, ok = sc.dirs[0], true
	}
	if !ok {
		o.hole("~"+name, "whose home it is is not known", true)
		return rest
	}
	o.lit(dir)
	return rest
}

// literal takes out back-slashes, and marks wildcards where those count.
func literal(o *writer, s string, quoted bool) {
	start := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0):
			o.lit(s[start:i])
			if i++; s[i] != '\n' {
				o.lit(s[i : i+1])
			}
			start = i + 1
		case !quoted && (c == '*' || c == '?' || c == '['):
			o.lit(s[start:i])
			o.any(c)
			start = i + 1
		}
	}
	o.lit(s[start:])
}

// param evaluates the use of a variable.
func (a *analyzer) param(o *writer, p *syntax.ParamExp, sc *scope, quoted bool) {
	source := a.text(p)
	if !plainParam(p) {
		a.readExpansion(p, sc)
		why := "it is made from a variable"
		if p.Length {
			why = "it is a length"
		}
		o.hole(source, why, quoted)
		return
	}
	name := p.Param.Value
	v := a.lookup(name, sc)
	touched := sc.vars["IFS"] != nil
	switch splits := func(s string) bool { return !quoted && (touched || strings.ContainsAny(s, " \t\n*?[\\")) }; {
	case v.known && o.text.Len()+len(v.text) > maxValue:
		o.hole(source, "it is too long", quoted)
	case v.known && !splits(v.text):
		o.lit(v.text)
	case len(v.among) > 0 && (v.wild || !splits(strings.Join(v.among, ""))):
		o.choice(source, v.among, v.wild, quoted)
	case name == "@" || name == "*":
		o.hole(source, "the arguments are not known", false)
	case v.number:
		o.hole(source, "it is a number", quoted)
	default:
		o.hole(source, "the variable "+name+" is not known", quoted)
	}
}

// readExpansion looks into an expansion that does more than to put in a variable.
func (a *analyzer) readExpansion(p *syntax.ParamExp, sc *scope) {
	a.arithmetic(p.Index, sc)
	if p.Slice != nil {
		a.arithmetic(p.Slice.Offset, sc)
		a.arithmetic(p.Slice.Length, sc)
	}
	if p.Repl != nil {
		a.word(p.Repl.Orig, sc)
		a.word(p.Repl.With, sc)
	}
	if p.NestedParam != nil {
		a.parts(&writer{known: true}, []syntax.WordPart{p.NestedParam}, sc, true)
	}
	if p.Excl && p.Names == 0 {
		if v := a.lookup(p.Param.Value, sc); !v.known || !isName(v.text) {
			a.unknown(UnknownCommand, a.text(p), "the name of a variable is taken from another; it can hold code")
		}
	}
	if p.Exp == nil {
		return
	}
	w := a.word(p.Exp.Word, sc)
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if p.Param != nil {
			a.noteAssignment(p.Param.Value, w)
			sc.set(p.Param.Value, value{})
		}
	case syntax.OtherParamOps:
		if w.Text == "P" {
			a.unknown(UnknownCommand, a.text(p), "the text of a variable is expanded as a prompt, which runs the commands in it")
		}
	}
}

func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// arithmetic looks into a calculation. A variable in it is itself calculated, and may so run
// commands, unless it is known to be a number.
func (a *analyzer) arithmetic(x syntax.ArithmExpr, sc *scope) {
	if !a.spend(1) || !a.enter() {
		return
	}
	defer a.leave()
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		if w, ok := x.X.(*syntax.Word); ok && assigns(x.Op) {
			a.arithmetic(x.Y, sc)
			a.readCounter(w, x.Op == syntax.Assgn, sc)
			return
		}
		a.arithmetic(x.X, sc)
		a.arithmetic(x.Y, sc)
	case *syntax.UnaryArithm:
		a.arithmetic(x.X, sc)
		if w, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.Inc || x.Op == syntax.Dec) {
			a.readCounter(w, true, sc)
		}
	case *syntax.ParenArithm:
		a.arithmetic(x.X, sc)
	case *syntax.FlagsArithm:
		a.unknown(UnknownCommand, a.text(x), "the calculation is not understood")
	case *syntax.Word:
		a.operand(x, sc)
	}
}

func assigns(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn, syntax.AndAssgn,
		syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		return true
	}
	return false
}

// readCounter reads an assignment in a calculation: what it sets is a number.
func (a *analyzer) readCounter(w *syntax.Word, fresh bool, sc *scope) {
	name := w.Lit()
	if !isName(name) {
		a.operand(w, sc)
		return
	}
	if !fresh {
		a.operand(w, sc)
	}
	a.noteAssignment(name, Word{Known: true, Text: "0"})
	sc.set(name, value{number: true})
}

// isNumeric reports whether a variable has a number for its text, or none at all.
func (a *reader) isNumeric(name string, sc *scope) bool {
	v := a.lookup(name, sc)
	set := sc.vars[name] != nil
	return v.number || v.known && isCount(v.text) || !v.known && !set && !sc.lost && a.in.Env != nil
}

// operand is a name, a number, or something that gives one.
func (a *analyzer) operand(x *syntax.Word, sc *scope) {
	name := x.Lit()
	if len(x.Parts) == 1 {
		if p, ok := x.Parts[0].(*syntax.ParamExp); ok && plainParam(p) {
			name = p.Param.Value
		} else if ok && p.Length {
			return
		} else if e, ok := x.Parts[0].(*syntax.ArithmExp); ok {
			a.arithmetic(e.X, sc)
			return
		}
	}
	if name != "" && (isName(name) || strings.Trim(name, "#?$!") == "") {
		if !a.isNumeric(name, sc) {
			a.unknown(UnknownCommand, a.text(x), "the variable "+name+" is calculated, and its text could run commands")
		}
		return
	}
	w := a.word(x, sc)
	if w.Known && (isCount(w.Text) || isName(w.Text)) {
		return
	}
	if w.Known && strings.Trim(w.Text, "0123456789abcdefABCDEFxX#") == "" {
		return
	}
	a.unknown(UnknownCommand, w.Text, "a calculation takes its text from elsewhere, which could run commands")
}

func isCount(s string) bool { return allDigits(strings.TrimPrefix(s, "-")) }
