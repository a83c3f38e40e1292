package markdown

import (
	"regexp"
	"testing"

	"github.com/yuin/goldmark/parser"

	"github.com/lathe-agent/lathe/tui/style"
)

type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

var _ reporter = (*testing.T)(nil)

// differs complains unless both readers see the same in a text, or, where so is said, if they do.
func differs(t reporter, p parser.Parser, src string, known bool) {
	t.Helper()
	kind := leafPara
	if isHeading(src) {
		kind = leafHeading
	}
	equal := true
	for _, conceal := range []bool{true, false} {
		o := Options{Theme: style.Default(true), Width: 80, Conceal: conceal}
		a, b := ours([]byte(src), kind, o), theirs(p, []byte(src), o)
		if !same(a, b) {
			equal = false
			if !known {
				t.Errorf("%q\nours\n%stheirs\n%s", src, spell(a), spell(b))
				return
			}
		}
	}
	if known && equal {
		t.Errorf("%q is no difference any more", src)
	}
}

// knownDifferences are texts in which ours sees something else, and should.
var knownDifferences = []struct{ text, want, why string }{
	{"[ẞ]: b\n[ss]", "[ss]", "labels are alike letter by letter, not by how a letter may be spelled with two"},
	{"&#38;lt;", "&lt;", "what stands for an & does not begin another name"},
	{"[a](](u \"t\")", "[a](](u \"t\")", "an address has no parenthesis that is not closed"},
	{"w\n|a|\n|-|\n=", "w\na│\n=", "a line of = below a table underlines nothing, least of all what is above the table"},
	{"www.a.bc/$d", "www.a.bc/$d", "a path may have the same signs with and without a scheme"},
	{"[a](<b<c>)", "[a](<b<c>)", "an address in <> has no < in it"},
	{"|a|\n|-|\n|b\\|", "a│\nb|│", "a bar behind a backslash does not end the row"},
}

// oddText finds known differences in texts that were made at random.
var oddText = regexp.MustCompile(`(?m:\]\(\s*[^)\s]*\(|\\\|\s*$)|(?s:-:?\|\n(.*\n)?[=-]+\s*(\n|$))`)

var hardCases = []string{
	"*a*", "**a**", "***a***", "****a****", "*a **b** c*", "**a *b* c**", "***a** b*", "***a* b**", "*a **b c*", "**a *b c**",
	"* a*", "*a *", "a*b*c", "a**b**c", "a_b_c", "_a_b", "a_b_", "__a__", "_a __b__ c_", "foo-_(bar)_", "_(bar)_.", "*(*a*)*", "**(*a*)**",
	"\"*a*\"", "a*\"b\"*", "*a\nb*", "**a\n\tb**", "*a**b*", "**a*b**", "*foo**bar**baz*", "*foo**bar***", "foo***bar***baz", "foo******bar*********baz",
	"**foo bar **", "*(**foo**)*", "_foo*", "*foo_bar*baz_", "**foo*bar**", "*a `*`*", "_a `_`_", "**a<b c=\"**\">", "*a <http://x.y/?q=*>", "*[a*](b)", "[*a](b)*",
	"a * b * c", "2*3*4", "* * *a", "*a*b*c*d*", "***", "****", "**", "*", "_", "a**", "**a", "*é*", "é*a*", "“*a*”", "漢*字*漢", "*漢*字", "$*a*$", "a*£*b",
	"~a~", "~~a~~", "~~~a~~~", "~a~~", "~~a~", "~~a ~~b~~ c~~", "a~b~c", "~~ a ~~", "*~~a~~*", "~~*a~~*", "~~a\nb~~", "\\~~a~~", "\\*a*", "*a\\*", "\\\\*a*",
	"`a`", "``a`b``", "` a `", "`  a  `", "` `", "`  `", "`a", "``a`", "`a``b`", "`a\nb`", "`a\\`b`", "`<a href=\"`\">`", "*`a*`", "``` a ```", "\\`a`", "`\\``",
	"[a](b)", "[a](<b c>)", "[a](b \"t\")", "[a](b 't')", "[a](b (t))", "[a]( b )", "[a](b c)", "[a]()", "[](b)", "[a](b(c)d)", "[a](b\\)c)", "[a](<b)c>)", "[a](b\n\"t\")",
	"[a] (b)", "[a[b](c)", "[a [b](c) d](e)", "[a ![b](c) d](e)", "![a [b](c) d](e)", "![a](b)", "![](b)", "!\\[a](b)", "\\![a](b)", "![*a*](b)", "[**a**](b)", "[a`]`](b)", "[a<b c=\"](d)\">",
	"[a](b \"t\"x)", "[a](b\"t\")", "[a](&lt;)", "[a](http://x.y/&amp;)", "[a](http://x.y/é%20%zz)", "[a]:b", "[a][", "[a]]", "[[a]]", "[[a](b)]", "]a[", "[a](b)[c](d)", "![[a](b)](c)",
	"[a]: b\n[a]", "[a]: b 'c'\n[a]", "[a]: <b c>\n[a]", "[a]: b\n[x][a]", "[a]: b\n[a][]", "[a]: b\n[A]", "[a b]: c\n[a   b]", "[a]: b\n[x][c]", "[a]: b\n[x][c][a]", "[a]: b\n![a]", "[a]: b\n![x][a]",
	"[a]:\nb\n[a]", "[a]: b\n'c'\n[a]", "[a]: b c\n[a]", "[a]: b\n[c]: d\n[a] [c]", "[a]: b\n[a]: c\n[a]", "[a]: b\n[*a*]", "[a]: b\n*[a]*", "[a]: b", "[a]: b\n===", "[\\]]: b\n[\\]]",
	"<http://a.b>", "<a@b.c>", "<mailto:a@b.c>", "<x:y>", "<http://a b>", "<made-up+x.1:z>", "<>", "< http://a>", "<a>", "</a>", "<a/>", "<a b='c' d=\"e\" f=g h>", "<a\nb>", "<br>", "<br/>", "a<br />b",
	"<!-- a -->", "<!-->", "<!--->", "<!-- a", "<?a?>", "<!A b>", "<![CDATA[a]]>", "<a b=c d=>", "<1>", "<a b='", "a < b > c", "<a *b*>", "*<a>*", "</a b>", "<A-b>",
	"http://a.bc", "https://a.bc/d", "see http://a.bc.", "(http://a.bc)", "http://a.bc/(d)", "http://a.bc/(d))", "http://a.bc/&amp;", "http://a.bc/d;", "www.a.bc", "www.a", "ftp://a.bc", "http://a", "xhttp://a.bc",
	"*http://a.bc*", "_http://a.bc_", "~~http://a.bc~~", "http://a.bc:80/x?y=z#w", "http://a.bc/*d*", "http://a.bc/d,e", "HTTP://a.bc", "a@b.cd", "a.b+c@d.ef.", "a@b", "a@b.c-", "a@b.c_d", "-a@b.cd", "x a@b.cd y",
	"[http://a.bc](d)", "[http://a.bc", "`http://a.bc`", "http://a.bc\nhttp://d.ef", "\"http://a.bc\"", "http://a.b_c.de", "http://A.BC/x", "http://a.bc<b>",
	"&amp;", "&lt;b&gt;", "&#42;a&#42;", "&#x2a;", "&nope;", "&amp", "&;", "&#;", "&#0;", "&#99999999;", "&copy;&ouml;", "&NotEqualTilde;", "&ampx;", "a & b", "`&amp;`", "\\a\\b", "\\", "a\\", "\\<b>",
	"a\nb", "a  \nb", "a\\\nb", "a \nb", "a\t\nb", "*a*  \nb", "  a\n   b", "a\n    b",
	"# a", "## a ##", "# a #b", "# a#", "#", "## ##", "# *a* `b`", "# a \\#", "###### a", "#\ta",
	"a\n===", "a\n---", "*a\nb*\n---", "a\n= =", "a\n===   ",
	"|a|b|\n|-|-|\n|c|d|", "a|b\n-|-\nc|d", "|a|\n|-|", "|a|b|\n|:-|-:|\n|c|d|", "|a|b|\n|:-:|-|\n|c|", "|a|\n|-|\n|b|c|", "|a|b|\n|-|", "x\n|a|b|\n|-|-|\n|c|d|", "|a|\n|-|\n|`b\\|c`|", "|a|\n|-|\n|b\\|c|",
	"|a|\n|-|\n|*b*|\n|[c](d)|", "|a|b|\n|-|-|\n||d|", "|a|b|\n|-|-|\nc", "| a | b |\n| --- | --- |\n| *c | d* |", "a\n:-", "a\n-:\nb", "|a|\n|-|\n---", "||\n|-|\n|a|", "|a|b|\n|-|-|\n|c||", "|a|\n|--|--|\n", "|a|\n|- -|\n|b|",
}
