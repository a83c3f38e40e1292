package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The manual page names every command that is offered and every flag of it, and nothing that is hidden.
func TestMan_Whole(t *testing.T) {
	root := newRoot(newApp())
	page := manual(root)
	sections := map[string]string{}
	for section := range strings.SplitSeq(page, "\n.S") {
		title, body, _ := strings.Cut(section, "\n")
		if use, ok := strings.CutPrefix(title, "S "); ok {
			sections[unroff(use)] = unroff(body)
		}
	}
	commands := 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			body, received := sections[strings.TrimSuffix(sub.UseLine(), " [flags]")]
			if received != (!sub.Hidden && sub.IsAvailableCommand()) {
				t.Errorf("%s: told is %t, hidden is %t", sub.CommandPath(), received, sub.Hidden)
			}
			if !received {
				continue
			}
			commands++
			flagsIn(t, sub.CommandPath(), sub.NonInheritedFlags().FlagUsages(), body)
			walk(sub)
		}
	}
	walk(root)
	if commands < 30 {
		t.Errorf("only %d commands are told", commands)
	}
	_, global, _ := strings.Cut(page, ".SH GLOBAL FLAGS")
	flagsIn(t, "lathe", root.PersistentFlags().FlagUsages(), unroff(global))
	_, own, _ := strings.Cut(page, ".SH TERMINAL UI FLAGS")
	own, _, _ = strings.Cut(own, ".SH COMMANDS")
	flagsIn(t, "lathe", root.LocalNonPersistentFlags().FlagUsages(), unroff(own))
	if !strings.Contains(unroff(own), "--prompt") {
		t.Error("the flags of the program without a command are not told")
	}
}

// Every line that a formatter would take for its own is one we mean.
func TestMan_Lines(t *testing.T) {
	ours := regexp.MustCompile(`^\.(TH|SH|SS|PP|TP|B|I|nf|fi)( |$)`)
	stray := regexp.MustCompile(`\\[^e&fB-]`)
	for i, line := range strings.Split(manual(newRoot(newApp())), "\n") {
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !ours.MatchString(line) {
			t.Errorf("line %d is taken for a request: %s", i+1, line)
		}
		if found := stray.FindString(line); found != "" {
			t.Errorf("line %d has the escape %s: %s", i+1, found, line)
		}
	}
	if got := roff(`.a\b-c`); got != `\&.a\eb\-c` {
		t.Errorf("got %s", got)
	}
}

func TestMan_Formatted(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed")
	}
	cmd := exec.Command(groff, "-man", "-ww", "-z", "-K", "utf8", "-T", "utf8")
	cmd.Stdin = strings.NewReader(manual(newRoot(newApp())))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
}

// flagsIn holds the flags that --help names against a part of the page.
func flagsIn(t *testing.T, command, usages, body string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, |    )(--[a-z-]+)`).FindAllStringSubmatch(usages, -1) {
		if !regexp.MustCompile(m[1]+`\b`).MatchString(body) && m[1] != "--help" {
			t.Errorf("%s: %s is not told", command, m[1])
		}
	}
}

func unroff(s string) string {
	return strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "", `\fB`, "", `\fI`, "", `\fR`, "").Replace(s)
}
