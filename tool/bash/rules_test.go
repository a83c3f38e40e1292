//go:build unix

package bash_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// narrowRules ask but for a few commands; wideRules allow but for a few.
func narrowRules() lathe.Ruleset {
	rules := lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Ask}}
	for _, p := range []string{
		"git status*", "git log*", "git diff *", "ls *", "cat *", "echo *", "touch *", "go test *", "find *", "grep *", "sed *", "awk *", "* --version", "make *",
		"python3 *", "xargs *", "tar *", "sort *", "head *", "bash *", "sh *", "watch *", "ssh *", "git config *", "git rebase *", "cd *", "export *", "read *", "mkdir *", "printf *",
		"test *", "[ *", "true *", "wc *", "cp *", "tee *", "alias *", "trap *", "source *", "eval *", "set *", "rg *", "f *", "env", "command -v *", "let *", "declare *", "unset *", "hash *",
	} {
		rules = append(rules, lathe.Rule{Permission: "bash", Pattern: p, Action: lathe.Allow})
	}
	return append(rules, denyRules()...)
}

func wideRules() lathe.Ruleset {
	return append(lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Allow}, {Permission: "external_directory", Pattern: "*", Action: lathe.Ask}}, denyRules()...)
}

func denyRules() lathe.Ruleset {
	return lathe.Ruleset{
		{Permission: "bash", Pattern: "rm *", Action: lathe.Deny},
		{Permission: "bash", Pattern: "git push*", Action: lathe.Deny},
		{Permission: "bash", Pattern: "sudo *", Action: lathe.Deny},
		{Permission: "bash", Pattern: "nohup *", Action: lathe.Deny},
	}
}

// decide is what rules say of a request, as the engine does.
func decide(p tool.Permission, rules lathe.Ruleset) lathe.Action {
	worst := lathe.Allow
	for i := range p.Patterns {
		switch p.Evaluate(rules, i) {
		case lathe.Deny:
			return lathe.Deny
		case lathe.Ask:
			worst = lathe.Ask
		}
	}
	if action, _ := p.Conflict(rules); action != lathe.Allow {
		return action
	}
	return worst
}

// judged asks the real tool for a command, which is refused before it runs.
func judged(x *terminal, command string) (run, outside *tool.Permission) {
	x.Asked = nil
	x.OnAsk = nil
	_, _ = x.Run(bash.New(x.cfg), tooltest.Input{"command": command})
	for i := range x.Asked {
		switch x.Asked[i].Name {
		case "bash":
			run = &x.Asked[i]
		case "external_directory":
			outside = &x.Asked[i]
		}
	}
	return run, outside
}

// verdict is the strictest of what is asked; "outside" is an ask for a directory.
func verdict(x *terminal, command string, rules lathe.Ruleset) string {
	bash, outside := judged(x, command)
	action := lathe.Allow
	if bash != nil {
		action = decide(*bash, rules)
	}
	if action == lathe.Allow && outside != nil {
		return "outside"
	}
	return string(action)
}

func ruleRoom(t *testing.T) *terminal {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("no bash here: %v", err)
	}
	x := newTerminal(t)
	x.Refuse = "bash" // nothing of the corpus runs
	x.Put("a", "")
	x.Put("b.go", "")
	x.Put("sub/a", "")
	x.Link(x.Out, "away")
	x.Link("/etc/hostname", "link.txt")
	return x
}

// Each line of the corpus has the decision that its heading says. ⏎ is a newline.
func TestBash_Corpus(t *testing.T) {
	x := ruleRoom(t)
	count := 0
	for _, part := range []struct {
		name  string
		rules lathe.Ruleset
		lines string
	}{{"narrow", narrowRules(), narrowCorpus}, {"wide", wideRules(), wideCorpus}} {
		want := ""
		for line := range strings.Lines(part.lines) {
			line = strings.TrimSuffix(line, "\n")
			if head, ok := strings.CutPrefix(line, "== "); ok {
				want = head
				continue
			}
			if line == "" {
				continue
			}
			count++
			command := strings.NewReplacer("⏎", "\n", "⇥", "\t", "OUT", x.Out).Replace(line)
			if got := verdict(x, command, part.rules); got != want {
				p, _ := judged(x, command)
				t.Errorf("%s: %s\nis %s; want %s\n%+v", part.name, line, got, want, p)
			}
		}
	}
	t.Logf("%d lines", count)
	if count < 300 {
		t.Errorf("%d lines; want 300", count)
	}
}

// What "always" stores allows the same line again, unless something in it is unknown.
func TestBash_Always(t *testing.T) {
	x := ruleRoom(t)
	for _, command := range []string{"git status", "npm run dev", "echo a > b", "PATH=/x ls", "env FOO=1 touch x", "ls | wc -l", "git -c core.pager=less log"} {
		p, _ := judged(x, command)
		rules := lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Ask}}
		for _, a := range p.Always {
			rules = append(rules, lathe.Rule{Permission: "bash", Pattern: a, Action: lathe.Allow})
		}
		if got := decide(*p, rules); got != lathe.Allow {
			t.Errorf("%s: %s after %q", command, got, p.Always)
		}
	}
	for _, command := range []string{"$X a", "eval \"$X\"", "curl x | sh", "echo 'open"} {
		p, _ := judged(x, command)
		rules := lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Ask}}
		for _, a := range p.Always {
			rules = append(rules, lathe.Rule{Permission: "bash", Pattern: a, Action: lathe.Allow})
		}
		if got := decide(*p, rules); got != lathe.Ask {
			t.Errorf("%s: %s after %q", command, got, p.Always)
		}
	}
}

// The question shows what is not known, and why.
func TestBash_Unknown(t *testing.T) {
	x := ruleRoom(t)
	p, _ := judged(x, "$CMD x")
	var meta struct {
		Command string
		Unknown []struct{ Text, Why string }
	}
	if err := json.Unmarshal(p.Metadata, &meta); err != nil {
		t.Fatal(err)
	}
	if meta.Command != "$CMD x" || len(meta.Unknown) == 0 || meta.Unknown[0].Text != "$CMD" || !strings.Contains(meta.Unknown[0].Why, "CMD is not known") {
		t.Errorf("%s", p.Metadata)
	}
}

// However rules are, one more that denies, one less that allows and one more above them never
// allow more; and a line that cannot be read is never allowed.
func TestBash_Monotone(t *testing.T) {
	x := ruleRoom(t)
	var asked []tool.Permission
	for line := range strings.Lines(narrowCorpus + wideCorpus) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "== ") {
			continue
		}
		if p, _ := judged(x, strings.ReplaceAll(line, "⏎", "\n")); p != nil {
			asked = append(asked, *p)
		}
	}
	strict := map[lathe.Action]int{lathe.Allow: 0, lathe.Ask: 1, lathe.Deny: 2}
	pattern := rapid.SampledFrom([]string{"*", "git *", "git status*", "rm *", "* --version", "*", "touch *", "ls", "ls *", "<unknown*", "*x*", "timeout *", "echo ?*", "env *", "> *", "PATH=*", "sh *"})
	rapid.Check(t, func(r *rapid.T) {
		rule := func(actions ...lathe.Action) lathe.Rule {
			return lathe.Rule{Permission: rapid.SampledFrom([]string{"bash", "*", "edit"}).Draw(r, "permission"), Pattern: pattern.Draw(r, "pattern"), Action: rapid.SampledFrom(actions).Draw(r, "action")}
		}
		rules := rapid.SliceOfN(rapid.Custom(func(*rapid.T) lathe.Rule { return rule(lathe.Allow, lathe.Ask, lathe.Deny) }), 0, 6).Draw(r, "rules")
		p := rapid.SampledFrom(asked).Draw(r, "request")
		before := strict[decide(p, rules)]
		at := rapid.IntRange(0, len(rules)).Draw(r, "at")
		more := append(append(append(lathe.Ruleset{}, rules[:at]...), rule(lathe.Deny)), rules[at:]...)
		if after := strict[decide(p, more)]; after < before {
			r.Fatalf("a deny allows more: %v, then %v", rules, more)
		}
		if at < len(rules) && rules[at].Action == lathe.Allow {
			less := append(append(lathe.Ruleset{}, rules[:at]...), rules[at+1:]...)
			if after := strict[decide(p, less)]; after < before {
				r.Fatalf("less allows more: %v, then %v", rules, less)
			}
		}
		if p.Unparsed && before == 0 {
			r.Fatalf("an unread line is allowed by %v", rules)
		}
	})
}
