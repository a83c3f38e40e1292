package check

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
)

// Checks of a turn that would end.

// todos finds open items on the list that the turn has written; one of an earlier turn is stale.
func (t *turnView) todos(Input) (Issue, bool) {
	for _, d := range slices.Backward(t.actions) {
		if d.Tool != "todowrite" || d.failed {
			continue
		}
		if len(d.open) == 0 {
			break
		}
		return Issue{Todos, 0, fmt.Sprintf("The list still has %s: %s.", phrase.Count(len(d.open), "open item"), joinFirst(d.open, 5)), "Finish it, or mark what you leave as cancelled and say why."}, true
	}
	return Issue{Check: Todos}, false
}

// openTodos are the items of a list that are still to be done.
func openTodos(meta json.RawMessage) (open []string) {
	var m struct{ Todos []lathe.Todo }
	_ = json.Unmarshal(meta, &m) // anything but a list has no open items
	for _, todo := range m.Todos {
		if todo.Status == "pending" || todo.Status == "in_progress" {
			open = append(open, clip(todo.Content, 40))
		}
	}
	return open
}

// joinFirst is the first few of some items.
func joinFirst(items []string, most int) string {
	shown := strings.Join(items[:min(len(items), most)], "; ")
	if len(items) > most {
		shown += "; …"
	}
	return shown
}

// unverified finds code that changed without a command behind it that could have shown whether
// it works.
func (t *turnView) unverified(s Input) (Issue, bool) {
	var files []string
	for _, d := range t.actions {
		if d.Command != "" && !d.readOnly && (len(d.wrote) == 0 || d.test) {
			files = nil // it ran
			continue
		}
		for _, f := range d.wrote {
			if IsCode(f) && s.isChange(d, f) && !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	if len(files) == 0 {
		return Issue{Check: Unverified}, false
	}
	fact := fmt.Sprintf("The last change of code (%s) was not tried: no build and no test ran after it.", shortNames(files))
	if known := t.testRun(s); known.Command != "" {
		fact += " The tests here are run by " + known.String() + "."
	}
	return Issue{Unverified, 0, fact, "Run what applies and deal with what it shows, or say why nothing can be run."}, true
}

// testRun is the last test run: of the turn, else of the project.
func (t *turnView) testRun(s Input) lathe.TestRun {
	for _, d := range slices.Backward(t.actions) {
		if command := TestCommand(d.Command); d.test && command != "" {
			return lathe.TestRun{Command: clip(command, 120), Exit: d.Tests}
		}
	}
	known := s.Tests
	known.Command = clip(known.Command, 120)
	return known
}

// claims are words for work that is done; wishes are prompts that want some.
var (
	claims = sync.OnceValue(func() *regexp.Regexp {
		const done = `(?:fixed|added|updated|changed|implemented|created|removed|renamed|refactored|written|modified|replaced|moved|deleted|corrected|rewritten|converted)`
		return regexp.MustCompile(`(?i)\b(?:i|we)(?:'ve|’ve| have)?(?: now| just| also| successfully)? (?:` + done + `|wrote|rewrote|made the change)\b|\b(?:is|are|was|were|has been|have been|been) (?:now |successfully )?` + done + `\b|\ball (?:set|done)\b|\bchanges? (?:is|are) (?:complete|done|in place)\b`)
	})
	requests  = phrase.Regexp(`(?i)\b(?:fix|add|change|implement|update|create|remove|rename|refactor|write|make|replace|delete|move|convert|correct|rewrite|migrate|extract|port|upgrade|improve|clean up|build)\b`)
	questions = phrase.Regexp(`(?i)^(?:what|why|how|which|where|when|who|did|does|do|is|are|was|were|explain|describe|summari[sz]e|tell me|list|show|review|analy[sz]e|compare)\b|\?\s*$`)
)

// emptyDiff finds work that is said to be done where no file has changed. What commands or
// others have changed is not always known; then it says nothing.
func (t *turnView) emptyDiff(s Input) (Issue, bool) {
	none := Issue{Check: EmptyDiff}
	if len(t.changedFiles(s)) > 0 || !requests().MatchString(t.prompt) || questions().MatchString(strings.TrimSpace(t.prompt)) {
		return none, false
	}
	for _, d := range t.actions {
		if d.Tool == "task" || d.Command != "" && !d.readOnly && !t.tracked {
			return none, false
		}
	}
	claim := claims().FindString(t.answerText())
	if claim == "" {
		return none, false
	}
	return Issue{EmptyDiff, 0, fmt.Sprintf("You say %q, but no file has changed since the prompt.", clip(claim, 40)), "Make the change now, or say plainly that nothing changed and why."}, true
}

// checklist asks about a turn that changed files, once, with the prompt it is measured by. It
// says nothing where a test, a build or a run behind the last change has passed, or was asked for.
func (t *turnView) checklist(s Input) (Issue, bool) {
	const most = 1500 // characters of the prompt
	files := t.changedFiles(s)
	_, untried := t.unverified(s)
	if !slices.ContainsFunc(files, t.isAuthored) || t.hasVerified(s) || s.Checks[Unverified] == Act && (untried || t.fired[Unverified]) {
		return Issue{Check: Checklist}, false
	}
	return Issue{
		Checklist, 0, fmt.Sprintf("Before you end: %s changed (%s) for this prompt:\n<prompt>\n%s\n</prompt>\n", phrase.Count(len(files), "file"), shortNames(files), clippedText(t.prompt, most)),
		"Is each requirement met? How was each checked? Are there side effects or stray files? What is not done? Repair what is missing, then give your final answer again, complete.",
	}, true
}

// isAuthored reports whether a file is one that the model wrote, or code: what else commands change, as
// a version or a log of changes, is their purpose.
func (t *turnView) isAuthored(file string) bool {
	return IsCode(file) || slices.ContainsFunc(t.actions, func(d *Action) bool { return d.Command == "" && slices.Contains(d.wrote, file) })
}

// hasVerified reports whether something that shows whether a change works ran after the last
// one, and did not fail.
func (t *turnView) hasVerified(s Input) bool {
	for _, d := range slices.Backward(t.actions) {
		if d.verifies {
			return true
		}
		if d.test || slices.ContainsFunc(d.wrote, func(f string) bool { return s.isChange(d, f) }) {
			return false
		}
	}
	return false
}

func clippedText(text string, most int) string {
	runes := []rune(text)
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// leftovers finds temporary files and processes that still run.
func (t *turnView) leftovers(Input) (Issue, bool) {
	var files, running []string
	for _, d := range t.actions {
		for _, f := range d.made {
			if isStray(f) && !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
		gone := func(f string) bool { return slices.Contains(d.removed, f) || mentions(d.Command, f) }
		files = slices.DeleteFunc(files, gone)
		running = slices.DeleteFunc(running, func(p string) bool { return isEnded(d.Command, p) })
		running = append(running, leftRunning(d)...)
	}
	if len(files)+len(running) == 0 {
		return Issue{Check: Leftovers}, false
	}
	var what []string
	if len(files) > 0 {
		what = append(what, "files "+shortNames(files))
	}
	if len(running) > 0 {
		what = append(what, "still running "+strings.Join(running[:min(len(running), 3)], ", "))
	}
	return Issue{Leftovers, 0, "Left behind: " + strings.Join(what, "; ") + ".", "Remove what the user did not ask for."}, true
}

// mentions reports whether a command removes or moves a file by its name.
func mentions(command, file string) bool {
	for _, words := range splitCommands(command) {
		if !slices.Contains([]string{"rm", "mv", "git"}, words[0]) {
			continue
		}
		for _, w := range words[1:] {
			if w = strings.Trim(w, `"'`); w == file || strings.HasSuffix(file, "/"+strings.TrimPrefix(w, "./")) {
				return true
			}
		}
	}
	return false
}

// leftRunning reads from the result of a command what it left in the background: a number and
// a name a line, some with the number of a job before it.
func leftRunning(d *Action) (out []string) {
	_, rest, ok := strings.Cut(d.output, "\nStill running in the background")
	if d.Command == "" || !ok {
		return nil
	}
	_, rest, _ = strings.Cut(rest, ":\n")
	for line := range strings.Lines(rest) {
		pid, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(pid, "[") {
			pid, name, _ = strings.Cut(name, " ")
		}
		if _, err := strconv.Atoi(pid); err != nil {
			break
		}
		out = append(out, pid+" "+clip(name, 30))
	}
	return out
}

// isEnded reports whether a command ends a process, by its number or by its name. One whose target the
// line does not tell, as in kill $(cat server.pid), is taken to.
func isEnded(command, process string) bool {
	pid, name, _ := strings.Cut(process, " ")
	for _, words := range splitCommands(command) {
		switch words[0] {
		case "kill", "fuser":
			if slices.Contains(words, pid) || strings.ContainsAny(strings.Join(words[1:], " "), "$%`") || words[0] == "fuser" && slices.Contains(words, "-k") {
				return true
			}
		case "pkill", "killall":
			if strings.Contains(name, strings.Trim(words[len(words)-1], `"'`)) {
				return true
			}
		}
	}
	return false
}
