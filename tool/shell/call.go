package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call reads a simple command: assignments, words, redirections.
func (a *analyzer) call(s *syntax.Stmt, c *syntax.CallExpr, sc *scope) {
	words := a.words(c.Args, sc)
	prefix := a.assigns(c, sc)
	redirs := a.redirects(s.Redirs, sc)
	if len(words) == 0 {
		if len(c.Args) > 0 { // it expanded to nothing
			a.note(a.text(c), "nothing is left of the command")
		}
		return
	}
	via := a.via
	if prefix != "" {
		a.via = append(slices.Clip(a.via), prefix)
	}
	v, before := invocation{words: words, redirs: redirs, stdin: a.stdin(s, sc)}, len(a.plan.Commands)
	a.run(v, sc)
	if n := len(a.plan.Commands); n > before { // rules may deny what is written, and what it is given
		last := &a.plan.Commands[n-1]
		if src := a.written(s, c); src != last.Text && !slices.Contains(last.Also, src) {
			last.Also = append(last.Also, src)
		}
		if src := a.written(s, c); n == before+1 && last.level == a.level && src != last.Text {
			last.Written = append(last.Written, src)
		}
		if v.stdin != nil {
			last.Also = append(last.Also, last.Text+" <<< "+v.stdin.Text)
		}
	}
	a.via = via
}

// written is a command as it is written, with its redirections.
func (a *recorder) written(s *syntax.Stmt, c *syntax.CallExpr) string {
	from, to := int(c.Pos().Offset()), int(c.End().Offset())
	for _, r := range s.Redirs {
		from, to = min(from, int(r.Pos().Offset())), max(to, int(r.Word.End().Offset()))
	}
	return a.between(from, to)
}

// assigns reads what is before a command, or alone. The text is how it is written.
func (a *analyzer) assigns(c *syntax.CallExpr, sc *scope) (prefix string) {
	for _, as := range c.Assigns {
		name, w, v := a.assign(as, sc)
		if len(c.Args) == 0 {
			a.noteAssignment(name, w)
			sc.set(name, v)
			continue
		}
		if name != "IFS" || c.Args[0].Lit() != "read" { // it is for read alone then
			a.noteAssignment(name, w)
		}
		if prefix != "" {
			prefix += " "
		}
		prefix += name + "=" + spell(w)
		sc.set(name, value{}) // for the command it is the new one, after it the old
	}
	return prefix
}

// assign evaluates one assignment.
func (a *analyzer) assign(as *syntax.Assign, sc *scope) (name string, w Word, v value) {
	if as.Name == nil {
		return "", a.word(as.Value, sc), value{}
	}
	name = as.Name.Value
	a.arithmetic(as.Index, sc)
	switch {
	case as.Array != nil:
		for _, e := range as.Array.Elems {
			a.arithmetic(e.Index, sc)
			if e.Value != nil {
				a.words([]*syntax.Word{e.Value}, sc)
			}
		}
		return name, unknownWord(a.text(as.Array), "", "it is a list"), value{}
	case as.Value == nil:
		w = Word{Known: true}
	default:
		w = a.word(as.Value, sc)
	}
	switch {
	case as.Index != nil || as.Append:
		return name, unknownWord(w.Text, "", "it is added to"), value{}
	case as.Value != nil && isNumber(as.Value) && !w.Known:
		return name, w, value{number: true}
	case w.Known:
		return name, w, value{known: true, text: w.Text}
	default:
		return name, w, value{among: w.among(), wild: w.extra().wild}
	}
}

// stdin is what a here-document gives to a command: nil is something else.
func (a *analyzer) stdin(s *syntax.Stmt, sc *scope) *Word {
	var in *Word
	for _, r := range s.Redirs {
		if r.N != nil && r.N.Value != "0" {
			continue
		}
		switch {
		case r.Op == syntax.RdrIn, r.Op == syntax.DplIn, r.Op == syntax.RdrInOut:
			in = nil
		case r.Op == syntax.WordHdoc:
			w := a.word(r.Word, sc)
			in = &w
		case (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc) && r.Hdoc != nil:
			w := a.word(r.Hdoc, sc)
			if w.Glob { // wildcards are nothing special there
				w.Glob = false
			}
			if quotedDelimiter(r.Word) {
				w = Word{Text: r.Hdoc.Lit(), Known: true}
			}
			in = &w
		}
	}
	return in
}

func quotedDelimiter(w *syntax.Word) bool { return w.Lit() == "" || strings.Contains(w.Lit(), `\`) }

// declare reads export and its like.
func (a *analyzer) declare(s *syntax.Stmt, c *syntax.DeclClause, sc *scope) {
	words := []Word{{Text: c.Variant.Value, Known: true, mask: c.Variant.Value}}
	odd := false // its values are not taken as they are
	for _, as := range c.Args {
		name, w, v := a.assign(as, sc)
		switch {
		case as.Name == nil: // an option, or a word that says what is set
			words = append(words, w)
			odd = odd || strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "niuflcA")
			if !w.Known {
				sc.forgetAll()
				a.unknown(UnknownSetting, a.text(as), "which variable is set is not known")
			} else if name, text, ok := strings.Cut(w.Text, "="); ok {
				a.noteAssignment(name, Word{Text: text, Known: true})
				sc.set(name, value{})
			}
			continue
		case as.Naked:
			words = append(words, Word{Text: name, Known: true, mask: name})
			continue
		}
		if odd {
			v = value{}
		}
		a.noteAssignment(name, w)
		sc.set(name, v)
		w.Text, w.mask = name+"="+w.Text, name+"="+w.mask
		if as.Array != nil {
			w = unknownWord(a.text(as), name+"=*", "it is a list")
		}
		words = append(words, w)
	}
	if odd && strings.ContainsAny(c.Variant.Value, "dtln") && slices.ContainsFunc(words, func(w Word) bool { return strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "ni") }) {
		sc.forgetAll() // a reference to another variable, or one that is calculated
		if slices.ContainsFunc(words[1:], func(w Word) bool { _, v, ok := strings.Cut(w.Text, "="); return ok && !isCount(v) }) {
			a.unknown(UnknownSetting, a.text(c), "the variable stands for another, or is calculated from text")
		}
	}
	a.emit(invocation{words: words, redirs: a.redirects(s.Redirs, sc)}, "")
}

// invocation is a command in work, without the wrappers that were taken off.
type invocation struct {
	words  []Word
	redirs []string
	stdin  *Word
	also   []string

	written []string // other ways to write it that rules may allow
	read    optionReading
	spelled string   // rules must name this prefix to allow a command of unknown effect or one that runs any other
	listed  bool     // its options were looked up
	doubts  []string // those that are not known to be harmless
}

// spelling is the one way to write a command, and that with * for what is unknown.
func (v invocation) spelling() (text, mask string) {
	size, unknown := 0, false
	for _, w := range v.words {
		size += len(w.Text) + 3
		unknown = unknown || !w.Known || w.Glob
	}
	var t strings.Builder
	t.Grow(size)
	for i, w := range v.words {
		if i > 0 {
			t.WriteByte(' ')
		}
		t.WriteString(spell(w))
	}
	v.redirections(&t)
	if !unknown {
		return t.String(), ""
	}
	return t.String(), v.mask()
}

func (v invocation) mask() string {
	var m strings.Builder
	for i, w := range v.words {
		if i > 0 && !vanishes(w) && (i != 1 || !vanishes(v.words[0])) {
			m.WriteByte(' ')
		}
		if !w.Known || w.Glob {
			m.WriteString(w.mask)
		} else {
			m.WriteString(w.Text) // rules that deny it count however it is quoted
		}
	}
	v.redirections(&m)
	return m.String()
}

func (v invocation) redirections(to *strings.Builder) {
	for _, r := range v.redirs {
		to.WriteByte(' ')
		to.WriteString(r)
	}
}

// vanishes reports whether a word may be no word at all.
func vanishes(w Word) bool { return w.bare && strings.Trim(w.mask, "*") == "" }

// spell is a word as it would be written without needless quotes.
func spell(w Word) string {
	switch {
	case !w.Known || w.Glob:
		return w.Text
	case w.Text == "":
		return "''"
	case w.Text == "[":
		return w.Text
	case w.Text[0] == '~' || needsQuotes(w.Text):
		return "'" + strings.ReplaceAll(w.Text, "'", `'\''`) + "'"
	}
	return w.Text
}

func needsQuotes(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\n', '\r', '\v', '\f', '\'', '"', '\\', '$', '`', ';', '&', '|', '<', '>', '(', ')', '#', '*', '?', '[':
			return true
		}
	}
	return false
}

// emit puts a command into the plan.
func (a *recorder) emit(v invocation, opaque string) {
	text, mask := v.spelling()
	c := Command{Words: v.words, Text: text, Maybe: mask, Opaque: opaque, Also: v.also, Written: v.written, Doubts: v.doubts, RequiredPrefix: v.spelled, level: a.level}
	if !v.listed {
		c.Doubts = append(c.Doubts, unlistedOptions(v.words)...)
	}
	if strings.Contains(text, "'") {
		c.Also = append(c.Also, unquoted(v))
	}
	spelt := text
	for _, w := range slices.Backward(a.via) {
		if !strings.HasSuffix(w, "/") {
			w += " "
		}
		spelt = w + spelt
		c.Also, c.Written = append(c.Also, spelt), append(c.Written, spelt)
	}
	for _, w := range v.words {
		if !w.Known {
			a.note(w.Text, w.why())
		}
	}
	a.plan.Commands = append(a.plan.Commands, c)
}

// unlistedOptions are the words that may be options of a command that the table does not have.
// Of commands that only print there are none.
func unlistedOptions(words []Word) (out []string) {
	if isOne("prints", words[0].Text) {
		return nil
	}
	for _, w := range words[1:] {
		if len(w.Text) > 1 && w.Text[0] == '-' || !w.Known && mayBeOption(w) {
			out = append(out, w.Text)
		}
	}
	return out
}

// unquoted is a command with its words as the program gets them.
func unquoted(v invocation) string {
	texts := make([]string, 0, len(v.words)+len(v.redirs))
	for _, w := range v.words {
		texts = append(texts, w.Text)
	}
	return strings.Join(append(texts, v.redirs...), " ")
}

// run reads a command whose words are evaluated. It takes off wrappers, follows code, and
// emits what is left.
func (a *analyzer) run(v invocation, sc *scope) {
	if len(v.words) == 0 || !a.spend(1) || !a.enter() {
		return
	}
	defer a.leave()
	first := v.words[0]
	if first.Known && !first.Glob && strings.HasPrefix(first.Text, "=") || first.Glob && first.Text != "[" {
		about := first.extra()
		about.why = "the name of the command has wildcards"
		first.Known, first.more = false, &about
		v.words[0] = first
	}
	if !first.Known {
		sc.forgetAll()
		sc.dirs = nil
		a.unknown(UnknownCommand, first.Text, "which command it is: "+first.why())
		a.arguments(v, sc)
		a.emit(v, "")
		return
	}
	v.words[0].Glob = false
	via := a.via
	defer func() { a.via = via }()
	name := a.named(&v, sc)
	if sc.funcs[name] {
		sc.forgetAll()
		sc.dirs = nil
	}
	known := programs{a}
	if known.wrapper(name, v, sc) || a.builtin(name, v, sc) {
		return
	}
	opaque := known.program(name, &v, sc)
	a.uncertain(name, v)
	a.arguments(v, sc)
	if v.listed && follows(name, v.read) {
		a.follow(placesOf(name, v.read), sc)
	}
	a.emit(v, opaque)
}

// named is the name of a command without the directories of the system. Any other directory
// stays, for it is another program; rules that deny the name hear of it all the same.
func (a *recorder) named(v *invocation, sc *scope) string {
	full := v.words[0].Text
	at := strings.LastIndexByte(full, '/')
	if at < 0 {
		return full
	}
	base := full[at+1:]
	bare := slices.Clone(v.words)
	bare[0] = Word{Text: base, mask: base, Known: true}
	switch full[:at] {
	case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin":
		a.via = append(slices.Clip(a.via), full[:at+1])
		v.words = bare
		return base
	}
	a.path(v.words[0], sc, false, true)
	text, _ := invocation{words: bare, redirs: v.redirs}.spelling()
	v.also = append(v.also, text)
	return full
}

// uncertain is a command whose name has a second word that is unknown: git $x.
func (a *recorder) uncertain(name string, v invocation) {
	if len(v.words) > 1 && !v.words[1].Known && isOne("has-commands", name) {
		a.unknown(UnknownCommand, name+" "+v.words[1].Text, "which command of "+name+" it is: "+v.words[1].why())
	}
}
