package format

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/workspace"
)

// Definition describes a formatter.
type Definition struct {
	Name       string
	Extensions []string
	// Command has $FILE in place of the file, which is appended otherwise.
	Command []string
	// Config are names of files that show that a project uses it; Mentions are names of files with a word in them. Without
	// any of them it runs in every project.
	Config   []string
	Mentions map[string]string
	// Executes says that its config is code or names code, so that the project must be trusted.
	Executes bool
	// Unless names formatters that are better where they are configured.
	Unless      []string
	Environment map[string]string
	custom      bool
}

// Extensions and names that several formatters share.
const (
	jsExtensions  = ".js .jsx .mjs .cjs .ts .tsx .mts .cts"
	webExtensions = jsExtensions + " .html .htm .css .scss .sass .less .vue .svelte .json .jsonc .yaml .yml .toml .xml .md .mdx .graphql .gql"
	rubyFiles     = ".rb .rake .gemspec .ru"
	cFiles        = ".c .cc .cpp .cxx .c++ .h .hh .hpp .hxx .h++ .ino .C .H"
	prettierFiles = ".prettierrc .prettierrc.json .prettierrc.json5 .prettierrc.yaml .prettierrc.yml .prettierrc.toml .prettierrc.js .prettierrc.cjs .prettierrc.mjs " +
		".prettierrc.ts prettier.config.js prettier.config.cjs prettier.config.mjs prettier.config.ts"
	ruffFiles = "ruff.toml .ruff.toml"
)

// known returns the formatters that need no config. A formatter whose style is not chosen by the language must be
// configured by the project, or else an edit would bring a style that nobody chose. gofmt, rustfmt and zig fmt have one
// style for all projects.
// Names, extensions and commands are OpenCode's.
func known() []Definition {
	words := strings.Fields
	return []Definition{
		{Name: "gofmt", Extensions: words(".go"), Command: words("gofmt -w")},
		{Name: "mix", Extensions: words(".ex .exs .eex .heex .leex .neex .sface"), Command: words("mix format"), Config: words(".formatter.exs"), Executes: true},
		{Name: "prettier", Extensions: words(webExtensions), Command: words("prettier --write"), Config: words(prettierFiles), Mentions: map[string]string{"package.json": `"prettier"`}, Executes: true, Unless: words("biome oxfmt")},
		{Name: "oxfmt", Extensions: words(jsExtensions), Command: words("oxfmt"), Config: words(".oxfmtrc.json .oxfmtrc.jsonc")},
		{Name: "biome", Extensions: words(webExtensions), Command: words("biome format --write"), Config: words("biome.json biome.jsonc")},
		{Name: "zig", Extensions: words(".zig .zon"), Command: words("zig fmt")},
		{Name: "clang-format", Extensions: words(cFiles), Command: words("clang-format -i"), Config: words(".clang-format _clang-format")},
		{Name: "ktlint", Extensions: words(".kt .kts"), Command: words("ktlint -F"), Config: words(".editorconfig")},
		{Name: "ruff", Extensions: words(".py .pyi"), Command: words("ruff format"), Config: words(ruffFiles), Mentions: map[string]string{"pyproject.toml": "ruff", "requirements.txt": "ruff", "Pipfile": "ruff"}},
		{Name: "air", Extensions: words(".R"), Command: words("air format"), Config: words("air.toml .air.toml")},
		{Name: "uv", Extensions: words(".py .pyi"), Command: words("uv format --"), Mentions: map[string]string{"pyproject.toml": "[tool.uv"}, Unless: words("ruff")},
		{Name: "rubocop", Extensions: words(rubyFiles), Command: words("rubocop --autocorrect"), Config: words(".rubocop.yml"), Executes: true},
		{Name: "standardrb", Extensions: words(rubyFiles), Command: words("standardrb --fix"), Config: words(".standard.yml"), Executes: true},
		{Name: "htmlbeautifier", Extensions: words(".erb .html.erb"), Command: words("htmlbeautifier"), Mentions: map[string]string{"Gemfile": "htmlbeautifier"}},
		{Name: "dart", Extensions: words(".dart"), Command: words("dart format"), Config: words("pubspec.yaml analysis_options.yaml")},
		{Name: "ocamlformat", Extensions: words(".ml .mli"), Command: words("ocamlformat -i"), Config: words(".ocamlformat")},
		{Name: "terraform", Extensions: words(".tf .tfvars"), Command: words("terraform fmt"), Config: words(".terraform.lock.hcl .tflint.hcl")},
		{Name: "latexindent", Extensions: words(".tex"), Command: words("latexindent -w -s"), Config: words("latexindent.yaml .latexindent.yaml localSettings.yaml")},
		{Name: "gleam", Extensions: words(".gleam"), Command: words("gleam format"), Config: words("gleam.toml")},
		{Name: "shfmt", Extensions: words(".sh .bash"), Command: words("shfmt -w"), Config: words(".editorconfig")},
		{Name: "nixfmt", Extensions: words(".nix"), Command: words("nixfmt"), Mentions: map[string]string{"flake.nix": "nixfmt"}},
		{Name: "rustfmt", Extensions: words(".rs"), Command: words("rustfmt")},
		{Name: "pint", Extensions: words(".php"), Command: words("pint"), Config: words("pint.json"), Mentions: map[string]string{"composer.json": "laravel/pint"}, Executes: true},
		{Name: "ormolu", Extensions: words(".hs"), Command: words("ormolu -i"), Config: words(".ormolu")},
		{Name: "cljfmt", Extensions: words(".clj .cljs .cljc .edn"), Command: words("cljfmt fix --quiet"), Config: words(".cljfmt.edn .cljfmt.clj cljfmt.edn"), Executes: true},
		{Name: "dfmt", Extensions: words(".d"), Command: words("dfmt -i"), Config: words(".editorconfig")},
	}
}

// definitions returns the formatters of a config: the known ones with their overrides, then the user's own.
func (c Config) definitions() (out []Definition) {
	if c.Off {
		return nil
	}
	names := map[string]bool{}
	for _, d := range known() {
		names[d.Name] = true
		s, ok := c.Settings[d.Name]
		if ok && s.Disabled {
			continue
		}
		out = append(out, d.with(s))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		if s := c.Settings[name]; !names[name] && !s.Disabled && len(s.Command) > 0 && len(s.Extensions) > 0 {
			out = append(out, Definition{Name: name}.with(s))
		}
	}
	return out
}

// with applies an override. A command of the config is what the user wants to run, with or without a config file.
func (d Definition) with(s Setting) Definition {
	if len(s.Command) > 0 {
		d.Command, d.Config, d.Mentions, d.Unless, d.Executes, d.custom = s.Command, nil, nil, nil, false, true
	}
	if len(s.Extensions) > 0 {
		d.Extensions = s.Extensions
	}
	if len(s.Environment) > 0 {
		d.Environment = s.Environment
	}
	return d
}

// handles reports whether the formatter is for a file, by its name.
func (d Definition) handles(path string) bool {
	name := filepath.Base(path)
	return slices.ContainsFunc(d.Extensions, func(ext string) bool { return strings.HasSuffix(name, ext) && len(name) > len(ext) })
}

// command returns the command for a file, with the path of the program; nil if the project does not use the formatter, it
// is not installed, or the project must be trusted first.
func (d Definition) command(p Project, path string, env []string) []string {
	if d.Executes && !p.Trusted || !d.isConfigured(p, path) {
		return nil
	}
	for _, other := range known() {
		if slices.Contains(d.Unless, other.Name) && other.isConfigured(p, path) && other.find(p, path, env) != "" {
			return nil
		}
	}
	program := d.find(p, path, env)
	if program == "" {
		return nil
	}
	out := []string{program}
	named := false
	for _, arg := range d.Command[1:] {
		named = named || strings.Contains(arg, "$FILE")
		out = append(out, strings.ReplaceAll(arg, "$FILE", path))
	}
	if !named {
		out = append(out, path)
	}
	return out
}

// find returns the path of the program: the project's own, if that is trusted, else the one of the PATH.
func (d Definition) find(p Project, path string, env []string) string {
	name := d.Command[0]
	if filepath.Base(name) != name {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Directory, name)
		}
		if environ.IsExecutable(name) && (p.Trusted || d.custom && !workspace.Inside(p.top(), name)) {
			return name
		}
		return ""
	}
	if p.Trusted {
		for dir := range upward(p, path) {
			for _, bin := range []string{"node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin"} {
				if own := filepath.Join(dir, filepath.FromSlash(bin), name); environ.IsExecutable(own) {
					return own
				}
			}
		}
	}
	found := environ.Find(env, "/", name)
	if real, err := filepath.EvalSymlinks(found); err != nil || !filepath.IsAbs(found) || !p.Trusted && workspace.Inside(p.top(), real) {
		return ""
	}
	return found
}

// isConfigured reports whether the project of a file has a config for the formatter, in the file's folder or above.
func (d Definition) isConfigured(p Project, path string) bool {
	if len(d.Config) == 0 && len(d.Mentions) == 0 {
		return true
	}
	for dir := range upward(p, path) {
		for _, name := range d.Config {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
				return true
			}
		}
		for name, word := range d.Mentions {
			if text, err := read(filepath.Join(dir, name)); err == nil && bytes.Contains([]byte(text), []byte(word)) {
				return true
			}
		}
	}
	return false
}

// upward yields the folders of a project from a file to the top.
func upward(p Project, path string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for dir := filepath.Dir(path); workspace.Inside(p.top(), dir); dir = filepath.Dir(dir) {
			if !yield(dir) || dir == filepath.Dir(dir) {
				return
			}
		}
	}
}
