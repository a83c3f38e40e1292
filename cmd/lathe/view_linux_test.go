package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// viewHome is a home whose settings name a scripted model.
func viewHome(t *testing.T, script string) (home string, server *modeltest.Server) {
	t.Helper()
	server = modeltest.Start(t, modeltest.MustParse(script))
	home = t.TempDir()
	settings := fmt.Sprintf(`{"model":"own/m","disabled_providers":["opencode"],"permission":{"bash":{"*":"allow","touch *":"ask"}},
"checks":{"todos":false,"checklist":false,"unverified":false},"subagents":{"brief":10},
"agent":{"finder":{"mode":"subagent","description":"finds things","prompt":"You find things."}},
"provider":{"own":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":%q,"apiKey":"none"},"models":{"m":{"cost":{"input":1,"output":5}}}}}}`, server.URL+"/v1")
	for name, text := range map[string]string{".config/lathe/lathe.json": settings, "p/a.txt": "one\ntwo\n", "p/hello.sh": "greet\n"} {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home, server
}

// steady replaces what differs from run to run by something as wide.
func steady(seen, home string) string {
	seen = regexp.MustCompile(`ses_[0-9A-Za-z]{26}`).ReplaceAllString(seen, "ses_00000000000000000000000000")
	seen = regexp.MustCompile(`\b\d\.\ds`).ReplaceAllString(seen, "0.0s")
	return strings.ReplaceAll(seen, home, "HOME")
}

// seenOn is what a terminal shows that was sent these bytes.
func seenOn(width, height int, sent string) *glass {
	g := newGlass(width, height)
	g.write(sent)
	return g
}

// The picture of a whole turn, at three widths: markdown, tools that end well and badly, a file that
// changes, an agent that works for another, and the last row.
func TestView_Golden(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			script, err := os.ReadFile(filepath.Join("testdata", "view", "turn.script"))
			if err != nil {
				t.Fatal(err)
			}
			home, _ := viewHome(t, string(script))
			code, sent := onScreen(t, home, uint16(width), 24, nil, "-C", "p", "run", "--title", "A view", "show all").end()
			if code != 0 {
				t.Errorf("exit code %d", code)
			}
			g := seenOn(width, 24, sent)
			for i, line := range g.rows {
				if len(line) > width-2 {
					t.Errorf("row %d has %d columns", i, len(line))
				}
			}
			got := steady(g.String(), home)
			golden := filepath.Join("testdata", "view", fmt.Sprintf("%d.golden", width))
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

var _ = unix.Winsize{}
