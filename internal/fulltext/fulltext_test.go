package fulltext

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	long := strings.Repeat("a", 100)
	for name, c := range map[string]struct {
		texts []string
		limit int
		want  []string
	}{
		"nothing":     {[]string{"", " \n\t…!"}, 9, nil},
		"case":        {[]string{"Foo foo FOO Bar"}, 9, []string{"foo", "bar"}},
		"file name":   {[]string{"store/commit_log.go"}, 9, []string{"store", "commit", "log", "go"}},
		"several":     {[]string{"x1 x2", "x2 x3"}, 9, []string{"x1", "x2", "x3"}},
		"pairs":       {[]string{"if the mutex is in the", "of mutex"}, 20, []string{"if", "the", "if§the", "mutex", "is", "in", "is§in", "in§the", "of"}},
		"limit":       {[]string{"x1 x2 x3", "x4"}, 2, []string{"x1", "x2"}},
		"accents":     {[]string{"Über ÉTÉ straße"}, 9, []string{"über", "été", "straße"}},
		"long":        {[]string{long + " " + long + "b"}, 9, []string{strings.Repeat("a", 40)}},
		"no spaces":   {[]string{"検索する2回"}, 9, []string{"検", "索", "す", "る", "2", "回"}},
		"marks":       {[]string{"हिन्दी"}, 9, []string{"हिन्दी"}},
		"invalid":     {[]string{"x1\xffx2\xc3"}, 9, []string{"x1", "x2"}},
		"filter word": {[]string{"§tbash"}, 9, []string{"tbash"}},
		"escapes":     {[]string{"\x1b[31mred\x1b[0m"}, 9, []string{"31mred", "0m"}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, Words(c.limit, c.texts...)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		typing bool
		want   []Term
		err    string
	}{
		"words":         {text: "Flaky test", want: []Term{{Words: []string{"flaky"}}, {Words: []string{"test"}}}},
		"row":           {text: `x "connection  RESET" y`, want: []Term{{Words: []string{"x"}}, {Words: []string{"connection", "reset"}}, {Words: []string{"y"}}}},
		"open quote":    {text: `"a b`, want: []Term{{Words: []string{"a"}}, {Words: []string{"b"}}}},
		"third quote":   {text: `"a b" "c`, want: []Term{{Words: []string{"a", "b"}}, {Words: []string{"c"}}}},
		"inches":        {text: `5" disk`, want: []Term{{Words: []string{"5"}}, {Words: []string{"disk"}}}},
		"lone quote":    {text: `"`, err: "the search text has no word; type at least one letter or digit"},
		"typing row":    {text: `"open fi`, typing: true, want: []Term{{Words: []string{"open"}}, {Words: []string{"fi"}, Prefix: true}}},
		"path":          {text: "store/commit.go", want: []Term{{Words: []string{"store", "commit", "go"}}}},
		"star":          {text: "pars*", want: []Term{{Words: []string{"pars"}, Prefix: true}}},
		"short star":    {text: "p*", want: []Term{{Words: []string{"p"}}}},
		"quoted star":   {text: `"pars*"`, want: []Term{{Words: []string{"pars"}}}},
		"typing":        {text: "open fi", typing: true, want: []Term{{Words: []string{"open"}}, {Words: []string{"fi"}, Prefix: true}}},
		"typed":         {text: "open file ", typing: true, want: []Term{{Words: []string{"open"}}, {Words: []string{"file"}}}},
		"empty":         {text: " ", err: "the search text has no word; type at least one letter or digit"},
		"only signs":    {text: `*"" -`, err: "the search text has no word; type at least one letter or digit"},
		"too long":      {text: strings.Repeat("a", 1001), err: "the search text has 1001 bytes; the limit is 1000"},
		"too many":      {text: strings.Repeat("a ", 40), err: "the search text has more than 32 words"},
		"FTS5 language": {text: `a AND NOT (b) ^c :d {e}`, want: []Term{{Words: []string{"a"}}, {Words: []string{"and"}}, {Words: []string{"not"}}, {Words: []string{"b"}}, {Words: []string{"c"}}, {Words: []string{"d"}}, {Words: []string{"e"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := Parse(c.text, c.typing)
			if got := errText(err); got != c.err {
				t.Fatalf("error %q, want %q", got, c.err)
			}
			if d := cmp.Diff(c.want, q.Terms); c.err == "" && d != "" {
				t.Error(d)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		query string
		texts []string
		want  bool
	}{
		{"reset connection", []string{"Connection was RESET"}, true},
		{"reset connection", []string{"connection", "reset by peer"}, true},
		{`"reset connection"`, []string{"reset", "connection"}, false},
		{`"connection reset"`, []string{"connection reset"}, true},
		{`"connection reset"`, []string{"connection\n  Reset!"}, true},
		{`"connection reset"`, []string{"reset connection"}, false},
		{`"a a b"`, []string{"a a a b"}, true},
		{`"a b a c"`, []string{"a b a b a c"}, true},
		{"pars*", []string{"the parser"}, true},
		{"pars", []string{"the parser"}, false},
		{"store/comm*", []string{"in store/commit.go"}, true},
		{"検索", []string{"全文検索エンジン"}, true},
		{"索検", []string{"全文検索エンジン"}, false},
	} {
		q, err := Parse(c.query, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Matches(c.texts...); got != c.want {
			t.Errorf("%s in %q: %v", c.query, c.texts, got)
		}
	}
}

func TestSnippet(t *testing.T) {
	far := strings.Repeat("word ", 100)
	for name, c := range map[string]struct{ query, text, want string }{
		"whole":     {"two", "one two three", "one [two] three"},
		"space":     {"two", "  one\n\t two\n", "one [two] "},
		"cut":       {"needle", far + "needle " + far, "… word word word [needle] word word word word word word word …"},
		"densest":   {"a b", "a " + far + "a b", "… word word word [a] [b]"},
		"row":       {`"b c"`, "a b  c d", "a [b c] d"},
		"beginning": {"nee*", "the needles", "the [needles]"},
		"invalid":   {"a", "\xff a \xfe", "\ufffd [a] \ufffd"},
		"none":      {"x", "a b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := Parse(c.query, false)
			if err != nil {
				t.Fatal(err)
			}
			if got := drawn(q.Snippet(c.text, 60)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func drawn(list []Fragment) string {
	var b strings.Builder
	for _, f := range list {
		if f.Match {
			b.WriteString("[" + f.Text + "]")
		} else {
			b.WriteString(f.Text)
		}
	}
	return b.String()
}

// A text is found by each of its own words and by any two of them in a row; its snippet is valid, bounded and marks something.
func TestSnippet_OfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text") + rapid.StringMatching(`( ?[a-zÀ-ÿ検索"*]{0,9}\n?){0,60}`).Draw(t, "more")
		words := slices.DeleteFunc(Words(1000, text), func(w string) bool { return strings.Contains(w, joint) })
		if len(words) == 0 {
			return
		}
		q, err := Parse(rapid.SampledFrom(words).Draw(t, "word"), false)
		if err != nil {
			t.Fatal(err)
		}
		if !q.Matches(text) {
			t.Fatalf("%q does not contain its word %v", text, q)
		}
		width := rapid.IntRange(1, 200).Draw(t, "width")
		got := q.Snippet(text, width)
		size, marked := 0, false
		for _, f := range got {
			if !utf8.ValidString(f.Text) || f.Text == "" {
				t.Fatalf("fragment %q", f.Text)
			}
			size, marked = size+len(f.Text), marked || f.Match
		}
		if !marked && len(q.Terms[0].Words[0]) < 4*width {
			t.Fatalf("nothing is marked in %v", got)
		}
	})
}

// The index has all entries of a query that a text fits: what it does not propose is not found.
func TestEntries_AreInTheIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"the", "mutex", "if", "err", "x", "7", "検", "Über", "of", "returned", "re"})
		text := strings.Join(rapid.SliceOfN(word, 1, 30).Draw(t, "text"), rapid.SampledFrom([]string{" ", "/", "\n"}).Draw(t, "between"))
		query := strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "query"), " ")
		if rapid.Bool().Draw(t, "quoted") {
			query = `"` + query + `"`
		}
		q, err := Parse(query, rapid.Bool().Draw(t, "typing"))
		if err != nil || !q.Matches(text) {
			return
		}
		index := Words(1000, text)
		for _, e := range q.Entries() {
			if !slices.ContainsFunc(index, func(w string) bool { return w == e.Text || e.Prefix && strings.HasPrefix(w, e.Text) }) {
				t.Fatalf("%s fits %q, but the index %q has no %v", query, text, index, e)
			}
		}
	})
}

func TestEntries(t *testing.T) {
	for query, want := range map[string][]Entry{
		`"return the err"`: {{Text: "return§the"}, {Text: "the§err"}},
		`"the mutex is"`:   {{Text: "the"}, {Text: "mutex"}, {Text: "is"}},
		"if the":           {{Text: "if"}, {Text: "the"}},
		"in/th*":           {{Text: "in"}, {Text: "th", Prefix: true}},
		"is/in/the*":       {{Text: "is§in"}, {Text: "the", Prefix: true}},
	} {
		q, err := Parse(query, false)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, q.Entries()); d != "" {
			t.Errorf("%s: %s", query, d)
		}
	}
}

func FuzzQuery(f *testing.F) {
	f.Add(`"a b" c*`, "a b cd", 20)
	f.Fuzz(func(t *testing.T, query, text string, width int) {
		q, err := Parse(query, true)
		if err != nil {
			return
		}
		got := q.Snippet(text, 1+max(width, 0)%300)
		if q.Count(text) > 0 != (got != nil) {
			t.Errorf("%q in %q: %v", query, text, got)
		}
	})
}
