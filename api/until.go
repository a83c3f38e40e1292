package api

import (
	"context"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
)

// UntilSpec asks for turns until a command passes.
type UntilSpec struct {
	Command string
	Tries   int // how often the command may run; 0 is the default
}

// UntilRound is the result of one run of the command.
type UntilRound struct {
	Verdict string       `json:"verdict" enum:"passed,again,no_progress,no_tries"`
	Command string       `json:"command"` // of the run
	Run     int          `json:"run" doc:"counts from 1"`
	Tries   int          `json:"tries" doc:"how often the command may run"`
	Exit    int          `json:"exit" doc:"exit code; -1 if the command was ended"`
	Output  string       `json:"output" doc:"the end of the output"`
	Changed []string     `json:"changed,omitempty" doc:"files that decide the result and were changed"`
	Scripts []string     `json:"scripts,omitempty" doc:"scripts that those files name and that were changed; the result counts nevertheless"`
	Prompt  []lathe.Part `json:"prompt,omitempty" doc:"of the next turn, if the verdict is again"`
}

// The verdicts of a round.
const (
	UntilPassed     = "passed"
	UntilAgain      = "again"
	UntilNoProgress = "no_progress"
	UntilNoTries    = "no_tries"
)

// Outcome is the end of a run in a sentence.
func (r UntilRound) Outcome() string {
	switch r.Verdict {
	case UntilPassed:
		text := fmt.Sprintf("Check passed (run %d of %d): %s", r.Run, r.Tries, r.Command)
		if len(r.Scripts) > 0 {
			text += "; changed meanwhile: " + strings.Join(r.Scripts, ", ")
		}
		return text
	case UntilNoProgress:
		return "No progress: " + r.Command + " failed three times for the same reason"
	default:
		return fmt.Sprintf("%s failed %d times; no tries are left", r.Command, r.Run)
	}
}

// Untils lets turns follow each other until a command of the user's passes.
type Untils interface {
	// BeginUntil marks a prompt as the beginning, and protects the files that decide the result until release is
	// called.
	BeginUntil(ctx context.Context, dir string, spec UntilSpec, p *lathe.Prompt) (release func(), err error)
	// ResumeUntil protects the files of the run that the newest prompt of a session belongs to. It is NotFound
	// without one.
	ResumeUntil(ctx context.Context, id lathe.SessionID) (release func(), err error)
	// CheckUntil runs the command of a session, in the sandbox, and decides what follows.
	CheckUntil(ctx context.Context, id lathe.SessionID) (UntilRound, error)
	// RunUntil sends a prompt and further ones until the command passes or no progress is made. It ends with the
	// first turn that fails. report gets each round.
	RunUntil(ctx context.Context, id lathe.SessionID, spec UntilSpec, p lathe.Prompt, report func(UntilRound)) (UntilRound, error)
}

// Run is [Untils.RunUntil] for any engine.
func (spec UntilSpec) Run(ctx context.Context, e Engine, u Untils, id lathe.SessionID, p lathe.Prompt, report func(UntilRound)) (UntilRound, error) {
	rec, err := e.Get(ctx, id)
	if err != nil {
		return UntilRound{}, err
	}
	release, err := u.BeginUntil(ctx, rec.Directory, spec, &p)
	if err != nil {
		return UntilRound{}, err
	}
	defer release()
	for {
		m, err := e.Prompt(ctx, id, p)
		if err != nil {
			return UntilRound{}, err
		}
		if a, ok := m.Data.(*lathe.Assistant); ok && a.Error != nil {
			return UntilRound{}, lathe.Errorf(lathe.Canceled, "the turn ended before the command passed: %s", lathe.FaultMessage(a.Error))
		}
		r, err := u.CheckUntil(ctx, id)
		if err != nil {
			return r, err
		}
		if report(r); r.Verdict != UntilAgain {
			return r, nil
		}
		p = lathe.Prompt{Agent: p.Agent, Model: p.Model, Variant: p.Variant, Delivery: lathe.Queue, Parts: r.Prompt}
	}
}
