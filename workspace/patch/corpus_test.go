package patch_test

import (
	"embed"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/workspace/patch"
)

//go:embed testdata/corpus/*.txt
var corpus embed.FS

// call is an edit as a model would send it, and what it should have been.
type call struct {
	lang, kind       string
	content          string
	first, n         int // the lines that are meant
	trueOld, trueNew string
	old, new         string
}

// mutation spoils what a model quotes, as models do.
type mutation struct {
	name  string
	spoil func(r *rand.Rand, text string) string
	file  func(text string) string // the file is another as well
	// once spoils only old: what the model writes has no mistake. all spoils also what it
	// writes again; otherwise it continues what it quoted.
	once, all bool
}

func mutations() []mutation {
	lines := func(f func(r *rand.Rand, line string) string) func(*rand.Rand, string) string {
		return func(r *rand.Rand, text string) string {
			list := strings.Split(text, "\n")
			for i := range list {
				list[i] = f(r, list[i])
			}
			return strings.Join(list, "\n")
		}
	}
	plainly := func(f func(string) string) func(*rand.Rand, string) string {
		return func(_ *rand.Rand, text string) string { return f(text) }
	}
	replace := func(pairs ...string) func(*rand.Rand, string) string {
		return plainly(strings.NewReplacer(pairs...).Replace)
	}
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	word := regexp.MustCompile(`[A-Za-z]{4,}`)
	return []mutation{
		{name: "trailing spaces", spoil: lines(func(r *rand.Rand, l string) string { return l + strings.Repeat(" ", r.IntN(3)) })},
		{name: "no indentation", spoil: plainly(dedentText)},
		{name: "less indentation", spoil: lines(func(_ *rand.Rand, l string) string { return strings.TrimPrefix(strings.TrimPrefix(l, "\t"), "  ") })},
		{name: "more indentation", spoil: lines(func(_ *rand.Rand, l string) string {
			if l == "" {
				return l
			}
			return "    " + l
		})},
		{name: "tabs as spaces", spoil: replace("\t", "    ")},
		{name: "spaces as tabs", spoil: replace("    ", "\t")},
		{name: "first line without indentation", spoil: func(_ *rand.Rand, t string) string { return strings.TrimLeft(t, " \t") + " " }},
		{name: "blank lines around", spoil: func(_ *rand.Rand, t string) string { return "\n\n" + t + "\n\n\n" }, all: true},
		{name: "wider spaces", spoil: lines(func(_ *rand.Rand, l string) string {
			in := l[:len(l)-len(strings.TrimLeft(l, " \t"))]
			return in + strings.ReplaceAll(l[len(in):], " ", "  ")
		})},
		{name: "CRLF in the call", spoil: plainly(crlf), all: true},
		{name: "CRLF in the file", spoil: plainly(func(t string) string { return t }), file: crlf, all: true},
		{name: "CRLF in the file, trailing spaces", spoil: lines(func(_ *rand.Rand, l string) string { return l + " " }), file: crlf},
		{name: "mark in the file", spoil: plainly(func(t string) string { return t }), file: func(t string) string { return "\ufeff" + t }, all: true},
		{name: "escaped twice", spoil: replace("\\", `\\`, "\n", `\n`, "\t", `\t`, `"`, `\"`), all: true},
		{name: "escaped twice, old only", spoil: replace("\\", `\\`, "\n", `\n`, "\t", `\t`, `"`, `\"`), once: true},
		{name: "quotes escaped", spoil: replace(`"`, `\"`, "'", `\'`), all: true},
		{name: "escapes dropped", spoil: replace(`\"`, `"`, `\\`, `\`, `\t`, "\t"), all: true},
		{name: "curly quotes", spoil: replace(`"`, "”", "'", "’"), all: true},
		{name: "other quotes", spoil: replace(`"`, "'", "'", `"`), all: true},
		{name: "long dashes", spoil: replace("-", "–", "...", "…"), all: true},
		{name: "spaces that do not break", spoil: replace(" ", "\u00a0"), all: true},
		{name: "line dropped", spoil: dropLine},
		{name: "line dropped, old only", spoil: dropLine, once: true},
		{name: "line invented", spoil: inventLine},
		{name: "line invented, old only", spoil: inventLine, once: true},
		{name: "middle elided", spoil: elide},
		{name: "middle elided, old only", spoil: elide, once: true},
		{name: "lines swapped", spoil: swapLines, once: true},
		{name: "other word", spoil: middle(func(_ *rand.Rand, l string) string { return replaceFirst(word, l, "other") })},
		{name: "other word, old only", spoil: middle(func(_ *rand.Rand, l string) string { return replaceFirst(word, l, "other") }), once: true},
		{name: "letter dropped", spoil: middle(func(_ *rand.Rand, l string) string {
			return word.ReplaceAllStringFunc(l, func(w string) string { return w[:len(w)-1] })
		})},
		{name: "letter dropped, old only", spoil: middle(func(_ *rand.Rand, l string) string {
			return word.ReplaceAllStringFunc(l, func(w string) string { return w[:len(w)-1] })
		}), once: true},
		{name: "argument dropped", spoil: middle(func(_ *rand.Rand, l string) string { return regexp.MustCompile(`, [^,()]*\)`).ReplaceAllString(l, ")") })},
		{name: "capitals", spoil: middle(func(_ *rand.Rand, l string) string { return strings.ToUpper(l) })},
		{name: "line numbers", spoil: func(r *rand.Rand, t string) string {
			n := r.IntN(90)
			return lines(func(_ *rand.Rand, l string) string { n++; return fmt.Sprintf("%d: %s", n, l) })(r, t)
		}, all: true},
		{name: "code fence", spoil: plainly(func(t string) string { return "```\n" + t + "\n```" }), all: true},
	}
}

func dedentText(text string) string {
	list := strings.Split(text, "\n")
	least := -1
	for _, l := range list {
		if n := len(l) - len(strings.TrimLeft(l, " \t")); strings.TrimSpace(l) != "" && (least < 0 || n < least) {
			least = n
		}
	}
	for i, l := range list {
		list[i] = l[min(len(l), max(least, 0)):]
	}
	return strings.Join(list, "\n")
}

// middle changes one line that is neither the first nor the last.
func middle(f func(*rand.Rand, string) string) func(*rand.Rand, string) string {
	return func(r *rand.Rand, text string) string {
		list := strings.Split(text, "\n")
		if len(list) > 2 {
			i := 1 + r.IntN(len(list)-2)
			list[i] = f(r, list[i])
		}
		return strings.Join(list, "\n")
	}
}

func replaceFirst(re *regexp.Regexp, line, with string) string {
	at := re.FindStringIndex(line)
	if at == nil {
		return line
	}
	return line[:at[0]] + with + line[at[1]:]
}

func dropLine(r *rand.Rand, text string) string {
	list := strings.Split(text, "\n")
	if len(list) < 3 {
		return text
	}
	i := 1 + r.IntN(len(list)-2)
	return strings.Join(slices.Delete(list, i, i+1), "\n")
}

func inventLine(r *rand.Rand, text string) string {
	list := strings.Split(text, "\n")
	if len(list) < 2 {
		return text
	}
	return strings.Join(slices.Insert(list, 1+r.IntN(len(list)-1), "    check(this)"), "\n")
}

func elide(_ *rand.Rand, text string) string {
	list := strings.Split(text, "\n")
	if len(list) < 4 {
		return text
	}
	return strings.Join([]string{list[0], "    // ...", list[len(list)-1]}, "\n")
}

func swapLines(r *rand.Rand, text string) string {
	list := strings.Split(text, "\n")
	if len(list) < 4 {
		return text
	}
	i := 1 + r.IntN(len(list)-3)
	list[i], list[i+1] = list[i+1], list[i]
	return strings.Join(list, "\n")
}

// change is what a model wants to make of some lines.
type change struct{ op, line int }

// apply makes it of lines; at is where in them the line is that it is about, and like has the
// indentation for what is new.
func (ch change) apply(list []string, at int, like string) string {
	list = slices.Clone(list)
	in := like[:len(like)-len(strings.TrimLeft(like, " \t"))]
	switch ch.op {
	case 0: // one line changed a little
		list[at] += " // changed"
	case 1: // one line replaced
		list[at] = in + "replaced(\"a  b\", 'c')"
	case 2: // one line more
		list = slices.Insert(list, at, in+"added(1)")
	case 3: // one line less
		list = slices.Delete(list, at, at+1)
	case 4: // all new
		list = []string{list[0], in + "everything()", in + "is_new()"}
	default: // nothing left
		list = nil
	}
	return strings.Join(list, "\n")
}

// makeCall makes one call of a seed, and false where the mutation changes nothing that counts.
func makeCall(r *rand.Rand, lang, content string, m mutation) (call, bool) {
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	n := 1 + r.IntN(8)
	first := r.IntN(len(lines) - n)
	c := call{lang: lang, kind: m.name, content: content, first: first, n: n}
	target := lines[first : first+n]
	c.trueOld = strings.Join(target, "\n")
	if strings.TrimSpace(lines[first]) == "" || strings.TrimSpace(lines[first+n-1]) == "" || strings.Count(content, c.trueOld) != 1 {
		return c, false
	}
	ch := change{op: r.IntN(6), line: r.IntN(n)}
	if strings.TrimSpace(target[ch.line]) == "" {
		return c, false
	}
	c.trueNew = ch.apply(target, ch.line, target[ch.line])
	c.old = m.spoil(r, c.trueOld)
	switch {
	case m.once:
		c.new = c.trueNew
	case m.all:
		c.new = m.spoil(r, c.trueNew)
	default: // what it quoted wrongly it continues
		list := strings.Split(c.old, "\n")
		at := ch.line
		if len(list) != n {
			at = slices.Index(list, target[ch.line])
			if slices.Index(target, target[ch.line]) != ch.line {
				return c, false
			}
		}
		if at < 0 {
			return c, false
		}
		like := list[at]
		if m.name == "first line without indentation" {
			like = target[ch.line]
			if ch.op == 1 && ch.line == 0 {
				like = ""
			}
		}
		c.new = ch.apply(list, at, like)
	}
	if m.file != nil {
		c.content = m.file(content)
		return c, c.old != c.new
	}
	return c, c.old != c.trueOld && !strings.Contains(content, c.old) && c.old != c.new
}

// verdict judges what became of a call: "right", "refused", "shifted" (what was asked for, at
// another indentation, and said so) or what is wrong.
func (c call) verdict(got patch.Replacement, err error) string {
	if err != nil {
		return "refused"
	}
	text := strings.TrimPrefix(strings.ReplaceAll(got.Content, "\r\n", "\n"), "\ufeff")
	plain := strings.TrimPrefix(strings.ReplaceAll(c.content, "\r\n", "\n"), "\ufeff")
	want := strings.Replace(plain, c.trueOld, c.trueNew, 1)
	if strings.Contains(c.content, "\r\n") && strings.Count(got.Content, "\n") != strings.Count(got.Content, "\r\n") {
		return "line endings mixed"
	}
	if strings.HasPrefix(c.content, "\ufeff") != strings.HasPrefix(got.Content, "\ufeff") {
		return "mark lost"
	}
	if text == want {
		return "right"
	}
	before := strings.Join(strings.Split(plain, "\n")[:c.first], "\n")
	after := strings.Join(strings.Split(plain, "\n")[c.first+c.n:], "\n")
	if !strings.HasPrefix(text, before) || !strings.HasSuffix(text, after) {
		return "other lines changed"
	}
	squeezed := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' }), "")
	}
	if squeezed(text) != squeezed(want) {
		return "other text"
	}
	if !slices.Equal(literals(text), literals(want)) {
		return "white space in quotes changed"
	}
	if layout(text) != layout(want) {
		if got.Shift == nil {
			return "indentation changed, and nothing said"
		}
		return "shifted"
	}
	return "right"
}

// literals are the texts in quotes.
func literals(text string) []string { return regexp.MustCompile(`"[^"\n]*"`).FindAllString(text, -1) }

// layout is the indentation of all lines.
func layout(text string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			out.WriteString(line[:len(line)-len(strings.TrimLeft(line, " \t"))] + "|\n")
		}
	}
	return out.String()
}

// tally is what became of calls: by mutation and verdict.
type tally map[string]map[string]int

func (ta tally) add(kind, verdict string) {
	for _, k := range []string{kind, "all"} {
		if ta[k] == nil {
			ta[k] = map[string]int{}
		}
		ta[k][verdict]++
		ta[k]["all"]++
	}
}

func (ta tally) String() string {
	var out strings.Builder
	for _, m := range append(mutations(), mutation{name: "all"}) {
		c := ta[m.name]
		fmt.Fprintf(&out, "%-36s %4d: right %3d, shifted and said %3d, refused %3d, wrong %d\n", m.name, c["all"], c["right"], c["shifted"], c["refused"],
			c["all"]-c["right"]-c["shifted"]-c["refused"])
	}
	return out.String()
}

// runCorpus makes calls of a seed and reports each that is applied wrong.
func runCorpus(t *testing.T, seed uint64, calls int) tally {
	r := rand.New(rand.NewPCG(7, seed))
	all := mutations()
	got := tally{}
	langs := []string{"go", "python", "typescript", "rust"}
	for i := 0; got["all"]["all"] < calls; i++ {
		m, lang := all[i%len(all)], langs[r.IntN(len(langs))]
		src, err := corpus.ReadFile("testdata/corpus/" + lang + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		c, ok := makeCall(r, lang, string(src), m)
		if !ok {
			continue
		}
		done, err := patch.Replace(c.content, c.old, c.new, false)
		v := c.verdict(done, err)
		got.add(m.name, v)
		switch v {
		case "right", "refused", "shifted":
		default:
			t.Errorf("%s, %s, by %s: %s\nold: %q\nnew: %q\nmeant: %q\n   to: %q\nwas: %q", m.name, lang, done.Matcher, v, c.old, c.new, c.trueOld, c.trueNew, done.Passages[0].Old)
		}
		if err != nil && (len(err.Error()) < 60 || !strings.Contains(err.Error(), "Nothing was changed")) {
			t.Errorf("%s: a poor message: %v", m.name, err)
		}
	}
	return got
}

// TestReplace_Corpus makes a thousand calls with the mistakes models make. None may change
// anything but what was meant. What became of them is printed.
func TestReplace_Corpus(t *testing.T) {
	const calls = 1000
	got := runCorpus(t, 2026, calls)
	t.Logf("\n%s", got)
	if right := got["all"]["right"]; right < calls/3 {
		t.Errorf("only %d of %d were applied", right, calls)
	}
}
