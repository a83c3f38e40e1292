package lsp

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Definition describes a language server.
type Definition struct {
	ID string
	// Extensions are file extensions with their dot, or whole names of files without one.
	Extensions []string
	// Command is the program and its arguments. Alternatives are tried after it.
	Command      []string
	Alternatives [][]string
	// Markers are names of files that mark a root, by preference: a folder with one of an earlier group wins.
	// A name may begin with "*".
	Markers [][]string
	// Avoid are markers of another server that is better there.
	Avoid []string
	// NeedsRoot says that the server is not used without a marker.
	NeedsRoot bool
	// Executes names the code of a project that the server runs; "" is none.
	Executes string
	// Restricted switches that off. Without it, a server that executes code starts only in trusted projects.
	Restricted *Restriction
	// Env and Initialization are sent to every server of this kind.
	Env            map[string]string
	Initialization map[string]any
	// WholeProject says that the server reports errors in files that are not open.
	WholeProject bool
	// Install is how the server is installed where the config allows it: "go PACKAGE@VERSION" or "npm PACKAGE…".
	Install string
	// Custom says that the config defines it, not this table.
	Custom bool
}

// Restriction makes a server safe for a project that is not trusted.
type Restriction struct {
	Args           []string // added to the command
	Env            map[string]string
	Initialization map[string]any
}

// Setting is the config of one server: an override, or a server of the user's own.
type Setting struct {
	Command        []string
	Extensions     []string
	Env            map[string]string
	Initialization map[string]any
	Disabled       bool
}

// Config configures the servers of a project.
type Config struct {
	Off      bool // no server is used
	Install  bool // a missing server may be downloaded
	Memory   int64
	Settings map[string]Setting
}

// Definitions returns the servers of a config: the known ones with their overrides, then the user's own.
func (c Config) Definitions() []Definition {
	if c.Off {
		return nil
	}
	var out []Definition
	known := map[string]bool{}
	for _, d := range Known() {
		known[d.ID] = true
		if s, ok := c.Settings[d.ID]; ok {
			d = d.with(s)
			if s.Disabled {
				continue
			}
		}
		out = append(out, d)
	}
	for _, id := range slices.Sorted(maps.Keys(c.Settings)) {
		s := c.Settings[id]
		if known[id] || s.Disabled || len(s.Command) == 0 || len(s.Extensions) == 0 {
			continue
		}
		out = append(out, Definition{ID: id, Custom: true}.with(s))
	}
	return out
}

// with applies a setting of the config.
func (d Definition) with(s Setting) Definition {
	if len(s.Command) > 0 {
		// A command of the config is what the user wants to run; its code is the user's choice.
		d.Command, d.Alternatives, d.Install, d.Custom = s.Command, nil, "", true
	}
	if len(s.Extensions) > 0 {
		d.Extensions = s.Extensions
	}
	d.Env = merged(d.Env, s.Env)
	d.Initialization = merged(d.Initialization, s.Initialization)
	return d
}

// merged returns the entries of both; those of the second win.
func merged[V any](a, b map[string]V) map[string]V {
	if len(b) == 0 {
		return a
	}
	out := maps.Clone(a)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, b)
	return out
}

// Handles reports whether the server is for a file: by its extension, or by its name if it has none.
func (d Definition) Handles(path string) bool {
	name := filepath.Base(path)
	if ext := filepath.Ext(name); ext != "" && ext != name {
		return slices.ContainsFunc(d.Extensions, func(e string) bool {
			return e == ext || strings.EqualFold(e, ext) && len(ext) > 2
		})
	}
	return slices.Contains(d.Extensions, name)
}

// languageID returns the name of a file's language in the protocol.
func languageID(path string) string {
	name := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if id := languageNames()[name]; id != "" {
		return id
	}
	if name == "" {
		return strings.ToLower(filepath.Base(path))
	}
	return name
}

// languageNames has the languages whose name is not their extension.
func languageNames() map[string]string {
	return map[string]string{
		"ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "typescriptreact", "js": "javascript", "mjs": "javascript", "cjs": "javascript",
		"jsx": "javascriptreact", "py": "python", "pyi": "python", "rs": "rust", "sh": "shellscript", "bash": "shellscript", "zsh": "shellscript", "ksh": "shellscript",
		"cc": "cpp", "cxx": "cpp", "c++": "cpp", "hpp": "cpp", "hh": "cpp", "hxx": "cpp", "h++": "cpp", "h": "c", "rb": "ruby", "rake": "ruby", "gemspec": "ruby", "ru": "ruby",
		"ex": "elixir", "exs": "elixir", "cs": "csharp", "csx": "csharp", "fs": "fsharp", "fsi": "fsharp", "fsx": "fsharp", "kt": "kotlin", "kts": "kotlin", "yml": "yaml",
		"ml": "ocaml", "mli": "ocaml.interface", "tf": "terraform", "tfvars": "terraform-vars", "tex": "latex", "bib": "bibtex", "clj": "clojure", "cljs": "clojure",
		"cljc": "clojure", "edn": "clojure", "hs": "haskell", "lhs": "haskell", "jl": "julia", "typ": "typst", "typc": "typst", "zon": "zig", "gql": "graphql",
		"cshtml": "razor", "objc": "objective-c", "objcpp": "objective-cpp",
	}
}
