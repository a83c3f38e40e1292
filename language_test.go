package lathe_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/lathe-agent/lathe/internal/archtest"
)

// phrases are words that people who know git, gh and OpenCode stumble over, and what to write instead. The patterns are
// matched without regard to case.
var phrases = []archtest.Phrase{
	{Pattern: `goes on|going on|go on|went on`, Instead: "continue or resume", Comments: true, Fine: `what is going on`},
	{Pattern: `kept`, Instead: "saved, stored or stays"},
	{Pattern: `of this machine`, Instead: "this machine's, or on this machine", Comments: true},
	{Pattern: `mend|mends|mended|mending`, Instead: "fix or repair", Comments: true},
	{Pattern: `told|tells`, Instead: "report, say, show or send"},
	{Pattern: `taken back|takes back|take back`, Instead: "undone or revoked", Comments: true},
	{Pattern: `is to|are to`, Instead: "must", Fine: `(is|are) to (be )?(blame)`},
	{Pattern: `what counts`, Instead: "the noun", Comments: true},
	{Pattern: `figures`, Instead: "numbers, usage or statistics"},
	{Pattern: `whoever|nobody|somebody|those who|those which`, Instead: "the noun: user, client, caller, process"},
	{Pattern: `one that|those that`, Instead: "the noun"},
	{Pattern: `in order`, Instead: "OK, sorted or to", Comments: false, Fine: `in order of|in order to`},
	{Pattern: `under way`, Instead: "running", Comments: true},
	{Pattern: `keys? of`, Instead: "X API key"},
	{Pattern: `terminal program`, Instead: "terminal UI", Comments: true},
	{Pattern: `mistakes? of lathe`, Instead: "bug in lathe", Comments: true},
	{Pattern: `sub-agents?`, Instead: "subagent", Comments: true},
	{Pattern: `there (is|was|are) (no|none|nothing)`, Instead: "no X, or X not found"},
	{Pattern: `what (is|was|it|they|has|had|he|a|an|the|was|comes|came|there)`, Instead: "the noun: its output, the value, the files", Fine: `(see|know|knows|ask|say|says|shows?|that is) what|(about|of) what|what (is|was|it) (that|this|wrong)|what the (user|model|caller)`},
	{Pattern: `who (may|is|has|asks|was|can|wants|reads|does)`, Instead: "the noun: user, client, caller"},
	{Pattern: `used up`, Instead: "reached (a budget), spent"},
	{Pattern: `for good`, Instead: "permanently or always"},
	{Pattern: `the reference|the seeds`, Instead: "OpenCode", Comments: true, Fine: `the reference (of|page|count)`},
	{Pattern: `house|houses|rooms?|errands?|guests?|tombs?|wardens?|surveys?|news|doors?`, Instead: "the field's own word, not a metaphor", Comments: true},
	{Pattern: `colou?red?s?|neighbou?r\w*|behaviou?rs?`, Instead: "American spelling", Comments: true, Fine: `color|neighbor|behavior`},
	{Pattern: `cancell(ed|ing|s)|recogni[s]e[sd]?|initiali[s]e[sd]?|organi[s]e[sd]?|favou[r]s?|licence|catalogues?|honou[r]s?|centre|labelled|seriali[s]e[sd]?|normali[s]e[sd]?|analyse[sd]?|grey`, Instead: "American spelling", Comments: true},
}

// allowedPhrases are the places where such words are right: "file: words" or "folder/: words", and why.
var allowedPhrases = map[string]string{}

// openProblems is how many are left; it only becomes smaller.
const openProblems = 1700

var listTexts = flag.Bool("texts", false, "print every string literal with prose, for reading aloud")

func TestLanguage(t *testing.T) {
	tree := archTree(t)
	if *listTexts {
		for _, text := range tree.Texts() {
			fmt.Printf("%s\t%q\n", text.At, text.Words)
		}
	}
	problems, err := tree.Language(phrases, allowedPhrases)
	if err != nil {
		t.Fatal(err)
	}
	problems = append(problems, tree.NamedComments()...)
	if share := tree.CommentShare(); share < 12 || share > 16 {
		problems = append(problems, archtest.Problem{At: "all", Text: fmt.Sprintf("%.1f %% of the lines carry a comment, not 12 to 16: delete comments that repeat a name, add the reasons", share)})
	}
	if len(problems) > openProblems {
		archReport(t, problems)
	}
}
