package compact

import (
	"fmt"
	"path"
	"strings"
	"sync"
	"unicode"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// The length of a summary, in tokens. A short conversation may have a shorter one.
const (
	MinSummary, maxSummary = 200, 4000
	// summaryAnyway is how long a summary may be however short its conversation was: the
	// headings alone take a part of that.
	summaryAnyway = 400
	// introLimit limits the text before the first heading, in bytes.
	introLimit = 200
	// nameLimit is how many changed files a summary must name; all are in our own records.
	nameLimit = 20
)

// summaryHeadings are those of prompt/compactionask.md.
var summaryHeadings = sync.OnceValue(func() (out []string) {
	for line := range strings.Lines(Ask) {
		if strings.HasPrefix(line, "## ") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
})

// pathWords finds what looks like the path of a file.
var pathWords = phrase.Regexp(`[\w.@~+-]*(?:/[\w.@+-]+)+\.\w{1,8}\b`)

// Faults lists the errors of a summary, so that the model can fix them; it is empty for a
// usable one. No model decides this. Source is the summarized text; a summary by a custom
// prompt need not have our headings.
func Faults(text, source string, changed []string, ours bool) (faults []string) {
	if strings.TrimSpace(text) == "" {
		return []string{"it was empty"}
	}
	size, whole := TokensIn(text), TokensIn(source)
	if least := min(MinSummary, whole/8); size < least {
		faults = append(faults, fmt.Sprintf("it was too short to work from (about %d tokens; at least %d)", size, least))
	}
	if most := min(maxSummary, max(whole, summaryAnyway)); size > most {
		faults = append(faults, fmt.Sprintf("it was too long (about %d tokens; at most %d)", size, most))
	}
	if ours {
		faults = append(faults, headingFaults(text)...)
	}
	for _, file := range changed[max(0, len(changed)-nameLimit):] {
		if !strings.Contains(text, path.Base(file)) {
			faults = append(faults, "it did not name "+file+", which was changed")
		}
	}
	return append(faults, inventedPaths(text, source)...)
}

// plannedHeadings are those below which a path may be that does not exist yet.
var plannedHeadings = sync.OnceValue(func() map[string]bool {
	return map[string]bool{"objective": true, "constraints and decisions": true, "active": true, "blocked": true, "next steps": true, "open questions": true}
})

// planWords are in a line about something that is yet to be made.
var planWords = phrase.Regexp(`(?i)\b(?:to be|will|would|should|planned?|create|add|next|later|todo|not yet|does not exist|missing)\b`)

// inventedPaths finds paths that never occurred. One that is only planned is no fault, wherever it is named.
func inventedPaths(text, source string) (faults []string) {
	planned, below := map[string]bool{}, ""
	for line := range strings.Lines(text) {
		if h := headingIn(line); h != "" {
			below = h
		}
		if plannedHeadings()[below] || planWords().MatchString(line) {
			for _, p := range pathWords().FindAllString(line, -1) {
				planned[path.Base(p)] = true
			}
		}
	}
	named := map[string]bool{}
	for _, p := range pathWords().FindAllString(text, -1) {
		if !named[p] && !planned[path.Base(p)] && !strings.Contains(source, path.Base(p)) {
			named[p] = true
			faults = append(faults, "it named "+p+", which never occurred")
		}
	}
	return faults
}

// normalizeHeading spells a heading as all spellings of it are compared: without marks, in
// lower case.
func normalizeHeading(text string) string {
	text = strings.ReplaceAll(strings.ToLower(text), "&", " and ")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }), " ")
}

// headingIn returns the heading in a line, in lower case; "" if it has none. How it is marked
// does not matter: "## Next steps", "### NEXT STEPS:", "**Next Steps** (numbered)" and "6. Next
// steps" are the same.
func headingIn(line string) string {
	line = strings.TrimSpace(line)
	marked := strings.HasPrefix(line, "#") || strings.HasPrefix(line, "**") || strings.HasPrefix(line, "__")
	before, _, colon := strings.Cut(line, ":")
	for _, h := range summaryHeadings() {
		name := normalizeHeading(h)
		switch {
		case normalizeHeading(line) == name, colon && normalizeHeading(before) == name, marked && strings.HasPrefix(normalizeHeading(line)+" ", name+" "):
			return name
		}
	}
	return ""
}

// headingFaults looks for the headings. What begins with a speech is a reply to the user.
func headingFaults(text string) (faults []string) {
	found, first, at := map[string]bool{}, len(text), 0
	for line := range strings.Lines(text) {
		if h := headingIn(line); h != "" {
			found[h] = true
			first = min(first, at)
		}
		at += len(line)
	}
	var missing []string
	for _, h := range summaryHeadings() {
		if !found[normalizeHeading(h)] {
			missing = append(missing, h)
		}
	}
	if len(missing) > 0 {
		faults = append(faults, "these headings were missing: "+strings.Join(missing, ", "))
	}
	if first > introLimit {
		faults = append(faults, "it began with a reply instead of the first heading")
	}
	return faults
}
