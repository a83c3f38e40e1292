package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// A mode lies below everything that is more specific, and changes no list where commands are confined
// as they always were.
func TestWithMode(t *testing.T) {
	defaults := permission.DefaultRules(permission.Folders{Outputs: "/o"})
	if got := permission.WithMode(defaults, "", true); !slices.EqualFunc(got, defaults, func(a, b lathe.Rule) bool {
		return a.Permission == b.Permission && a.Pattern == b.Pattern && a.Action == b.Action
	}) {
		t.Errorf("without a mode the rules are %v", got)
	}
	const allow, ask, deny = lathe.Allow, lathe.Ask, lathe.Deny
	for _, tt := range []struct {
		permission, pattern                     string
		sandbox, loose, asks, reads, looseReads lathe.Action // loose: nothing confines commands
	}{
		{"edit", "a.go", allow, allow, ask, deny, deny},
		{"bash", "make", allow, ask, ask, allow, ask},
		{"github_create", "*", allow, allow, ask, ask, ask},
		{"read", "a.go", allow, allow, allow, allow, allow},
		{"read", ".env", ask, ask, ask, ask, ask},
		{"grep", "x", allow, allow, allow, allow, allow},
		{"task", "explore", allow, allow, allow, allow, allow},
		{"external_directory", "/o/*", allow, allow, allow, allow, allow},
		{"external_directory", "/etc/*", ask, ask, ask, ask, ask},
		{"sandbox", "x", ask, ask, ask, ask, ask},
		{"question", "*", deny, deny, deny, deny, deny},
	} {
		got := []lathe.Action{}
		for _, rules := range []lathe.Ruleset{
			permission.WithMode(defaults, lathe.SandboxMode, true), permission.WithMode(defaults, lathe.SandboxMode, false),
			permission.WithMode(defaults, lathe.AskMode, true), permission.WithMode(defaults, lathe.ReadOnlyMode, true), permission.WithMode(defaults, lathe.ReadOnlyMode, false),
		} {
			got = append(got, rules.Evaluate(tt.permission, tt.pattern).Action)
		}
		if want := []lathe.Action{tt.sandbox, tt.loose, tt.asks, tt.reads, tt.looseReads}; !slices.Equal(got, want) {
			t.Errorf("%s %s: %v, not %v", tt.permission, tt.pattern, got, want)
		}
	}
}

// ruled is a play whose agents get other rules while a step runs.
type ruled struct {
	armed
	strict *atomic.Bool
}

func (r ruled) Agents(at workspace.Place) ([]engine.Agent, error) {
	s, err := r.Settings(context.Background(), at)
	if err != nil || !r.strict.Load() {
		return s.Agents, err
	}
	agents := slices.Clone(s.Agents)
	for i := range agents {
		agents[i].Permissions, agents[i].Rules = nil, lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Deny}}
	}
	return agents, nil
}

// Rules that change while a model answers count for the next call of the same answer.
func TestTurn_RulesCountFromTheNextCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := parseScript(t, "-- model --\ncall try {}\npause 1s\ncall try {}\nfinish tool-calls\n--\ntext \"Done.\"\nfinish stop\n")
		var strict atomic.Bool
		try := tool.Define(tool.Spec{Name: "try", Description: "Tries."}, func(context.Context, *tool.Call, struct{}) (tool.Result, error) {
			strict.Store(true)
			return tool.Result{Output: "It was tried."}, nil
		})
		p := beginPlayWith(t, s, modeltest.Anthropic, func(o *opening) { o.Environment = ruled{armed{o.Environment, try}, &strict} })
		_, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("go")})
		p.ok(err)
		said := p.shown.history(p.all())
		if strings.Count(said, "It was tried.") != 1 || !strings.Contains(said, "forbids the tool try") {
			t.Errorf("the second call was not judged by the new rules:\n%s", said)
		}
		p.check()
	})
}
