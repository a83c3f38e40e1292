package patch

import (
	"slices"
	"strings"
	"unicode"
)

// shareWords reports whether a line with a word in it is in both.
func shareWords(have, want []string) bool {
	return slices.ContainsFunc(want, func(line string) bool {
		return strings.ContainsFunc(line, wordRune) && slices.Contains(have, line)
	})
}

// stays reports whether the change keeps a line of the file and brings none of old, or the model knows the line.
func (s *search) stays(have, want string, inHave, inPut map[string]int, fresh []string) bool {
	return inPut[have] >= inHave[have] && inPut[want] <= inHave[want] || s.known(have, want, fresh)
}

// invents reports whether the change brings a line of old that the file does not have there.
func (s *search) invents(h hit, want string, inHave, inPut map[string]int) bool {
	return inPut[want] > inHave[want] || s.nextTo(h, want)
}

// carries refuses a find that is only similar, unless new shows that the model knows the lines as
// the file has them. A line of the file that old does not have must stand in new, or new must have
// a line made of it: with all that old lacks, and nothing that only old has. Otherwise the change
// would undo what the model has not seen, or it is another place.
func (s *search) carries(h hit) *Refusal {
	have, want := trimAll(s.src.lines[h.first:h.first+h.n]), trimAll(s.want)
	put := trimAll(strings.Split(s.new, "\n"))
	gaps, ok := align(have, want, s.work)
	if !ok {
		return s.tooMuch()
	}
	if len(gaps) > 0 && !shareWords(have, want) {
		return s.doubtful(h, differs, h.first+gaps[0].have) // brackets are everywhere
	}
	inHave, inPut := count(have), count(put)
	fresh := slices.DeleteFunc(slices.Clone(put), func(line string) bool { return inHave[line] > 0 })
	for _, g := range gaps {
		for k := range max(g.haveEnd-g.have, g.wantEnd-g.want) {
			i, j := g.have+k, g.want+k
			paired := i < g.haveEnd && j < g.wantEnd
			switch {
			case paired && s.sameLine(have[i], want[j]):
				if !s.stays(have[i], want[j], inHave, inPut, fresh) {
					return s.doubtful(h, differs, h.first+i)
				}
				continue
			case i < g.haveEnd && inPut[have[i]] < inHave[have[i]]:
				return s.doubtful(h, lost, h.first+i)
			}
			if j < g.wantEnd && s.invents(h, want[j], inHave, inPut) {
				return s.doubtful(h, invented, h.first+min(i, h.n-1))
			}
		}
	}
	return nil
}

// nextTo reports whether a line stands just outside of a find, which then is not all that old
// means.
func (s *search) nextTo(h hit, line string) bool {
	if line == "" {
		return false
	}
	end := h.first + h.n
	return slices.Contains(s.trimmed[max(0, h.first-len(s.want)):h.first], line) ||
		slices.Contains(s.trimmed[end:min(len(s.trimmed), end+len(s.want))], line)
}

func count(lines []string) map[string]int {
	out := make(map[string]int, len(lines))
	for _, line := range lines {
		out[line]++
	}
	return out
}

// sameLine reports whether want is have, badly remembered.
func (s *search) sameLine(have, want string) bool {
	return have != "" && want != "" && similarity(have, want, s.work) >= leastEqual
}

// known reports whether have and want have the same words and signs, or a line that is new was
// made of have and not of want.
func (s *search) known(have, want string, fresh []string) bool {
	a, b := tokenList(have), tokenList(want)
	if slices.Equal(a, b) {
		return true
	}
	if slices.Contains(fresh, want) {
		return false // the mistake is in new to the letter
	}
	made, best := "", leastEqual
	for _, line := range fresh {
		if near := similarity(line, have, s.work); near >= best {
			made, best = line, near
		}
	}
	if made == "" {
		return false
	}
	inHave, inWant, inMade := count(a), count(b), count(tokenList(made))
	differ := false
	for t, n := range inHave {
		if n > inWant[t] {
			differ = true
			if inMade[t] < n {
				return false
			}
		}
	}
	for t, n := range inWant {
		if n > inHave[t] {
			differ = true
			if inMade[t] >= n {
				return false
			}
		}
	}
	return differ
}

// tokenList is the words and signs of a text. White space is one where it is in quotes.
func tokenList(text string) []string {
	t := tokens{text: text, word: -1, space: -1}
	for i, r := range text {
		switch {
		case wordRune(r):
			if t.word < 0 {
				t.flush(i)
				t.word = i
			}
		case unicode.IsSpace(r):
			if t.space < 0 {
				t.flush(i)
				t.space = i
			}
		default:
			t.flush(i)
			t.sign(r)
		}
	}
	t.flush(len(text))
	return t.out
}

// tokens reads the words and signs of a text.
type tokens struct {
	text        string
	out         []string
	quote       rune // that is open, or 0
	word, space int  // where the one that is read begins, or -1
}

// flush adds the word or the space that ends here.
func (t *tokens) flush(at int) {
	if t.word >= 0 {
		t.out = append(t.out, t.text[t.word:at])
	}
	if t.space >= 0 {
		if t.quote != '`' && strings.Contains(t.text[t.space:at], "\n") {
			t.quote = 0 // it was an apostrophe
		}
		if t.quote != 0 {
			t.out = append(t.out, t.text[t.space:at])
		}
	}
	t.word, t.space = -1, -1
}

// sign adds a sign, which may open or close a quote.
func (t *tokens) sign(r rune) {
	t.out = append(t.out, string(r))
	switch {
	case t.quote == r:
		t.quote = 0
	case t.quote == 0 && strings.ContainsRune("\"'`", r):
		t.quote = r
	}
}

// quotedSpaces refuses a find whose white space differs within quotes, where it is not layout, if
// the replacement would write it as old has it.
func (s *search) quotedSpaces(h hit) *Refusal {
	have, want, put := count(tokenList(s.src.slice(h.span))), count(tokenList(s.old)), count(tokenList(s.new))
	for t, n := range want {
		if blank(t) && n != have[t] && put[t] > have[t] {
			return s.doubtful(h, differs, h.first)
		}
	}
	return nil
}

// escapesToo refuses where old was escaped once too often and new has escapes as well: nobody
// can say which of them are meant.
func (s *search) escapesToo(h hit) *Refusal {
	if unescape(s.new) == s.new {
		return nil
	}
	return s.doubtful(h, escaped, h.first)
}

// escapesDiffer refuses where the file has escapes that old has not, or the other way round, and
// new has what is written differently.
func (s *search) escapesDiffer(h hit) *Refusal {
	have, want := escapes(s.src.slice(h.span)), escapes(s.old)
	for e, n := range have {
		if raw := unescape(e); n > want[e] && strings.Contains(strings.ReplaceAll(s.new, e, ""), raw) {
			return s.doubtful(h, differs, h.first)
		}
	}
	for e, n := range want {
		if n > have[e] && strings.Contains(s.new, e) {
			return s.doubtful(h, differs, h.first)
		}
	}
	return nil
}

// escapes counts the escapes of a text that mean something else than they are.
func escapes(text string) map[string]int {
	out := map[string]int{}
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\\' {
			if e := text[i : i+2]; unescape(e) != e {
				out[e]++
			}
			i++
		}
	}
	return out
}

// movedIndents are the file's indentations by those of old, where they differ.
func (s *search) movedIndents(h hit) map[string]string {
	moved := map[string]string{}
	for i := range s.want {
		file := indent(s.src.lines[h.first+i])
		if given := indent(s.want[i]); filled(s.want[i]) && given != file && (i > 0 || !h.inline) {
			moved[given] = file
		}
	}
	return moved
}

// shift says where the replacement is written at the indentation that old has and the file has
// not. Lines that new keeps tell whether it is; if there are none, those that begin as a line of
// old does.
func (s *search) shift(h hit) *Shift {
	if h.n != len(s.want) {
		return nil
	}
	put := strings.Split(h.put, "\n")
	gaps, ok := align(trimAll(s.want), trimAll(put), s.work)
	if !ok {
		return nil
	}
	moved := s.movedIndents(h)
	reported := false
	i, j := 0, 0
	for _, g := range append(gaps, gap{len(s.want), len(s.want), len(put), len(put)}) {
		for ; i < g.have; i, j = i+1, j+1 {
			file, given := indent(s.src.lines[h.first+i]), indent(put[j])
			if !filled(put[j]) || h.inline && (i == 0 || j == 0) {
				continue
			}
			if given != file {
				return &Shift{File: file, Given: given}
			}
			reported = reported || given != indent(s.want[i])
		}
		i, j = g.haveEnd, g.wantEnd
	}
	for k, line := range put {
		if file, ok := moved[indent(line)]; ok && filled(line) && !reported && (k > 0 || !h.inline) {
			return &Shift{File: file, Given: indent(line)}
		}
	}
	return nil
}

// misshapen refuses a find whose lines are indented otherwise than those quoted, and not just by
// the same amount or in other units: then a line was left out of old, or it is another place.
func (s *search) misshapen(h hit) *Refusal {
	if len(s.want) < 2 {
		return nil
	}
	lines := s.src.lines[h.first : h.first+h.n]
	var have, want []string
	pair := func(i, j int) {
		if (j > 0 || !h.inline) && filled(lines[i]) && collapse(lines[i]) == collapse(s.want[j]) {
			have, want = append(have, indent(lines[i])), append(want, indent(s.want[j]))
		}
	}
	if h.n == len(s.want) {
		for i := range lines {
			pair(i, i)
		}
	} else {
		pair(0, 0)
		pair(h.n-1, len(s.want)-1)
	}
	for _, tab := range []int{4, 2, 8} {
		if sameShape(widths(have, tab), widths(want, tab)) {
			return nil
		}
	}
	return s.doubtful(h, shape, h.first)
}

func widths(indents []string, tab int) []int {
	out := make([]int, len(indents))
	for i, in := range indents {
		out[i] = len(in) + (tab-1)*strings.Count(in, "\t")
	}
	return out
}

// sameShape reports whether one list of widths is the other with the same added to each or with
// each taken the same number of times.
func sameShape(a, b []int) bool {
	moved, scaled := true, true
	for i := range a {
		moved = moved && a[i]-b[i] == a[0]-b[0]
		for j := range a[:i] {
			scaled = scaled && a[i]*b[j] == a[j]*b[i]
		}
		scaled = scaled && (a[i] == 0) == (b[i] == 0)
		if i > 200 { // enough is known
			break
		}
	}
	return moved || scaled
}

// alien refuses a find that lacks a space of old which is no plain one, if new has it too: it
// would come into the file unseen.
func (s *search) alien(h hit) *Refusal {
	found := s.src.slice(h.span)
	odd := func(r rune) bool { return r > unicode.MaxASCII && (unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)) }
	for _, r := range s.old {
		if odd(r) && !strings.ContainsRune(found, r) && strings.ContainsRune(s.new, r) {
			return s.doubtful(h, differs, h.first)
		}
	}
	return nil
}

func filled(line string) bool { return !blank(line) }

// gap is where two lists of lines differ: have[have:haveEnd] stands for want[want:wantEnd].
type gap struct{ have, haveEnd, want, wantEnd int }

// align finds the longest common lines of two lists and returns what lies between them; false if
// the budget does not allow it.
func align(have, want []string, work *budget) ([]gap, bool) {
	head, n, m := sameEnds(have, want)
	if n == head && m == head {
		return nil, true
	}
	have, want = have[head:n], want[head:m]
	if !work.spend(8 * (len(have) + 1) * (len(want) + 1)) {
		return nil, false
	}
	common, width := commonLines(have, want), len(want)+1
	var out []gap
	i, j := 0, 0
	differ := func() bool { return i == len(have) || j == len(want) || have[i] != want[j] }
	for i < len(have) || j < len(want) {
		g := gap{head + i, head + i, head + j, head + j}
		for (i < len(have) || j < len(want)) && differ() {
			if j == len(want) || i < len(have) && common[(i+1)*width+j] >= common[i*width+j+1] {
				i++
			} else {
				j++
			}
		}
		g.haveEnd, g.wantEnd = head+i, head+j
		out = append(out, g)
		for !differ() {
			i, j = i+1, j+1
		}
	}
	return out, true
}

// sameEnds is how many lines the lists begin with alike, and where in each the lines that they end with alike begin.
func sameEnds(have, want []string) (head, n, m int) {
	for head < len(have) && head < len(want) && have[head] == want[head] {
		head++
	}
	n, m = len(have), len(want)
	for n > head && m > head && have[n-1] == want[m-1] {
		n, m = n-1, m-1
	}
	return head, n, m
}

// commonLines is how many lines the lists have in common from each pair of places on, row by row.
func commonLines(have, want []string) []int32 {
	width := len(want) + 1
	common := make([]int32, (len(have)+1)*width)
	for i := len(have) - 1; i >= 0; i-- {
		for j := len(want) - 1; j >= 0; j-- {
			if have[i] == want[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	return common
}
