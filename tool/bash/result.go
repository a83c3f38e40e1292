package bash

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/environ"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
)

// result is the result of a command for the model and clients. A failed one is no error: its
// exit code says it.
func (b *bash) result(command, dir string, timeout time.Duration, profile sandbox.Profile, line Line, res sandbox.Result, p *printed) tool.Result {
	text, meta := b.outcome(res, p)
	if b.Confine != nil {
		meta = withSandbox(meta, profile, res.Sandbox)
	}
	silent := text == ""
	if silent {
		text = "(no output)"
	}
	var notes []string
	switch {
	case res.TimedOut:
		notes = append(notes, fmt.Sprintf("<shell_metadata>\nThe command was ended because it ran longer than its limit of %d ms; what it printed until then is above. "+
			"Give a larger timeout if it needs the time, run a smaller part of it, or start it in the background with its output in a file (command > out.log 2>&1 &) and look into that.\n</shell_metadata>",
			timeout.Milliseconds()))
	case res.Canceled:
		notes = append(notes, "<shell_metadata>\nThe user aborted the command; what it printed until then is above.\n</shell_metadata>")
	}
	if foot := footer(res); foot != "" {
		notes = append(notes, foot)
	}
	notes = append(notes, b.advice(res, text)...)
	notes = append(notes, b.refusals(profile, dir, res, text)...)
	notes = append(notes, b.hiddenCredentials(profile, line, res, text)...)
	if len(res.Leftovers) > 0 {
		notes = append(notes, b.stillRunning(res.Leftovers))
	}
	if len(notes) > 0 {
		text = strings.TrimRight(text, "\n") + "\n\n" + strings.Join(notes, "\n")
	}
	return tool.Result{Title: command, Output: text, Metadata: meta}
}

// outcome is the output, cut if it is long, with its metadata.
func (b *bash) outcome(res sandbox.Result, p *printed) (string, json.RawMessage) {
	cut := !p.text.fits()
	path := p.spool.finish(cut)
	text := p.text.text(func(lines, bytes int) string {
		return fmt.Sprintf("...%d lines, %s, left out here...\n%s", lines, size(int64(bytes)), b.whereRest(p, path))
	})
	exit := "null"
	if res.Exit >= 0 {
		exit = strconv.Itoa(res.Exit)
	}
	meta := lathe.AppendJSONString([]byte(`{"output":`), p.recent.text())
	meta = append(meta, `,"exit":`+exit+`,"truncated":`+strconv.FormatBool(cut)...)
	if path != "" {
		meta = lathe.AppendJSONString(append(meta, `,"outputPath":`...), path)
	}
	return text, append(meta, '}')
}

// whereRest says where to find what was left out.
func (b *bash) whereRest(p *printed, path string) string {
	switch s := &p.spool; {
	case path == "":
		return "They are lost: the output could not be saved to a file. Run a command that prints less."
	case s.stored < s.size:
		why := "more is not saved"
		if s.err != nil {
			why = "more could not be written"
		}
		return fmt.Sprintf("The first %s of %s are in %s; %s. Search it with grep, or let the command print less.", size(s.stored), size(s.size), path, why)
	}
	return b.Output.Hint(path)
}

// footer is how a command ended, where that is worth a line.
func footer(res sandbox.Result) string {
	const long = 5 * time.Second
	took := fmt.Sprintf(" · %.1f s", res.Took.Seconds())
	switch {
	case res.TimedOut || res.Canceled:
		return ""
	case res.Signal != "":
		return "ended by " + res.Signal + took
	case res.Exit != 0 || res.Took > long:
		return fmt.Sprintf("exit %d", res.Exit) + took
	}
	return ""
}

// notFoundName is the program a shell did not find, in the words of the usual shells.
var notFoundName = phrase.Regexp(`(?m)([^\s:]+): (?:command )?not found$|command not found: (\S+)$`)

// asking matches the end of an output that waits for input. A question that ends its line is a
// message.
var asking = phrase.Regexp(`(?i)(\[y/n\]|\(y/n\)|\(yes/no[^)]*\)|pass(word|phrase)[^:\n]*:)\s*$|\? ?$`)

// advice is a hint for the next command, from the way this one failed.
func (b *bash) advice(res sandbox.Result, text string) []string {
	var out []string
	if (res.Exit != 0 || res.TimedOut) && !res.Canceled {
		if i := strings.LastIndexByte(strings.TrimRight(text, "\n"), '\n'); asking().MatchString(text) {
			out = append(out, fmt.Sprintf("It seems to have waited for an answer to %q, but its input is closed: answer with a flag (-y, --yes) or a pipe (printf 'y\\n' | command).",
				phrase.Clip(strings.TrimSpace(text[i+1:]))))
		}
	}
	switch {
	case res.TimedOut || res.Canceled:
	case res.Exit == 127:
		out = append(out, b.notInstalled(text)...)
	case res.Exit == 126:
		out = append(out, "The file is there and cannot be executed: run it by its interpreter (sh file, python3 file), or make it executable with chmod +x.")
	case res.Exit == 137 || res.Signal == "SIGKILL":
		out = append(out, "It was killed from outside, most often because memory ran out: do less at once (fewer jobs, a smaller input).")
	}
	return out
}

// standIns are programs that do a similar thing, a family in each line: each stands in for the others.
//
//go:embed stand_ins.txt
var standIns string

// notInstalled names programs that are there instead of one that is not: the same of another
// version, and those that do a similar thing.
func (b *bash) notInstalled(text string) []string {
	m := notFoundName().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	name := filepath.Base(m[1] + m[2])
	var near []string
	for _, dir := range filepath.SplitList(environ.Variable(b.Env, "PATH")) {
		some, _ := target.Siblings(dir) // a PATH may name what is not there
		for _, n := range some {
			if behind, ok := strings.CutPrefix(n, name); ok && behind != "" && strings.Trim(behind, "-.0123456789") == "" {
				near = append(near, n)
			}
		}
	}
	slices.Sort(near)
	for line := range strings.Lines(standIns) {
		family := strings.Fields(line)
		for _, n := range family {
			if n != name && slices.Contains(family, name) && environ.Find(b.Env, "", n) != "" && !slices.Contains(near, n) {
				near = append(near, n)
			}
		}
	}
	out := "Program not found on PATH: " + phrase.Clip(name) + "."
	if near = slices.Compact(near); len(near) > 0 {
		out += " There is: " + strings.Join(near[:min(len(near), 3)], ", ") + "."
	}
	for _, manager := range []string{"apt-get", "dnf", "apk", "pacman", "zypper", "brew", "nix", "winget"} {
		if environ.Find(b.Env, "", manager) != "" {
			out += " " + manager + " is there to install programs, if the user wants that."
			break
		}
	}
	return []string{out}
}

// stillRunning names what a command left in the background.
func (b *bash) stillRunning(rest []sandbox.Process) string {
	var out strings.Builder
	out.WriteString("Still running in the background")
	if b.Leftovers == sandbox.KeepLeftovers {
		out.WriteString(" (until this program ends)")
	}
	out.WriteString(":")
	slices.SortStableFunc(rest, func(p, q sandbox.Process) int { return p.Job - q.Job })
	for i, p := range rest {
		out.WriteString("\n" + jobLine(p, i == 0 || rest[i-1].Job != p.Job))
	}
	return out.String()
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}
