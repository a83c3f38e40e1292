package check

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// What commands and files are, as far as checks need to know. All of it guesses, so that it
// errs to the side of saying nothing.

// simple splits a command line into the words of its commands.
func simple(line string) (out [][]string) {
	for _, p := range clauses(line) {
		if len(p.words) > 0 {
			out = append(out, p.words)
		}
	}
	return out
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// testPrograms run tests whatever their arguments are.
var testPrograms = []string{"pytest", "py.test", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest", "tox", "nox", "busted", "bats", "ava", "karma", "gotestsum", "nosetests"}

// testWords run tests when one of the words behind them says so.
var testWords = map[string][]string{
	"go": {"test"}, "cargo": {"test", "nextest"}, "npm": {"test", "t"}, "pnpm": {"test", "t"}, "yarn": {"test"}, "bun": {"test"}, "deno": {"test"},
	"make": {"test", "check", "tests"}, "just": {"test"}, "task": {"test"}, "rake": {"test", "spec"}, "mvn": {"test", "verify"}, "mvnw": {"test", "verify"},
	"gradle": {"test", "check"}, "gradlew": {"test", "check"}, "dotnet": {"test"}, "mix": {"test"}, "swift": {"test"}, "bazel": {"test"}, "zig": {"test"},
	"sbt": {"test"}, "lein": {"test"}, "stack": {"test"}, "cabal": {"test"}, "flutter": {"test"}, "dart": {"test"}, "meson": {"test"}, "ninja": {"test"},
	"composer": {"test"}, "rails": {"test"}, "manage.py": {"test"},
}

// runners start another program with the rest of their words.
var runners = []string{"npx", "pnpx", "bunx", "uv", "poetry", "pipenv", "hatch", "bundle", "exec", "run", "time", "timeout", "nice", "env", "xvfb-run", "python", "python3", "-m", "node"}

// RunsTests reports whether a command line runs tests.
func RunsTests(line string) bool {
	return slices.ContainsFunc(simple(line), IsTest)
}

func IsTest(words []string) bool {
	for len(words) > 0 {
		name := path.Base(words[0])
		if slices.Contains(testPrograms, name) || name == "unittest" {
			return true
		}
		if behind := testWords[name]; behind != nil {
			for _, w := range words[1:] {
				if w, _, _ = strings.Cut(w, ":"); slices.Contains(behind, w) {
					return true
				}
			}
			return false
		}
		if !slices.Contains(runners, name) && !strings.HasPrefix(name, "-") && strings.Trim(name, "0123456789smh.") != "" && !isAssignment(name) {
			return false
		}
		words = words[1:]
	}
	return false
}

// tryPrograms show by how they end whether a change works, whatever their arguments are.
var tryPrograms = []string{
	"make", "ninja", "cmake", "tsc", "eslint", "biome", "ruff", "mypy", "pyright", "flake8", "pylint", "golangci-lint", "staticcheck", "shellcheck", "javac", "kotlinc",
	"gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "ghc", "scalac", "protoc", "node", "deno", "python", "python3", "ruby", "php", "perl", "lua", "Rscript", "julia",
	"bash", "sh", "zsh", "tsx", "ts-node", "phpstan", "rubocop", "hadolint", "yamllint", "jsonlint",
}

// tryWords do when one of the words behind them says so.
var tryWords = map[string][]string{
	"go": {"build", "vet", "run", "install"}, "cargo": {"build", "check", "clippy", "run"}, "npm": {"run", "start"}, "pnpm": {"run", "build", "lint", "start"},
	"yarn": {"run", "build", "lint", "start"}, "bun": {"run", "build"}, "just": {"build", "check", "lint"}, "task": {"build", "check", "lint"}, "mvn": {"compile", "package", "install"},
	"mvnw": {"compile", "package", "install"}, "gradle": {"build", "assemble", "compile"}, "gradlew": {"build", "assemble", "compile"}, "dotnet": {"build", "run"},
	"mix": {"compile"}, "swift": {"build", "run"}, "bazel": {"build", "run"}, "zig": {"build", "run"}, "sbt": {"compile"}, "stack": {"build"}, "cabal": {"build"},
	"flutter": {"build", "analyze"}, "dart": {"analyze", "compile", "run"}, "terraform": {"validate", "plan"}, "helm": {"lint", "template"}, "docker": {"build"}, "composer": {"validate"},
}

// isTry reports whether a command tests, builds or runs something.
func isTry(words []string) bool {
	if IsTest(words) {
		return true
	}
	for i, w := range words {
		name := path.Base(w)
		if slices.Contains(tryPrograms, name) || strings.HasPrefix(w, "./") {
			return true
		}
		if behind := tryWords[name]; behind != nil {
			return slices.ContainsFunc(words[i+1:], func(w string) bool {
				w, _, _ = strings.Cut(w, ":")
				return slices.Contains(behind, w)
			})
		}
		if !slices.Contains(runners, name) && !strings.HasPrefix(name, "-") && strings.Trim(name, "0123456789smh.") != "" {
			return false
		}
	}
	return false
}

// failureWords are in the output of what failed, where the exit code is that of another command.
var failureWords = []string{"FAIL", "failed", "Failed", "error:", "Error:", "error[", "ERROR", "panic:", "Traceback", "not ok "}

// tried reports whether a command line tests, builds or runs something and nothing says that it
// failed. In a pipe, where the exit code is not its own, the output must say so.
func tried(line string, exit int, output string) bool {
	if exit != 0 || !slices.ContainsFunc(simple(line), isTry) {
		return false
	}
	if ExitOf(line, exit, isTry) == 0 {
		return true
	}
	output = noFailures().ReplaceAllString(output, "")
	return !slices.ContainsFunc(failureWords, func(w string) bool { return strings.Contains(output, w) })
}

// noFailures is how the usual programs say that there are none.
var noFailures = phrase.Regexp(`(?i)\b(?:0|no) (?:tests? )?(?:failed|failures?|failing|errors?)\b|\b(?:failed|failures?|errors?|fail): *0\b`)

// generatedFolders hold what programs make, and builtFolders too where a command wrote into them:
// others keep sources there.
var (
	generatedFolders = []string{
		"node_modules", "target", "dist", "__pycache__", ".venv", "venv", ".next", ".nuxt", ".svelte-kit", ".turbo", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache",
		".tox", ".gradle", ".dart_tool", ".terraform", "htmlcov", ".parcel-cache", ".eggs",
	}
	builtFolders = []string{"build", "out", "obj", "bin", "coverage", "_build"}
)

// generatedNames are files that programs write, by name or by ending.
var generatedNames = []string{
	"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "bun.lockb", "go.sum", "go.work.sum", "gradle.lockfile", "packages.lock.json", "mix.lock", "Package.resolved", ".coverage", ".terraform.lock.hcl",
}

// isGenerated reports whether a file of a project is one that programs write: a product, a lock
// file, a cache.
func isGenerated(file string, byCommand bool) bool {
	name := filepath.Base(file)
	switch strings.ToLower(filepath.Ext(name)) {
	case ".lock", ".pyc", ".pyo", ".o", ".obj", ".a", ".so", ".dylib", ".dll", ".exe", ".class", ".jar", ".map", ".tsbuildinfo":
		return true
	}
	if slices.Contains(generatedNames, name) || strings.HasSuffix(name, ".min.js") || strings.HasSuffix(name, ".min.css") {
		return true
	}
	for dir := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(file)), "/") {
		if slices.Contains(generatedFolders, dir) || byCommand && slices.Contains(builtFolders, dir) || strings.HasSuffix(dir, ".egg-info") {
			return true
		}
	}
	return false
}

// lookers change nothing, and show nothing about whether a change works.
var lookers = []string{
	"ls", "cat", "head", "tail", "pwd", "echo", "printf", "cd", "find", "grep", "rg", "wc", "tree", "which", "file", "stat", "du", "df", "ps",
	"date", "whoami", "sort", "uniq", "cut", "nl", "less", "more", "sleep", "true", "type", "basename", "dirname", "realpath", "diff",
}

// gitLookers are the commands of git that change nothing.
var gitLookers = []string{"status", "diff", "log", "show", "branch", "blame", "rev-parse", "ls-files", "describe"}

// onlyLooks reports whether a command line can change nothing.
func onlyLooks(line string) bool {
	all := simple(line)
	if len(all) == 0 || strings.ContainsAny(line, ">`") || strings.Contains(line, "$(") {
		return false
	}
	for _, words := range all {
		switch name := path.Base(words[0]); {
		case name == "git" && len(words) > 1 && slices.Contains(gitLookers, words[1]):
		case name == "find" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-exec") || w == "-delete" }):
			return false
		case !slices.Contains(lookers, name):
			return false
		}
	}
	return true
}

// waits reports whether a command is one that may be made again and again.
func waits(line string) bool {
	return slices.ContainsFunc(simple(line), func(words []string) bool {
		return slices.Contains([]string{"sleep", "wait", "watch"}, path.Base(words[0]))
	})
}

// codeKinds are the endings of files that can be run, built or tested.
var codeKinds = []string{
	".go", ".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".rs", ".java", ".kt", ".kts", ".scala", ".groovy", ".c", ".h", ".cc", ".cpp",
	".cxx", ".hpp", ".hh", ".m", ".mm", ".cs", ".fs", ".vb", ".rb", ".php", ".swift", ".dart", ".ex", ".exs", ".erl", ".hs", ".ml", ".mli", ".clj", ".cljs",
	".lua", ".pl", ".pm", ".r", ".jl", ".zig", ".nim", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".sql", ".vue", ".svelte", ".astro", ".proto", ".sol",
}

func IsCode(file string) bool {
	return slices.Contains(codeKinds, strings.ToLower(filepath.Ext(file)))
}

// testNames are the names of files with tests in the usual languages.
var testNames = phrase.Regexp(`(?:_test\.(?:go|py|rb|exs|dart|c|cc|cpp|rs|ml)|\.(?:test|spec)\.[cm]?[jt]sx?|_spec\.rb|_spec\.lua|\.bats)$|^test_.*\.py$|^conftest\.py$|(?:Test|Tests|Spec)\.(?:java|kt|scala|cs|swift|php|groovy)$`)

func isTestFile(file string) bool {
	if testNames().MatchString(filepath.Base(file)) {
		return true
	}
	for dir := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(file)), "/") {
		if slices.Contains([]string{"tests", "__tests__", "testdata", "spec", "specs"}, dir) {
			return true
		}
	}
	return false
}

// strayNames are the names of files that nobody means to leave.
var strayNames = phrase.Regexp(`(?i)\.(?:orig|rej|bak|tmp|temp|swp|log|pid)$|~$|^(?:test_?tmp|tmp[_-]|temp[_-]|scratch|debug[_-]|nohup\.out$)|^(?:tmp|temp|foo|test123)\.[a-z]+$`)

func isStray(file string) bool { return strayNames().MatchString(filepath.Base(file)) }
