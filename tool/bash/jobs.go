package bash

import (
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

const jobScript = `_lathe_is() { read -r _lathe_s < /proc/$1/stat && case "${_lathe_s##*) } " in [ZX]*) false;; *" $2 "*) true;; *) false;; esac || return 1; } 2>/dev/null
_lathe_runs() { case $1 in
RUNS*) return 2;; esac; }
kill() {
[ "${!:-0}" = 0 ] || { OWN kill "$@"; return; }
_lathe_n=$# _lathe_e= _lathe_k=
while [ "$_lathe_n" -gt 0 ]; do
_lathe_n=$((_lathe_n-1)) _lathe_a=$1; shift; _lathe_c=$#
case $_lathe_a in
ADD%*) ;;
[0-9]*) _lathe_k=1; set -- "$@" "$_lathe_a";;
*) set -- "$@" "$_lathe_a";;
esac
case $_lathe_a in %*)
if [ $# -gt "$_lathe_c" ]; then _lathe_k=1; else _lathe_e=1; echo "kill: $_lathe_a: no such job, or it has ended, or it runs in another sandbox; see jobs" >&2; fi;;
esac
done
[ -n "$_lathe_k" ] || [ -z "$_lathe_e" ] || return 1
OWN kill "$@" && [ -z "$_lathe_e" ]
}
wait() {
case "${!:-0} $*" in "0 %"*) ;; *) OWN wait "$@"; return;; esac
for _lathe_a in "$@"; do
_lathe_runs "$_lathe_a" || [ $? = 1 ] || { echo "wait: $_lathe_a: no such job, or it has ended" >&2; return 127; }
while _lathe_runs "$_lathe_a"; do sleep 0.05; done
done
}
jobs() {
[ "${!:-0}" = 0 ] || { OWN jobs "$@"; return; }
case " $* " in *" -p "*) PIDS:;; *) LIST:;; esac
}
`

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
