package bash

import (
	_ "embed"
	"slices"
	"strconv"

	"github.com/lathe-agent/lathe/internal/phrase"
)

//go:embed arity.txt
var arityText string

var arities = phrase.WordLists(arityText)

// arityPrefix returns the words that name a command: as many as the table knows for its longest beginning,
// or the first.
func arityPrefix(words []string) []string {
	n := min(1, len(words))
	for arity := 2; n > 0 && arity <= 3; arity++ {
		list := strconv.Itoa(arity)
		if slices.Contains(arities()[list], words[0]) || len(words) > 1 && slices.Contains(arities()[list+" "+words[0]], words[1]) {
			n = arity
		}
	}
	return words[:min(n, len(words))]
}
