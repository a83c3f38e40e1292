package engine

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
)

// What a summary must be, in tokens. One of a short conversation may be shorter.
const (
	summaryLeast, summaryMost = 200, 4000
	// summaryAnyway is how long a summary may be however short its conversation was: the
	// headings alone take a part of that.
	summaryAnyway = 400
	// introLimit is how much may stand before the first heading, in bytes.
	introLimit = 200
	// nameLimit is how many changed files a summary must name; all are in our own records.
	nameLimit = 20
)

// summaryHeadings are those of prompt/compactionask.md.
var summaryHeadings = sync.OnceValue(func() (out []string) {
	for line := range strings.Lines(compactionAsk) {
		if strings.HasPrefix(line, "## ") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
})

// pathWords finds what looks like the path of a file.
var pathWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\w.@~+-]*(?:/[\w.@+-]+)+\.\w{1,8}\b`)
})

// summaryFaults is what is wrong with a summary, so that the model can mend it; nothing is
// when it can be used. No model judges it. Source is all it was made of; one by another's prompt
// need not have our headings.
func summaryFaults(text, source string, changed []string, ours bool) (faults []string) {
	if strings.TrimSpace(text) == "" {
		return []string{"it was empty"}
	}
	size, whole := tokensIn(text), tokensIn(source)
	if least := min(summaryLeast, whole/8); size < least {
		faults = append(faults, fmt.Sprintf("it was too short to work from (about %d tokens; at least %d)", size, least))
	}
	if most := min(summaryMost, max(whole, summaryAnyway)); size > most {
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
	named := map[string]bool{}
	for _, p := range pathWords().FindAllString(text, -1) {
		if !named[p] && !strings.Contains(source, path.Base(p)) {
			named[p] = true
			faults = append(faults, "it named "+p+", which never occurred")
		}
	}
	return faults
}

// headingFaults looks for the headings. What begins with a speech is a reply to the user.
func headingFaults(text string) (faults []string) {
	var missing []string
	first := len(text)
	for _, h := range summaryHeadings() {
		at := strings.Index("\n"+text, "\n"+h)
		if at < 0 {
			missing = append(missing, h)
			continue
		}
		first = min(first, at)
	}
	if len(missing) > 0 {
		faults = append(faults, "these headings were missing: "+strings.Join(missing, ", "))
	}
	if first > introLimit {
		faults = append(faults, "it began with a reply instead of the first heading")
	}
	return faults
}
