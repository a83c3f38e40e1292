package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/cli"
)

// The replacement of a word must exist, and the word must not.
func TestOtherWords(t *testing.T) {
	root := newRoot(newApp())
	quoted := regexp.MustCompile("`lathe([^`]*)`")
	for word, instead := range cli.KnownElsewhere {
		if _, rest, err := root.Find(strings.Fields(word)[1:]); err == nil && len(rest) == 0 {
			t.Errorf("%s is a command", word)
		}
		for _, m := range quoted.FindAllStringSubmatch(instead, -1) {
			args := strings.Fields(strings.NewReplacer("WORDS", "", "ID", "x").Replace(m[1]))
			c, rest, err := root.Find(args)
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err != nil || len(args) > 0 && !strings.HasPrefix(args[0], "-") && !c.HasParent() {
				t.Errorf("%s: lathe%s is no command: %v", word, m[1], err)
			}
		}
	}
}
