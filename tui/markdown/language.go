package markdown

import (
	"path"
	"strings"
	"sync"
)

// language is what the lexer must know to colour a text. It need not understand it.
type language struct {
	words    map[string]kind // keywords, types and constants
	lines    []string        // what begins a comment to the end of the line
	blocks   []block
	strings  []quote // longer openings first
	prefixes string  // letters that may stand before a string, separated by spaces
	extra    string  // further characters of names

	folds     bool // keywords in any case
	caps      bool // a name with a capital is a type
	dollar    bool // $name is a variable
	bang      bool // name! is a call
	spaced    bool // comments need a space before them
	keys      bool // a string before a colon is a key
	colonKeys bool // a name before a colon is a key
	markup    bool // tags

	head  func(line string) (int, kind) // what the beginning of a line is
	whole func(line string) kind        // for languages of whole lines
}

type block struct {
	open, close string
	nests       bool
	first       bool // only at the beginning of a line
}

type quote struct {
	open, close string
	escape      bool // a backslash takes the next character along
	long        bool // reaches over the end of the line
	char        bool // one character, otherwise no string at all
}

var (
	doubled  = quote{open: `"`, close: `"`, escape: true}
	single   = quote{open: "'", close: "'", escape: true}
	tripled  = quote{open: `"""`, close: `"""`, escape: true, long: true}
	tripled1 = quote{open: "'''", close: "'''", escape: true, long: true}
	backtick = quote{open: "`", close: "`", escape: true, long: true}
	oneChar  = quote{open: "'", close: "'", escape: true, char: true}
	slashes  = []string{"//"}
	hash     = []string{"#"}
	starred  = []block{{open: "/*", close: "*/"}}
	nested   = []block{{open: "/*", close: "*/", nests: true}}
)

// lookup finds a language by the name in a fence, by an ending or by a path; nil if it is not known.
func lookup(name string) *language {
	name = strings.ToLower(strings.TrimSpace(name))
	if i := strings.IndexAny(name, " {,:\t"); i > 0 {
		name = name[:i]
	}
	if name == "" {
		return nil
	}
	base := path.Base(strings.ReplaceAll(name, "\\", "/"))
	for _, key := range []string{name, base, strings.TrimPrefix(path.Ext(base), "."), stem(base)} {
		if build := languages()[key]; build != nil {
			return build()
		}
	}
	return nil
}

// stem is a name without its ending, for files as Dockerfile.dev; "" where the ending says more.
func stem(base string) string {
	s := strings.TrimSuffix(base, path.Ext(base))
	if s == "dockerfile" || s == "makefile" || s == "containerfile" {
		return s
	}
	return ""
}

// languages has each under all its names and endings. They are built one by one, when they are first asked for.
var languages = sync.OnceValue(func() map[string]func() *language {
	out := map[string]func() *language{}
	for _, l := range [...]struct {
		names string
		build func() *language
	}{
		{"go golang go.mod", langGo},
		{"js javascript mjs cjs jsx ts typescript tsx mts cts node", langJS},
		{"python py py3 pyi pyw python3 starlark bzl", langPython},
		{"rust rs", langRust},
		{"c h cpp c++ cc cxx hpp hh hxx objc objective-c m mm ino cu glsl", langC},
		{"java groovy gradle scala sc", langJava},
		{"kotlin kt kts", langKotlin},
		{"csharp cs c# dotnet", langCSharp},
		{"swift", langSwift},
		{"ruby rb rake gemspec gemfile rakefile podfile crystal cr", langRuby},
		{"php phtml", langPHP},
		{"sh bash zsh shell shellscript ksh fish console shell-session env .env .bashrc .zshrc .profile dotenv", langShell},
		{"sql mysql postgres postgresql sqlite plsql pgsql", langSQL},
		{"json jsonc json5 jsonl ndjson webmanifest ipynb", langJSON},
		{"yaml yml", langYAML},
		{"toml ini cfg conf properties editorconfig lock cargo.lock", langTOML},
		{"html xml xhtml svg vue svelte xsl xsd plist htm astro", langHTML},
		{"css scss sass less", langCSS},
		{"lua luau", langLua},
		{"markdown md mdx", langMarkdown},
		{"diff patch", langDiff},
		{"docker dockerfile containerfile", langDocker},
		{"make makefile mk gnumakefile", langMake},
		{"zig", langZig},
		{"elixir ex exs", langElixir},
		{"proto protobuf", langProto},
		{"hcl tf terraform tfvars", langHCL},
	} {
		build := sync.OnceValue(l.build)
		for name := range strings.FieldsSeq(l.names) {
			out[name] = build
		}
	}
	return out
})

// words makes the table of names from lists separated by spaces.
func words(keywords, types, constants string) map[string]kind {
	out := map[string]kind{}
	for _, list := range []struct {
		kind kind
		text string
	}{{number, constants}, {typ, types}, {keyword, keywords}} {
		for _, w := range strings.Fields(list.text) {
			out[w] = list.kind
		}
	}
	return out
}
