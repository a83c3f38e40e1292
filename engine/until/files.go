package until

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// maxFiles and MaxScripts are how many files of a command, and scripts that those name, are looked after.
const (
	maxFiles   = 64
	MaxScripts = 64
)

// drivers are programs that read their commands from files with fixed names. Of several names the first that exists
// counts, so the others decide too: a new GNUmakefile would replace a Makefile. So does a config file that names the shell
// of scripts or the program itself, such as script-shell in .npmrc and yarnPath in .yarnrc.yml.
func drivers() map[string][]string {
	node := []string{"package.json", ".npmrc"}
	return map[string][]string{
		"make": {"GNUmakefile", "makefile", "Makefile"}, "gmake": {"GNUmakefile", "makefile", "Makefile"},
		"npm": node, "pnpm": append(node, ".pnpmfile.cjs"), "yarn": append(node, ".yarnrc", ".yarnrc.yml"), "bun": append(node, "bunfig.toml"), "npx": node, "deno": {"deno.json", "deno.jsonc"},
		"just": {"justfile", "Justfile", ".justfile"}, "task": {"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yml", "taskfile.dist.yaml"},
		"rake": {"Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"}, "tox": {"tox.ini", "tox.toml"}, "nox": {"noxfile.py"}, "invoke": {"tasks.py"},
		"gradle": {"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}, "mvn": {"pom.xml"}, "ninja": {"build.ninja"}, "mage": {"magefile.go"},
	}
}

// DecidingFiles lists the files that a command names: scripts, inputs, and the files that make and similar programs
// read by themselves, also where they do not exist yet. It reads more out of a command than a shell does, because a file
// too many does no harm. Files that the command writes do not count. isFile tells whether a path is a regular file.
func DecidingFiles(command, dir string, isFile func(path string) bool) (out []string) {
	written := map[string]bool{}
	add := func(path string) {
		if path = filepath.Clean(path); !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	words, at := wordsOf(command), dir
	for i, w := range words {
		w, _, _ = strings.Cut(w, "::") // a test in a file
		before := ""
		if i > 0 {
			before = words[i-1]
		}
		switch {
		case w == ">" || w == "<":
		case before == ">":
			written[absolute(at, w)] = true
		case before == "cd" || before == "pushd":
			at = absolute(at, w)
		case before == "-C" || before == "--directory" || before == "--prefix" || before == "--cwd":
			for _, program := range slices.Sorted(maps.Keys(drivers())) {
				addNames(drivers()[program], absolute(at, w), isFile, add)
			}
		default:
			for _, name := range drivers()[filepath.Base(w)] {
				add(filepath.Join(at, name))
			}
			if path := absolute(at, w); isFile(path) {
				add(path)
			}
		}
	}
	out = slices.DeleteFunc(out, func(path string) bool { return written[path] })
	return out[:min(len(out), maxFiles)]
}

// ScriptsIn lists the scripts that a text names, such as "include rules.mk" and "sh scripts/test.sh" in a Makefile: also
// what it includes and is not there yet. isScript tells whether a path is a script.
func ScriptsIn(text, dir string, isScript func(path string) bool) (out []string) {
	before := ""
	for _, w := range wordsOf(text) {
		path := absolute(dir, w)
		if !isScript(path) { // $(ROOT)/test.sh
			path = filepath.Join(dir, w)
		}
		if (strings.HasSuffix(before, "include") || isScript(path)) && !slices.Contains(out, path) && len(out) < MaxScripts {
			out = append(out, path)
		}
		before = w
	}
	return out
}

// addNames adds the files of a driver in another folder, if it has one there.
func addNames(names []string, dir string, isFile func(string) bool, add func(string)) {
	if slices.ContainsFunc(names, func(name string) bool { return isFile(filepath.Join(dir, name)) }) {
		for _, name := range names {
			add(filepath.Join(dir, name))
		}
	}
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// wordsOf splits a command into everything that may be a name: words, values after "=", and quoted texts both whole and
// in words, since they may be commands again. A redirection is the word ">" or "<" before its file.
func wordsOf(command string) (out []string) {
	out = quotedIn(command)
	spaced := strings.NewReplacer(">>", " > ", "2>&1", " ", ">&", " > ", "&>", " > ", ">", " > ", "<", " < ", "=", " ").Replace(command)
	for _, w := range strings.FieldsFunc(spaced, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"`{}$", r) }) {
		if filepath.Separator != '\\' {
			w = strings.ReplaceAll(w, `\`, "")
		}
		out = append(out, w)
	}
	return out
}

// quotedIn lists the quoted texts of a command that have spaces: names that words would split.
func quotedIn(command string) (out []string) {
	for i := 0; i < len(command); i++ {
		if c := command[i]; c == '\'' || c == '"' {
			end := strings.IndexByte(command[i+1:], c)
			if end < 0 {
				return out
			}
			if q := command[i+1 : i+1+end]; strings.Contains(q, " ") {
				out = append(out, q)
			}
			i += end + 1
		}
	}
	return out
}
