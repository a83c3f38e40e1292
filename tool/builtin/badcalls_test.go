package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/tool/web"
)

// spoiled is a call as a family of models sends it, with a mistake. In its texts DIR stands for
// the project's directory and URL for a server.
type spoiled struct {
	family, tool, input string
	does                string   // what was meant and is done, one of the works below
	says                []string // otherwise: what the error must have
}

// What calls may mean, and which of the tools does it.
const (
	doesRead  = "reads src/main.go"
	doesList  = "lists src"
	doesWrite = "writes hello to new.txt"
	doesGlob  = "finds src/main.go by name"
	doesGrep  = "finds the needle"
	doesRun   = "runs echo"
	doesTodo  = "keeps two entries"
	doesAsk   = "asks the user"
	doesFetch = "fetches the page"
)

// counter is where the calls are run: a desk that also notes lists and questions.
type counter struct {
	*tooltest.Host
	todos     []lathe.Todo
	questions []lathe.Question
	set       *tool.Set
	url       string
	hits      atomic.Int64
	runner    *sandbox.Runner
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	c := &counter{Host: tooltest.NewHost(t), runner: sandbox.Open(sandbox.Config{})}
	c.Call.Host = c
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c.hits.Add(1)
		_, _ = fmt.Fprint(w, "the page")
	}))
	t.Cleanup(func() {
		server.Close()
		if err := c.runner.Close(); err != nil {
			t.Error(err)
		}
	})
	c.url = server.URL
	seen := builtin.NewReadTracker()
	all := builtin.All(builtin.Config{
		Bash: bash.Config{Runner: c.runner, Shell: "/bin/sh", Env: os.Environ(), Output: tool.Output{Dir: t.TempDir()}},
		Read: builtin.ReadConfig{Tracker: seen}, Write: builtin.WriteConfig{Tracker: seen}, Web: web.Config{AllowPrivate: true},
	})
	c.set = tool.NewSet(all...)
	c.Put("src/main.go", "package main\n\nfunc main() { println(\"needle 7\") }\n")
	c.Put("src/b.txt", "nothing\n")
	return c
}

func (c *counter) SetTodos(_ context.Context, list []lathe.Todo) error {
	c.todos = list
	return nil
}

func (c *counter) AskUser(_ context.Context, qs []lathe.Question) ([][]string, error) {
	c.questions = qs
	return [][]string{{"Yes"}}, nil
}

// done reports whether a result is what was meant; it forgets what it found.
func (c *counter) done(what, output string) bool {
	defer func() {
		c.todos, c.questions, c.Published = nil, nil, nil
		c.hits.Store(0)
		_ = os.Remove(filepath.Join(c.Dir, "new.txt")) // most calls do not make it
	}()
	main := filepath.Join(c.Dir, "src", "main.go")
	switch what {
	case doesRead:
		return strings.Contains(output, main) && strings.Contains(output, "3: func main()")
	case doesList:
		return strings.Contains(output, "main.go") && strings.Contains(output, "b.txt")
	case doesWrite:
		data, err := os.ReadFile(filepath.Join(c.Dir, "new.txt"))
		return err == nil && string(data) == "hello\n"
	case doesGlob:
		return strings.Contains(output, main) && !strings.Contains(output, "b.txt")
	case doesGrep:
		return strings.Contains(output, "needle 7") && strings.Contains(output, main)
	case doesRun:
		return strings.Contains(output, "ran 42")
	case doesTodo:
		return len(c.todos) == 2 && c.todos[0] == lathe.Todo{Content: "one", Status: "completed", Priority: c.todos[0].Priority} &&
			c.todos[1].Content == "two" && c.todos[1].Status == "in_progress" && c.todos[0].Priority != ""
	case doesAsk:
		return len(c.questions) == 1 && c.questions[0].Question == "Go on?" && len(c.questions[0].Options) == 2
	case doesFetch:
		return c.hits.Load() == 1 && strings.Contains(output, "the page")
	}
	return false
}

// TestBadCalls sends each call as an engine does. It is repaired and does what was meant, or it
// changes nothing and its error says what is wrong, what is true instead and what would work.
func TestBadCalls(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh on this machine")
	}
	calls := slices.Concat(familyCalls(), renamedCalls(), brokenCalls(), typedCalls(), hopelessCalls())
	if len(calls) < 300 {
		t.Errorf("only %d calls", len(calls))
	}
	c := newCounter(t)
	before := state(c.Host)
	shares := map[string][2]int{}
	for i, bad := range calls {
		t.Run(fmt.Sprintf("%d %s %s", i, bad.family, bad.tool), func(t *testing.T) {
			share := shares[bad.family]
			if bad.does != "" {
				share[0]++
			} else {
				share[1]++
			}
			shares[bad.family] = share
			c.try(t, bad)
		})
	}
	if after := state(c.Host); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the files are others now: %v", after)
	}
	repaired := 0
	for _, family := range slices.Sorted(maps.Keys(shares)) {
		s := shares[family]
		repaired += s[0]
		t.Logf("%-12s %3d calls: %3d%% repaired, %3d%% refused with a message", family, s[0]+s[1], 100*s[0]/(s[0]+s[1]), 100*s[1]/(s[0]+s[1]))
	}
	t.Logf("%-12s %3d calls: %3d%% repaired, %3d%% refused with a message", "all", len(calls), 100*repaired/len(calls), 100-100*repaired/len(calls))
}

func (c *counter) try(t *testing.T, bad spoiled) {
	input := strings.NewReplacer("DIR", filepath.ToSlash(c.Dir), "URL", c.url).Replace(bad.input)
	r := c.set.Repair(bad.tool, input)
	call := c.Call
	call.Input = r.Input
	got, err := tool.Run(context.Background(), r.Tool, &call)
	if bad.does != "" {
		if done := c.done(bad.does, got.Output); err != nil || !done {
			t.Errorf("%s %s\nis no call that %s: %s %s\n%v %s", bad.tool, input, bad.does, r.Tool.Spec().Name, r.Input, err, got.Output)
		}
		return
	}
	words := got.Output
	var failure *tool.Failure
	switch {
	case errors.As(err, &failure):
		words = failure.Text
	case err != nil:
		t.Errorf("no failure for the model: %v", err)
	case r.Tool.Spec().Name != tool.InvalidName:
		t.Errorf("%s %s\nwas done: %s", bad.tool, input, words)
	}
	for _, s := range bad.says {
		if !strings.Contains(words, s) {
			t.Errorf("%s %s\ndoes not say %q:\n%s", bad.tool, input, s, words)
		}
	}
	if len(bad.says) == 0 || len(words) > 1500 {
		t.Errorf("nothing is expected of it, or it is too long: %s", words)
	}
	if c.todos != nil || c.Published != nil {
		t.Error("something was changed")
		c.todos, c.Published = nil, nil
	}
}
