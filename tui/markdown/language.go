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
		if l := aliases()[key]; l != "" {
			return languages()[l]()
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

// aliases are the names and endings of each language.
var aliases = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for name, also := range map[string]string{
		"go":       "golang go.mod",
		"js":       "javascript mjs cjs jsx ts typescript tsx mts cts node",
		"python":   "py py3 pyi pyw python3 starlark bzl",
		"rust":     "rs",
		"c":        "h cpp c++ cc cxx hpp hh hxx objc objective-c m mm ino cu glsl",
		"java":     "groovy gradle scala sc",
		"kotlin":   "kt kts",
		"csharp":   "cs c# dotnet",
		"swift":    "",
		"ruby":     "rb rake gemspec gemfile rakefile podfile crystal cr",
		"php":      "phtml",
		"sh":       "bash zsh shell shellscript ksh fish console shell-session env .env .bashrc .zshrc .profile dotenv",
		"sql":      "mysql postgres postgresql sqlite plsql pgsql",
		"json":     "jsonc json5 jsonl ndjson webmanifest ipynb",
		"yaml":     "yml",
		"toml":     "ini cfg conf properties editorconfig lock cargo.lock",
		"html":     "xml xhtml svg vue svelte xsl xsd plist htm astro",
		"css":      "scss sass less",
		"lua":      "luau",
		"markdown": "md mdx",
		"diff":     "patch",
		"docker":   "dockerfile containerfile",
		"make":     "makefile mk gnumakefile",
		"zig":      "",
		"elixir":   "ex exs",
		"proto":    "protobuf",
		"hcl":      "tf terraform tfvars",
	} {
		out[name] = name
		for _, a := range strings.Fields(also) {
			out[a] = name
		}
	}
	return out
})

// languages are built one by one, when they are first asked for.
var languages = sync.OnceValue(func() map[string]func() *language {
	out := map[string]func() *language{}
	for name, build := range map[string]func() *language{
		"go": langGo, "js": langJS, "python": langPython, "rust": langRust, "c": langC, "java": langJava,
		"kotlin": langKotlin, "csharp": langCSharp, "swift": langSwift, "ruby": langRuby, "php": langPHP,
		"sh": langShell, "sql": langSQL, "json": langJSON, "yaml": langYAML, "toml": langTOML, "html": langHTML,
		"css": langCSS, "lua": langLua, "markdown": langMarkdown, "diff": langDiff, "docker": langDocker,
		"make": langMake, "zig": langZig, "elixir": langElixir, "proto": langProto, "hcl": langHCL,
	} {
		out[name] = sync.OnceValue(build)
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
