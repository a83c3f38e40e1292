package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

func TestWebPage_Markdown(t *testing.T) {
	base, err := url.Parse("https://x.example/dir/page")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ doc, want string }{
		{"", ""},
		{"just text", "just text"},
		{"<p>a<p>b<div>c", "a\n\nb\n\nc"},
		{"<h1>a<h2>b</h2>c", "# a\n\n## b\n\nc"},
		{"<dl><dt>a<dd>b<dt>c<dd>d</dl>e", "a\n\nb\n\nc\n\nd\n\ne"},
		{"<ol start=3><li>a<li>b</ol>", "3. a\n4. b"},
		{"<blockquote><p>a</blockquote>b", "> a\n\nb"},
		{"a<br>b</br>c", "a  \nb  \nc"},
		{"<b>x<p>y</b>z</p>", "**x**\n\n**y**\n\nz"},
		{"</p></div></td>a</b>", "a"},
		{"<a href=sub/x>r</a> <a href='//y.example/z'>h</a> <a href=javascript:x()>j</a> <a>n</a>", "[r](https://x.example/dir/sub/x) [h](https://y.example/z) j n"},
		{"<base href='https://b.example/q/'><a href=x>r</a>", "[r](https://b.example/q/x)"},
		{"<a href=/1>one<a href=/2>two", "[one](https://x.example/1)[two](https://x.example/2)"},
		{"<img src=i.png alt='An  image'><img src='data:image/png;base64,xx' alt=no>", "![An image](https://x.example/dir/i.png)"},
		{"<pre>a\n<span>b</span><br>c<div>d</div><div>e</div></pre>", "```\na\nb\ncd\ne\n```"},
		{"<pre>\n\n a\n</pre><pre><b></b>\nc</pre>", "```\n\n a\n```\n\n```\n\nc\n```"},
		{"<p>press <kbd>x</kbd>, <tt>y</tt>, <del>old</del>", "press `x`, `y`, ~~old~~"},
		{"<nav>menu</nav><div><nav>open</div>after", "after"},
		{"a<script>b</script><style>c</style><svg><title>d</title><text>e</text></svg><svg/><template>f</template>g", "ag"},
		{"<p>x <nav>n<div>d</p>y", "x\n\ny"},
		{"<div>x<nav>n</div>y", "x\n\ny"},
		{"a<!-- <b>c</b> -->d", "ad"},
		{"<table><tr><td>a<td>b<tr><td>c<td>d</table>", "| a | b |\n|---|---|\n| c | d |"},
		{"<table>stray<tr><td>a</table>", "stray\n\n| a |\n|---|"},
		{"<table><tr><td><table><tr><td>in</table></table>", "| in |\n|---|"},
		{"<td>a<tr>b", "ab"},
		{"1 < 2 &amp;&amp; 3 > 2", "1 &lt; 2 && 3 &gt; 2"},
		{"<p>un\xffsound", "un\ufffdsound"},
	} {
		p := parsePage(tt.doc, base, false)
		got, err := p.markdown()
		if err != nil || got != tt.want || p.cut {
			t.Errorf("%s:\n%q, want\n%q %v", tt.doc, got, tt.want, err)
		}
	}
}

// hostile are documents of a size that are made to take forever, or to fill the memory.
func hostile(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var attrs, formats strings.Builder
	for i := 0; attrs.Len() < size; i++ {
		fmt.Fprintf(&attrs, " a%d=1", i)
	}
	for i := 0; formats.Len() < size; i++ {
		fmt.Fprintf(&formats, "<b x=%d><p>", i)
	}
	return map[string]string{
		"divs":        fill("<div>"),
		"quotes":      fill("<blockquote>") + "x",
		"quoted":      strings.Repeat("<blockquote>", 100) + fill("a<br>"),
		"lists":       fill("<ul><li>"),
		"items":       fill("<li>"),
		"links":       fill("<a href=x>"),
		"bold":        fill("<b>"),
		"italic":      fill("<b>a<i>"),
		"formats":     formats.String(),
		"attributes":  "<p" + attrs.String() + ">x",
		"ends":        fill("</p>"),
		"text ends":   fill("a</x>"),
		"comments":    fill("a<!---->"),
		"unclosed":    fill("<"),
		"comment":     "<!--" + fill("-"),
		"entities":    fill("&amp;"),
		"broken":      fill("&#x"),
		"cells":       "<table><tr>" + fill("<td>a"),
		"rows":        "<table><tr>" + strings.Repeat("<td>a", 60) + fill("<tr><td>a"),
		"tables":      fill("<table><tr><td>"),
		"strays":      "<table>" + fill("a<tr>"),
		"spans":       "<table>" + fill("<tr><td colspan=100000 rowspan=100000>a"),
		"code":        fill("<pre>`<code>"),
		"ticks":       "<pre>" + fill("`"),
		"dropped":     fill("<svg><nav>"),
		"scripts":     fill("a<script></script>"),
		"deep drop":   fill("<nav><div>a</div>"),
		"stars":       fill("*_"),
		"escapes":     fill("# 1. [a](b) <x> \\\n"),
		"line breaks": fill("\n"),
		"breaks":      fill("<br>"),
		"one word":    fill("x"),
		"headings":    fill("<h1>a"),
		"lists end":   fill("<ul><li>a</ul>"),
		"base":        "<base href='http://a'>" + fill("<base href='b'>"),
		"nul":         fill("<\x00>\x00"),
		"title":       "<title>" + fill("<title>"),
		"images":      fill("<img src=x alt=y>"),
		"misnested":   fill("<b><a href=x></b><p></a>x</p>"),
	}
}

// No document takes more than a moment, makes a large tree or a long text.
func TestWebPage_Hostile(t *testing.T) {
	const limit = 10 * time.Second // a hundred times what it takes
	for name, doc := range hostile(hostileSize) {
		start := time.Now()
		p := parsePage(doc, nil, false)
		nodes, depth := measure(p.root, 1)
		text, err := p.markdown()
		plain := p.plain()
		took := time.Since(start)
		t.Logf("%-12s %8s, %6d nodes, %3d deep, %8d bytes, %8d plain, cut %v", name, took.Round(time.Millisecond), nodes, depth, len(text), len(plain), p.cut)
		if err != nil || took > limit || nodes > pageNodes+1 || depth > pageOpen+2 || len(text) > 4*pageText || len(plain) > 2*pageText {
			t.Errorf("%s: %s, %d nodes, %d deep, %d bytes, %d plain: %v", name, took, nodes, depth, len(text), len(plain), err)
		}
	}
}

func measure(n *html.Node, at int) (nodes, depth int) {
	nodes, depth = 1, at
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		cn, cd := measure(c, at+1)
		nodes, depth = nodes+cn, max(depth, cd)
	}
	return nodes, depth
}

// Whatever a page is made of, its words stay.
func FuzzWebPage(f *testing.F) {
	for _, doc := range []string{"<p>a<b>b", "<table><tr><td>x</table>y", "<nav><ul><li>x</nav>", "<pre><div>x</div></pre>", "<a href=x><a href=y>z", "<svg/><title>x"} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		for _, nav := range []bool{true, false} {
			p := parsePage("<p>first</p>"+doc, nil, nav)
			if _, depth := measure(p.root, 1); depth > pageOpen+2 {
				t.Errorf("%d deep", depth)
			}
			text, err := p.markdown()
			if plain := p.plain(); err != nil || !strings.HasPrefix(plain, "first") || !strings.Contains(text, "first") {
				t.Errorf("%q, %q, %v", text, plain, err)
			}
		}
	})
}
