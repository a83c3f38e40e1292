package shell

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed options.txt
var optionTable string

//go:embed words.txt
var wordTable string

// optionRows are the options of programs and of commands of one ("git fetch"): a mark, then the options
// with a space before and after each. They are found when the first command is read, not when the
// program starts.
var optionRows = sync.OnceValue(func() map[string]string { return rowsOf(optionTable) })

// wordLists are the lists of words.txt by their names: the words of each, with what is after
// "=".
var wordLists = sync.OnceValue(func() map[string]map[string]string {
	lists := map[string]map[string]string{}
	for name, row := range rowsOf(wordTable) {
		lists[name] = map[string]string{}
		for word := range strings.FieldsSeq(row) {
			word, value, _ := strings.Cut(word, "=")
			lists[name][word] = value
		}
	}
	return lists
})

// isOne reports whether a list of words.txt has a word.
func isOne(list, word string) bool {
	_, ok := wordLists()[list][word]
	return ok
}

func rowsOf(table string) map[string]string {
	rows := make(map[string]string, strings.Count(table, "\n"))
	for row := range strings.Lines(table) {
		if key, rest, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "\t"); ok && row[0] != '#' {
			rows[key] = rest
		}
	}
	return rows
}

// The classes of options that are more than harmless; see options.txt.
const (
	harmless   = 0
	runsIt     = 'r'
	writesIt   = 'w'
	producesIt = 'p'
	dangerous  = 'x'
	unlisted   = '?'
)

// option is one option of a command as the program reads it.
type option struct {
	name  string // in full, if the table knows it, else as it is written
	class byte
	value Word
	has   bool // it has a value
}

// optionReading is how a program reads its words.
type optionReading struct {
	options  []option
	operands []Word
	// end is where the operands begin, for a program whose options end there.
	end int
	// unsure is a word that may be an option, for all the line tells.
	unsure []Word
}

// entry is what a row has of one name.
type entry struct {
	value    bool
	optional bool
	class    byte
}

func parseEntry(s string) (e entry) {
	if s != "" && (s[0] == '=' || s[0] == '~') {
		e.value, e.optional = s[0] == '=', s[0] == '~'
		s = s[1:]
	}
	if len(s) > 1 && s[0] == '!' {
		e.class = s[1]
	}
	return e
}

// exact finds a name in a row.
func exact(row, name string) (entry, bool) {
	name = " " + name
	for {
		at := strings.Index(row, name)
		if at < 0 {
			return entry{}, false
		}
		row = row[at+len(name):]
		if row != "" && strings.IndexByte(" =~!", row[0]) >= 0 {
			rest, _, _ := strings.Cut(row, " ")
			return parseEntry(rest), true
		}
	}
}

// abbreviated finds the names that a prefix may stand for. Where those differ it is the worst of
// them: programs refuse what is ambiguous, but an older or newer one may know fewer names.
func abbreviated(row, prefix string) (name string, e entry, ok bool) {
	prefix = " " + prefix
	for {
		at := strings.Index(row, prefix)
		if at < 0 {
			return name, e, ok
		}
		row = row[at+1:]
		token, _, _ := strings.Cut(row, " ")
		found := token
		if end := strings.IndexAny(token, "=~!"); end >= 0 {
			found = token[:end]
		}
		if got := parseEntry(token[len(found):]); !ok || e.class == harmless && got.class != harmless {
			name, e, ok = found, got, true
		}
	}
}

// long resolves a long option without its value. Git negates any option with "no-".
func long(row, name string, negates bool) (string, entry, bool) {
	if e, ok := exact(row, name); ok {
		return name, e, true
	}
	if full, e, ok := abbreviated(row, name); ok {
		return full, e, true
	}
	if !negates {
		return name, entry{}, false
	}
	if rest, ok := strings.CutPrefix(name, "--no-"); ok { // its positive form does nothing
		if _, _, ok := abbreviated(row, "--"+rest); ok {
			return name, entry{}, true
		}
		return name, entry{}, false
	}
	_, e, ok := abbreviated(row, "--no-"+name[2:])
	return name, e, ok
}

// noOption takes a word that is no option, or may be none. It reports whether the options end there.
func (r *optionReading) noOption(words []Word, i int, ends, unsure bool) bool {
	if unsure {
		r.unsure = append(r.unsure, words[i])
	}
	if !ends {
		r.operand(words, i, i+1)
		return false
	}
	r.operand(words, i, len(words))
	r.end = i
	return true
}

// readOptions reads the words of a command, without its name, as the program would. Options are
// read in whatever way they are written: joined, abbreviated, with their value in the same word or
// in the next.
func readOptions(row string, words []Word, negates bool) (r optionReading) {
	mark, _, _ := strings.Cut(row, " ")
	mark, ends := strings.CutSuffix(mark, "+")
	r.end = len(words)
	for i := 0; i < len(words); i++ {
		w := words[i]
		text, sure := w.mask, w.Known && !w.Glob
		if sure {
			text = w.Text
		}
		unsure := !sure && mayBeOption(w)
		switch {
		case ends && text == "-": // an old way to write -i of env
		case sure && text == "--":
			r.operand(words, i+1, len(words))
			r.end = min(r.end, i+1)
			return r
		case unsure || len(text) < 2 || text[0] != '-':
			if r.noOption(words, i, ends, unsure) {
				return r
			}
		default:
			var next *Word
			if i+1 < len(words) {
				next = &words[i+1]
			}
			if r.read(row, mark, w, text, next, negates) && next != nil {
				i++
				r.value(row, mark, *next, negates)
			}
		}
	}
	return r
}

// operand adds some of the words to the operands. Those stand in a row in most commands, and need no
// copy then.
func (r *optionReading) operand(words []Word, from, to int) {
	first := from - len(r.operands)
	if len(r.operands) == 0 || first >= 0 && &r.operands[0] == &words[first] {
		r.operands = words[first:to:to]
		return
	}
	r.operands = append(r.operands, words[from:to]...)
}

// mayBeOption reports whether a word that is not known could begin with a dash.
func mayBeOption(w Word) bool {
	about := w.extra()
	if about.among != nil && !about.wild {
		return slices.ContainsFunc(about.among, func(s string) bool { return strings.HasPrefix(s, "-") })
	}
	switch about.why {
	case "it is a number", "it is the result of a calculation", "it is a length", "it is a pipe to a command":
		return false
	}
	return strings.HasPrefix(w.mask, "*")
}

// value looks at the value of an option in its own word. If it looks like an option it is read
// as one too: other versions of the program may take no value.
func (r *optionReading) value(row, mark string, w Word, negates bool) {
	if !w.Known || w.Glob || len(w.Text) < 2 || w.Text[0] != '-' || w.Text == "--" {
		return
	}
	before := len(r.options)
	r.read(row, mark, w, w.Text, nil, negates)
	for i := before; i < len(r.options); i++ {
		if r.options[i].class == unlisted { // it is most likely a value
			r.options[i].class = harmless
		}
	}
}

// read reads one word of options, and reports whether it takes the next word as a value.
func (r *optionReading) read(row, mark string, w Word, text string, next *Word, negates bool) bool {
	if strings.HasPrefix(text, "--") || mark == "1" {
		return r.readLong(row, mark, w, text, next, negates)
	}
	if e, ok := exact(row, text); ok && len(text) > 2 { // of more than one letter
		return r.add(text, e, w, "", false, next)
	}
	for i := 1; i < len(text); i++ {
		if c := text[i]; c >= '0' && c <= '9' || i > 1 && c == '-' {
			continue
		}
		name := "-" + text[i:i+1]
		e, ok := exact(row, name)
		if !ok {
			e.class = unlisted
		}
		if e.value || e.optional {
			return r.add(name, e, w, text[i+1:], i+1 < len(text), next)
		}
		r.add(name, e, w, "", false, nil)
		if !ok {
			return false
		}
	}
	return false
}

func (r *optionReading) readLong(row, mark string, w Word, text string, next *Word, negates bool) bool {
	name, joined, has := strings.Cut(text, "=")
	if !w.Known && strings.Contains(name, "*") { // the name itself is not known
		r.unsure = append(r.unsure, w)
		return false
	}
	if mark == "1" {
		name = "-" + strings.TrimLeft(name, "-")
		e, ok := exact(row, name)
		if !ok {
			e.class = unlisted
		}
		return r.add(name, e, w, joined, has, next)
	}
	name, e, ok := long(row, name, negates)
	if !ok {
		e.class = unlisted
	}
	return r.add(name, e, w, joined, has, next)
}

// add keeps an option with its value, joined to it or next.
func (r *optionReading) add(name string, e entry, w Word, joined string, has bool, next *Word) bool {
	o := option{name: name, class: e.class, has: has}
	takes := e.value && !has
	switch {
	case has && w.Known:
		o.value = Word{Text: joined, Known: true, mask: joined}
	case has:
		o.value = unknownWord(w.Text, joined, w.why())
	case takes && next != nil:
		o.value, o.has = *next, true
	}
	r.options = append(r.options, o)
	return takes
}
