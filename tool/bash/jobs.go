package bash

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
)

// Every call is a new shell, which knows no jobs of earlier ones. A line that may ask for them gets
// functions that do: kill, wait and jobs. They stand before the line and not in what rules judge.
//
// A line that has started a background process of its own means its own jobs, and sees no others:
// "server & test; kill %1" must never end the server of an earlier call.

// jobsVariable brings the functions into the shell: in the line itself they would be in its messages.
const (
	jobsVariable = "LATHE_JOBS"
	jobsPrelude  = `eval "$` + jobsVariable + `"; unset ` + jobsVariable + `; `
)

// mostJobs is how many the functions know, the newest: a variable has a limit of 128 KB.
const mostJobs = 20

// asksForJobs is a line that may. What it takes in vain costs some microseconds.
var asksForJobs = phrase.Regexp(`(?s)\b(kill|wait)\b.*%|\bjobs\b`)

// withJobs returns a line and its environment such that it reaches the jobs of earlier calls.
func (b *bash) withJobs(owner, line string, env []string) (string, []string) {
	if !b.shell().posix() || !asksForJobs().MatchString(line) {
		return line, env
	}
	jobs := b.Runner.Jobs(owner)
	if len(jobs) == 0 {
		return line, env
	}
	own := "command" // the shell's own kill, past the function
	if b.shell().kind == "bash" || b.shell().kind == "zsh" {
		own = "builtin"
	}
	return jobsPrelude + line, append(slices.Clip(env), jobsVariable+"="+jobFunctions(own, jobs[max(0, len(jobs)-mostJobs):]))
}

// jobFunctions are those functions, in the grammar that bash, dash, ash and zsh share. Numbers of
// processes are used again, so a process counts only while it has the same time of start.
func jobFunctions(own string, jobs []sandbox.Job) string {
	var add, list, pids, runs strings.Builder
	for i, j := range jobs {
		names := fmt.Sprintf("%%%d", j.Number)
		switch i {
		case len(jobs) - 1:
			names += "|%|%%|%+"
		case len(jobs) - 2:
			names += "|%-"
		}
		fmt.Fprintf(&add, "%s) ", names)
		fmt.Fprintf(&runs, "%s) ", names)
		for k, p := range j.Processes {
			is := fmt.Sprintf("_lathe_is %d %d", p.PID, p.Start)
			fmt.Fprintf(&add, `%s && set -- "$@" %d; `, is, p.PID)
			fmt.Fprintf(&list, "%s && printf '%%s\\n' %s; ", is, shellQuoted(jobLine(p, k == 0)))
			fmt.Fprintf(&pids, "%s && echo %d; ", is, p.PID)
			if k > 0 {
				runs.WriteString("|| ")
			}
			runs.WriteString(is + " ")
		}
		add.WriteString(";;\n")
		runs.WriteString(";;\n")
	}
	return strings.NewReplacer("OWN", own, "ADD", add.String(), "LIST", list.String(), "PIDS", pids.String(), "RUNS", runs.String()).Replace(jobScript)
}

//go:embed jobs.sh
var jobScript string

// jobLine is how a process is shown, with the number of its job where it is the first of it.
func jobLine(p sandbox.Process, first bool) string {
	mark := ""
	switch {
	case p.Job > 0 && first:
		mark = fmt.Sprintf("[%d] ", p.Job)
	case p.Job > 0:
		mark = "    "
	}
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, phrase.Clip(p.Name))
	return fmt.Sprintf("%s%d %s", mark, p.PID, name)
}

func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
