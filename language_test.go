//go:build !race

package lathe_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/lathe-agent/lathe/internal/archtest"
)

const everywhere = archtest.InStrings | archtest.InPages | archtest.InComments

// phrases are words that people who know git, gh and OpenCode stumble over, and what to write instead. The patterns are
// matched without regard to case.
var phrases = []archtest.Phrase{
	{Pattern: `goes on|going on|go on|went on`, Instead: "continue or resume", In: everywhere, Fine: `what is going on`},
	{Pattern: `kept`, Instead: "saved, stored or stays", Fine: `kept planning`},
	{Pattern: `of this machine`, Instead: "this machine's, or on this machine", In: everywhere},
	{Pattern: `mend|mends|mended|mending`, Instead: "fix or repair", In: everywhere},
	{Pattern: `told|tells`, Instead: "report, say, show or send", In: archtest.InStrings},
	{Pattern: `taken back|takes back|take back`, Instead: "undone or revoked", In: everywhere},
	{Pattern: `is to|are to`, Instead: "must", Fine: `(is|are) to (be )?(blame)`},
	{Pattern: `what counts`, Instead: "the noun", In: everywhere},
	{Pattern: `figures`, Instead: "numbers, usage or statistics"},
	{Pattern: `whoever|nobody|somebody|those who|those which`, Instead: "the noun: user, client, caller, process"},
	{Pattern: `one that|those that`, Instead: "the noun", In: archtest.InStrings},
	{Pattern: `in order`, Instead: "OK, sorted or to", Fine: `in order of|in order to`},
	{Pattern: `under way`, Instead: "running", In: everywhere},
	{Pattern: `keys? of`, Instead: "X API key", In: archtest.InStrings},
	{Pattern: `terminal program`, Instead: "terminal UI", In: everywhere},
	{Pattern: `mistakes? of lathe`, Instead: "bug in lathe", In: everywhere},
	{Pattern: `sub-agents?`, Instead: "subagent", In: everywhere},
	{Pattern: `there (is|was|are) (no|none|nothing)`, Instead: "no X, or X not found", In: archtest.InStrings},
	{Pattern: `what|who|whoever|that which`, Instead: "the noun first: its output, the value, the caller", Head: true, In: archtest.InStrings | archtest.InComments, Fine: `\?`},
	{Pattern: `is no|are no`, Instead: "is not a", In: archtest.InStrings, Fine: `(is|are) no (longer|more|other|\w+ (in|on|for))|there (is|are) no`},
	{Pattern: `begun|anew`, Instead: "started, again", In: archtest.InStrings},
	{Pattern: `the settings|settings (of|name|say)|its settings|your settings`, Instead: "the config", In: archtest.InStrings},
	{
		Pattern: `gives|prints|shows|lists|opens|sends|deletes|connects|installs|makes|adds|takes|runs|starts|writes|reads|looks|fetches|removes|lets|checks|sets|answers|searches|stops|exports|imports|keeps`,
		Instead: "the imperative: Print, Show, Run", Head: true, In: archtest.InStrings,
	},
	{Pattern: `used up`, Instead: "reached (a budget), spent"},
	{Pattern: `for good`, Instead: "permanently or always"},
	{Pattern: `the reference|the seeds`, Instead: "OpenCode", In: everywhere, Fine: `the reference (of|page|count)`},
	{Pattern: `house|houses|rooms?|errands?|guests?|tombs?|wardens?|surveys?|news|doors?`, Instead: "the field's own word, not a metaphor", In: everywhere},
	{Pattern: `colou?red?s?|neighbou?r\w*|behaviou?rs?`, Instead: "American spelling", In: everywhere, Fine: `color|neighbor|behavior`},
	{Pattern: `cancell(ed|ing|s)|recogni[s]e[sd]?|initiali[s]e[sd]?|organi[s]e[sd]?|favou[r]s?|licence|catalogues?|honou[r]s?|centre|labelled|seriali[s]e[sd]?|normali[s]e[sd]?|analyse[sd]?|grey`, Instead: "American spelling", In: everywhere},
}

// allowedPhrases are the places where such words are right: "file: words" or "folder/: words", and why.
var allowedPhrases = map[string]string{
	"engine/check/end.go: cancelled": "the status of a to-do as the wire spells it",
	"usage/kind.go: there is no":     "errors that earlier versions stored",
	"part.go: what":                  "the heading in sessions of earlier versions",
}

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
	if share := tree.CommentShare("scripts", "examples"); share < 12 || share > 16 {
		problems = append(problems, archtest.Problem{At: "all", Text: fmt.Sprintf("%.1f %% of the lines carry a comment, not 12 to 16: delete comments that repeat a name, add the reasons", share)})
	}
	archReport(t, problems)
}
