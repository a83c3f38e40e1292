package markdown

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/tui/style"
)

// kinds is a theme in which every kind of code has a color of its own, and the letters to call them by.
func kinds() (*style.Theme, map[style.Color]string) {
	th := &style.Theme{}
	names := map[style.Color]string{}
	for i, k := range []struct {
		name  string
		color *style.Color
	}{
		{"", &th.MarkdownCodeBlock},
		{"c", &th.SyntaxComment},
		{"k", &th.SyntaxKeyword},
		{"f", &th.SyntaxFunction},
		{"v", &th.SyntaxVariable},
		{"s", &th.SyntaxString},
		{"n", &th.SyntaxNumber},
		{"t", &th.SyntaxType},
		{"", &th.SyntaxOperator},
		{"", &th.SyntaxPunctuation},
		{"+", &th.DiffAdded},
		{"-", &th.DiffRemoved},
		{"h", &th.MarkdownHeading},
	} {
		*k.color = style.Palette(uint8(i + 1))
		names[*k.color] = k.name
	}
	return th, names
}

// told writes code with its kinds: k‹if› x.
func told(lang, code string) string {
	th, names := kinds()
	var b strings.Builder
	for i, l := range Code(lang, code, th) {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range l {
			text := strings.TrimRight(s.Text, " ")
			if n := names[s.Attr.FG]; n != "" {
				b.WriteString(n + "‹" + text + "›" + s.Text[len(text):])
			} else {
				b.WriteString(s.Text)
			}
		}
	}
	return b.String()
}

func TestCode_Languages(t *testing.T) {
	for _, c := range []struct{ lang, code, want string }{
		{"go", "func f(n int) { // why\n\treturn `a\nb` + 'c', 0x1F, nil\n}", "k‹func› f‹f›(n t‹int›) { c‹// why›\n    k‹return› s‹`a›\ns‹b`› + s‹'c'›, n‹0x1F›, n‹nil›\n}"},
		{"main.go", "x /* a\nb */ y.Call(1.5e-3)", "x c‹/* a›\nc‹b */› y.f‹Call›(n‹1.5e-3›)"},
		{"tsx", "const a: string = `t ${b}`; // x", "k‹const› a: t‹string› = s‹`t ${b}`›; c‹// x›"},
		{"python", "def f(s): # c\n    \"\"\"doc\n    more\"\"\"\n    return rb'x', True", "k‹def› f‹f›(s): c‹# c›\n    s‹\"\"\"doc›\ns‹    more\"\"\"›\n    k‹return› s‹rb'x'›, n‹True›"},
		{"rust", "fn f<'a>(x: &'a str) { /* a /* b */ c */ println!(\"{}\", 'x', r#\"a\"b\"#) }", "k‹fn› f<'a>(x: &'a t‹str›) { c‹/* a /* b */ c */› f‹println›!(s‹\"{}\"›, s‹'x'›, s‹r#\"a\"b\"#›) }"},
		{"c++", "#include <x>\nint main() { return 0; } // \"no\"", "#k‹include› <x>\nt‹int› f‹main›() { k‹return› n‹0›; } c‹// \"no\"›"},
		{"java", "@Override public String x() { return null; }", "f‹@Override› k‹public› t‹String› f‹x›() { k‹return› n‹null›; }"},
		{"kotlin", "val x = listOf(1) // c", "k‹val› x = f‹listOf›(n‹1›) c‹// c›"},
		{"c#", "var s = @\"a\\\"; s.Do();", "k‹var› s = s‹@\"a\\\"›; s.f‹Do›();"},
		{"swift", "let x: Int? = nil", "k‹let› x: t‹Int›? = n‹nil›"},
		{"ruby", "def ok?(a) # c\n=begin\nx\n=end", "k‹def› f‹ok?›(a) c‹# c›\nc‹=begin›\nc‹x›\nc‹=end›"},
		{"php", "echo $x . 'a'; # c", "k‹echo› v‹$x› . s‹'a'›; c‹# c›"},
		{"bash", "if [ \"$x\" ]; then echo $# ${y} # c\nfi", "k‹if› [ s‹\"$x\"› ]; k‹then› t‹echo› v‹$›# v‹${y}› c‹# c›\nk‹fi›"},
		{"sql", "SELECT count(*) FROM t -- c\nwhere a = 'x'", "k‹SELECT› f‹count›(*) k‹FROM› t c‹-- c›\nk‹where› a = s‹'x'›"},
		{"json", "{\"a\": [1, \"b\", true]}", "{t‹\"a\"›: [n‹1›, s‹\"b\"›, n‹true›]}"},
		{"yaml", "# c\n- name: \"x\" # d\n  on: true", "c‹# c›\nt‹- name›: s‹\"x\"› c‹# d›\nt‹  on›: n‹true›"},
		{"toml", "[a.b]\nkey = 1 # c", "k‹[a.b]›\nt‹key› = n‹1› c‹# c›"},
		{"html", "<p class=\"a\">x &amp; <!-- c\nd --></p>", "<k‹p› t‹class›=s‹\"a\"›>x &amp; c‹<!-- c›\nc‹d -->›</k‹p›>"},
		{"css", ".a { color: red; } /* c */", ".a { v‹color›: red; } c‹/* c */›"},
		{"lua", "local x = [[a\nb]] -- c", "k‹local› x = s‹[[a›\ns‹b]]› c‹-- c›"},
		{"md", "# Head\n- a `b`", "h‹# Head›\nk‹-› a s‹`b`›"},
		{"diff", "@@ -1 +1 @@\n-a\n+b\n c", "f‹@@ -1 +1 @@›\n-‹-a›\n+‹+b›\n c"},
		{"Dockerfile", "FROM go AS build # c\nRUN x", "k‹FROM› go k‹AS› build c‹# c›\nk‹RUN› x"},
		{"makefile", "all: b # c\n\techo $(x)", "f‹all›: b c‹# c›\n    echo v‹$›(x)"},
		{"unknown", "if x", "if x"},
		{"", "if x", "if x"},
	} {
		if got := told(c.lang, c.code); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.lang, got, c.want)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, name := range []string{"go", "Go", "golang", "src/a.go", "C:\\src\\a.go", "a.test.ts", "go {linenos=true}", "Dockerfile.dev", "js,ignore", ".bashrc", "Makefile"} {
		if x := NewLexer(name); !x.IsSupported() {
			t.Errorf("%q is not known", name)
		}
	}
}

// Colors change no text, in no language, and a line may be read or skipped.
func TestLexer_AnyText(t *testing.T) {
	th := style.Default(true)
	all := slices.Sorted(maps.Keys(languages()))
	rapid.Check(t, func(t *rapid.T) {
		x := NewLexer(rapid.SampledFrom(all).Draw(t, "lang"))
		y := x
		for _, line := range rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.StringMatching("[\"'`/*#<>!=$@{}()a-zA-Z0-9 \\\\-]{0,30}"))).Draw(t, "lines") {
			line = strings.ReplaceAll(line, "\n", " ")
			if got, want := x.Line(line, th).Text(), style.Clean(line); got != want {
				t.Fatalf("%q became %q", want, got)
			}
			y.Skip(line)
			if !x.Same(y) {
				t.Fatalf("skipping %q leads elsewhere than reading it", line)
			}
		}
	})
}
