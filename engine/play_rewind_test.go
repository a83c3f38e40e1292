package engine_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing/synctest"

	"github.com/lathe-agent/lathe"
)

// actOnSteps does a line about steps: it lists them, rewinds, or forks.
func (p *playing) actOnSteps(w []string) bool {
	p.Helper()
	switch w[0] {
	case "steps":
		p.showSteps()
	case "rewind", "redo":
		in := lathe.Rewind{Redo: w[0] == "redo"}
		for _, word := range w[1:] {
			switch word {
			case "dry":
				in.DryRun = true
			case "code", "conversation":
				in.Scope = lathe.RewindScope(word)
			default:
				n, err := strconv.Atoi(word)
				p.ok(err)
				in.Step = n
			}
		}
		done, err := p.Rewind(p.Context(), p.session, in)
		p.showUndone(lathe.Undone{Files: done.Files}, err)
		if err == nil {
			p.shown.line(fmt.Sprintf("rewound to %d", done.Step))
		}
		for _, line := range strings.Split(strings.TrimSpace(p.files()), "\n") {
			p.shown.line("  " + line)
		}
	case "forkstep":
		n, err := strconv.Atoi(w[1])
		p.ok(err)
		s, err := p.ForkStep(p.Context(), "", p.session, n)
		synctest.Wait()
		p.note(err)
		if err == nil {
			page, err := p.Messages(p.Context(), s.ID, lathe.Position{}, 0)
			p.ok(err)
			p.shown.line(fmt.Sprintf("forked with %d messages", len(page.Messages)))
		}
	default:
		return false
	}
	return true
}

func (p *playing) showSteps() {
	p.Helper()
	synctest.Wait()
	list, err := p.Steps(p.Context(), p.session, lathe.StepQuery{})
	p.ok(err)
	p.shown.line(fmt.Sprintf("at step %d of %d", list.At, list.Total))
	for _, st := range list.Steps {
		words := []string{fmt.Sprintf("step %d %s", st.Number, st.Kind)}
		if st.Prompt != "" {
			words = append(words, "for "+strconv.Quote(st.Prompt))
		}
		for _, f := range st.Files {
			name, _ := filepath.Rel(p.dir, filepath.FromSlash(f))
			words = append(words, "file "+name)
		}
		for _, c := range st.Commands {
			words = append(words, strings.TrimSpace(fmt.Sprintf("command %q %s", c.Command, c.Tests)))
		}
		words = append(words, st.Tools...)
		if st.Text != "" {
			words = append(words, strconv.Quote(st.Text))
		}
		if st.Undone {
			words = append(words, "undone")
		}
		p.shown.line(strings.Join(words, " "))
	}
}
