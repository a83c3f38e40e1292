package check

import (
	_ "embed"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// This file classifies commands and files for the checks. All of it is guesswork, so in doubt it
// reports nothing.

//go:embed words.txt
var wordsText string

var lists = phrase.WordLists(wordsText)

// inList reports whether a word is in a list of words.txt.
func inList(list, word string) bool { return slices.Contains(lists()[list], word) }

// splitCommands splits a command line into the words of its commands.
func splitCommands(line string) (out [][]string) {
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

// RunsTests reports whether a command line runs tests.
func RunsTests(line string) bool {
	return slices.ContainsFunc(splitCommands(line), IsTest)
}

// IsTest reports whether a command runs tests.
func IsTest(words []string) bool { return isKind("test", words) }

// isVerification reports whether a command tests, builds or runs something.
func isVerification(words []string) bool { return IsTest(words) || isKind("try", words) }

// isKind reports whether a command, after those that run another, is one of a kind.
func isKind(kind string, words []string) bool {
	for i, w := range words {
		name := path.Base(w)
		if inList(kind, name) || kind == "try" && strings.HasPrefix(w, "./") {
			return true
		}
		if behind := lists()[kind+" "+name]; behind != nil {
			return slices.ContainsFunc(words[i+1:], func(w string) bool {
				w, _, _ = strings.Cut(w, ":")
				return slices.Contains(behind, w)
			})
		}
		if !inList("runner", name) && !strings.HasPrefix(name, "-") && strings.Trim(name, "0123456789smh.") != "" && (kind == "try" || !isAssignment(name)) {
			return false
		}
	}
	return false
}

// failureWords are in the output of what failed, where the exit code is that of another command.
var failureWords = []string{"FAIL", "failed", "Failed", "error:", "Error:", "error[", "ERROR", "panic:", "Traceback", "not ok "}

// ranWithoutFailure reports whether a command line tests, builds or runs something and nothing says that it
// failed. In a pipe, where the exit code is not its own, the output must say so.
func ranWithoutFailure(line string, exit int, output string) bool {
	if exit != 0 || !slices.ContainsFunc(splitCommands(line), isVerification) {
		return false
	}
	if ExitOf(line, exit, isVerification) == 0 {
		return true
	}
	output = noFailures().ReplaceAllString(output, "")
	return !slices.ContainsFunc(failureWords, func(w string) bool { return strings.Contains(output, w) })
}

// noFailures is how the usual programs say that there are none.
var noFailures = phrase.Regexp(`(?i)\b(?:0|no) (?:tests? )?(?:failed|failures?|failing|errors?)\b|\b(?:failed|failures?|errors?|fail): *0\b`)

// isGenerated reports whether a file of a project is one that programs write: a product, a lock
// file, a cache.
func isGenerated(file string, byCommand bool) bool {
	name := filepath.Base(file)
	if inList("generated ending", strings.ToLower(filepath.Ext(name))) || inList("generated file", name) || strings.HasSuffix(name, ".min.js") || strings.HasSuffix(name, ".min.css") {
		return true
	}
	for dir := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(file)), "/") {
		if inList("generated folder", dir) || byCommand && inList("built folder", dir) || strings.HasSuffix(dir, ".egg-info") {
			return true
		}
	}
	return false
}

// isReadOnly reports whether a command line can change nothing.
func isReadOnly(line string) bool {
	all := splitCommands(line)
	if len(all) == 0 || strings.ContainsAny(line, ">`") || strings.Contains(line, "$(") {
		return false
	}
	for _, words := range all {
		switch name := path.Base(words[0]); {
		case name == "git" && len(words) > 1 && inList("look git", words[1]):
		case name == "find" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-exec") || w == "-delete" }):
			return false
		case !inList("look", name):
			return false
		}
	}
	return true
}

// isPolling reports whether a command is one that may be made again and again.
func isPolling(line string) bool {
	return slices.ContainsFunc(splitCommands(line), func(words []string) bool {
		return slices.Contains([]string{"sleep", "wait", "watch"}, path.Base(words[0]))
	})
}

func IsCode(file string) bool {
	return inList("code", strings.ToLower(filepath.Ext(file)))
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

// strayNames match names of temporary files.
var strayNames = phrase.Regexp(`(?i)\.(?:orig|rej|bak|tmp|temp|swp|log|pid)$|~$|^(?:test_?tmp|tmp[_-]|temp[_-]|scratch|debug[_-]|nohup\.out$)|^(?:tmp|temp|foo|test123)\.[a-z]+$`)

func isStray(file string) bool { return strayNames().MatchString(filepath.Base(file)) }
