package engine

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/permission"
	"github.com/lathe-agent/lathe/tool"
)

// Clients tell a refusal from a failure by these words.
func TestRefusal_WordsOfClients(t *testing.T) {
	rules := lathe.Ruleset{{Permission: "bash", Pattern: "*", Action: lathe.Deny}}
	j := permission.Evaluator{Chain: []permission.Scope{{Agent: rules, Listed: rules}}}
	_, denied := j.Decide(tool.Permission{Name: "bash", Patterns: []string{"ls"}})
	hidden := (&stepInput{}).allowed(tool.Spec{Name: "bash"}, j)
	for words, err := range map[string][]error{
		"specified a rule":    {denied, hidden},
		"rejected permission": {(&host{}).rejection(tool.Permission{}, answer{}), (&host{}).rejection(tool.Permission{}, answer{note: "not now"})},
	} {
		for _, err := range err {
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%v: does not say %q", err, words)
			}
		}
	}
}

// A refusal that no person gave does not blame the user, and says what to do without it.
func TestRefusal_Unattended(t *testing.T) {
	err := (&host{}).rejection(tool.Permission{Name: "external_directory", Patterns: []string{"/etc/*"}}, answer{unattended: true, note: "Ask later."})
	const want = `Not allowed here: /etc/* needs the permission "external_directory" and no user is attached to grant it. It was not run. Ask later. Work without it, and say at the end what is left.`
	if err.Error() != want || lathe.CodeOf(err) != lathe.Denied {
		t.Errorf("got %q, %s", err, lathe.CodeOf(err))
	}
}
