package api

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// UntilSpec asks for turns until a command passes.
type UntilSpec struct {
	Command string
	Tries   int // how often the command may run; 0 is the default
}

// UntilRound is the result of one run of the command.
type UntilRound struct {
	Verdict string       // passed, again, no_progress or no_tries
	Command string       // of the run
	Run     int          // counts from 1
	Tries   int          // how often it may run
	Exit    int          // -1 if the command was ended
	Output  string       // its end, bounded
	Changed []string     // files that decide the result and were changed
	Prompt  []lathe.Part // of the next turn, if the verdict is again
}

// The verdicts of a round.
const (
	UntilPassed     = "passed"
	UntilAgain      = "again"
	UntilNoProgress = "no_progress"
	UntilNoTries    = "no_tries"
)

// Untils lets turns follow each other until a command of the user's passes. Only an engine in this process can do that.
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
