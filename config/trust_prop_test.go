package config

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
)

// The settings a generated project is made of; %d is a value that may change.
var (
	riskyParts = []string{
		`"shell": "/bin/%d"`, `"plugin": ["p%d"]`, `"mcp": {"m": {"type": "local", "command": ["c%d"]}}`, `"instructions": ["https://x/%d", "docs"]`,
		`"provider": {"a": {"options": {"baseURL": "u%d", "timeout": 5}}}`, `"command": {"c": {"template": "!` + "`%d`" + `"}}`,
		`"permission": {"bash": {"x%d": "allow", "y": "deny"}}`, `"model": "a/{env:M%d}"`, `"lsp": {"l": {"command": ["%d"]}}`,
	}
	harmlessParts = []string{
		`"username": "u%d"`, `"agent": {"a": {"prompt": "p%d"}}`, `"compaction": {"reserved": %d}`, `"watcher": {"ignore": ["i%d"]}`,
		`"formatter": false, "autoupdate": false, "subagent_depth": %d`,
	}
)

// part is one of them with its value.
type part struct {
	text  string
	value int
}

func settingsOf(parts []part, comment string) string {
	var all []string
	for _, p := range parts {
		all = append(all, fmt.Sprintf(p.text, p.value))
	}
	return "{ // " + comment + "\n" + strings.Join(all, ", "+comment+"\n") + "}"
}

// Trust is asked for again exactly when a setting that needs it has changed.
func TestTrust_DigestChangesWithRisksOnly(t *testing.T) {
	w := newFixture(t)
	digestOf := func(parts []part, comment string) string {
		w.write("top/lathe.jsonc", settingsOf(parts, comment))
		if d := w.load().Untrusted; d != nil {
			return d.Digest
		}
		return ""
	}
	rapid.Check(t, func(rt *rapid.T) {
		var parts []part
		chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Concat(riskyParts, harmlessParts)), 1, 8, rapid.ID[string]).Draw(rt, "parts")
		for _, text := range chosen {
			parts = append(parts, part{text, 1})
		}
		before := digestOf(parts, "")
		if got := digestOf(parts, "  /* said in passing */ "); got != before {
			rt.Fatal("a comment changed the digest")
		}
		i := rapid.IntRange(0, len(parts)-1).Draw(rt, "changed")
		risky := slices.Contains(riskyParts, parts[i].text)
		parts[i].value = 2
		if got := digestOf(parts, ""); (got != before) != risky {
			rt.Fatalf("changing %s: digest changed %v", parts[i].text, got != before)
		}
		removed := digestOf(slices.Delete(slices.Clone(parts), i, i+1), "")
		if (removed != before) != risky {
			rt.Fatalf("removing %s: digest changed %v", parts[i].text, removed != before)
		}
	})
}

// genRules writes rules in any shape, as a value of JSON.
func genRules() *rapid.Generator[string] {
	action := rapid.SampledFrom([]string{`"ask"`, `"allow"`, `"deny"`, `"deny"`})
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(t, "one") == 0 {
			return action.Draw(t, "action")
		}
		var members []string
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"bash", "edit", "*", "b*", "read"}), 0, 4, rapid.ID[string]).Draw(t, "names")
		for _, name := range names {
			rule := action.Draw(t, "action")
			if rapid.Bool().Draw(t, "patterns") {
				var inner []string
				patterns := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"*", "git *", "git push", "~/x", "rm*"}), 0, 3, rapid.ID[string]).Draw(t, "patterns")
				for _, p := range patterns {
					inner = append(inner, fmt.Sprintf("%q: %s", p, action.Draw(t, "action")))
				}
				rule = "{" + strings.Join(inner, ", ") + "}"
			}
			members = append(members, fmt.Sprintf("%q: %s", name, rule))
		}
		return "{" + strings.Join(members, ", ") + "}"
	})
}

// genRuleFile is a settings file about rules: everywhere they may be, old forms too.
func genRuleFile() *rapid.Generator[string] {
	tools := rapid.SampledFrom([]string{`{}`, `{"bash": true}`, `{"bash": false, "write": true}`, `{"*": true}`, `{"edit": false}`})
	return rapid.Custom(func(t *rapid.T) string {
		var members []string
		add := func(key, val string) {
			if rapid.Bool().Draw(t, "has "+key) {
				members = append(members, fmt.Sprintf("%q: %s", key, val))
			}
		}
		add("permission", genRules().Draw(t, "rules"))
		add("tools", tools.Draw(t, "tools"))
		for _, key := range []string{"agent", "mode"} {
			add(key, fmt.Sprintf(`{"a": {"permission": %s, "tools": %s}}`, genRules().Draw(t, "agent rules"), tools.Draw(t, "agent tools")))
		}
		return "{" + strings.Join(members, ", ") + "}"
	})
}

func strength(a lathe.Action) int {
	return map[lathe.Action]int{lathe.Allow: 0, lathe.Ask: 1, lathe.Deny: 2}[a]
}

// What the user denies, no project allows, trusted or not; and one that is not trusted
// makes nothing easier at all.
func TestRules_ProjectNeverWidens(t *testing.T) {
	w := newFixture(t)
	defaults := lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Allow}}
	rapid.Check(t, func(rt *rapid.T) {
		w.write("home/.config/opencode/opencode.json", genRuleFile().Draw(rt, "user"))
		w.write("home/.config/lathe/lathe.json", genRuleFile().Draw(rt, "user again"))
		w.write("etc/lathe/lathe.json", genRuleFile().Draw(rt, "managed"))
		for _, name := range []string{"top/opencode.json", "top/sub/.lathe/lathe.json"} {
			_ = os.Remove(w.path(name))
		}
		alone := w.load()
		w.write("top/opencode.json", genRuleFile().Draw(rt, "project"))
		w.write("top/sub/.lathe/lathe.json", genRuleFile().Draw(rt, "project again"))
		w.trust = nil
		distrusted := w.load()
		w.trust = yes
		trusted := w.load()
		for _, agent := range []string{"", "a", "b"} {
			for _, permission := range []string{"bash", "edit", "read", "webfetch"} {
				for _, pattern := range []string{"git push", "git", "rm -r", w.path("home/x"), "else"} {
					// As in use: the defaults of an agent come before the settings.
					judge := func(l *Loaded) lathe.Action {
						return l.AgentRules(agent, defaults, nil).Evaluate(permission, pattern).Action
					}
					own := judge(alone)
					if got := judge(trusted); own == lathe.Deny && got != lathe.Deny {
						rt.Fatalf("%s %s of agent %q is denied by the user, and trusted it is %s", permission, pattern, agent, got)
					}
					if got := judge(distrusted); strength(got) < strength(own) {
						rt.Fatalf("%s %s of agent %q is %s for the user, and not trusted it is %s", permission, pattern, agent, own, got)
					}
				}
			}
		}
	})
}
