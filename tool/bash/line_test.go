package bash

import (
	"slices"
	"testing"

	sh "github.com/lathe-agent/lathe/tool/shell"
)

func TestNewLine(t *testing.T) {
	for _, c := range []struct {
		line         string
		commands     []string
		whole, reads bool
	}{
		{"ls -la", []string{"ls -la"}, true, true},
		{"cd src && cat *.json | head -5", []string{"cat *.json", "head -5"}, true, true},
		{"/bin/ls; 'git' status", []string{"ls", "git status"}, true, true},
		{"git -c core.pager=x status", nil, false, false},
		{"git diff --output=x", []string{"git diff --output=x"}, false, false},
		{"find . -name '*.go' -delete", nil, false, false},
		{"rg --pre ./x y", nil, false, false},
		{"docker ps", []string{"docker ps"}, true, false},
		{"docker ps > out", []string{"docker ps > out"}, false, false},
		{"docker ps < in", []string{"docker ps < in"}, true, false},
		{"PATH=/x docker ps", []string{"docker ps"}, false, false},
		{"docker run $x", nil, false, false},
		{"docker() { rm x; }; docker ps", nil, false, false},
		{"$x ps", nil, false, false},
		{"ls 'unfinished", nil, false, false},
		{"cat $x | wc -l", nil, false, false}, // which may be a file that is written, for all we know
		{"echo $x | wc -l", nil, false, true},
		{"ls -A > listing", nil, false, true},
		{"ls > $x", nil, false, false},
		{"rg x $y", nil, false, false},
		{"ls | sort", nil, true, true},
		{"ls | sort -o x", nil, false, false},
		{"ls | python3 x.py", nil, true, false},
		{"ls $(touch x)", nil, false, false},
	} {
		got := newLine(sh.Analyze(c.line, sh.Environment{Dir: "/p", Home: "/h"}))
		if got.Complete != c.whole || got.ReadsOnly != c.reads {
			t.Errorf("%s: %+v", c.line, got)
		}
		var texts []string
		for _, command := range got.Commands {
			texts = append(texts, command.Text)
		}
		if c.commands != nil && !slices.Equal(texts, c.commands) {
			t.Errorf("%s: %q", c.line, texts)
		}
	}
}
