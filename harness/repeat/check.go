package repeat

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/until"
	"github.com/lathe-agent/lathe/tool/shell"
)

// Locked are the files that decide the result of a command. They are protected until Release.
type Locked struct {
	spec    until.Spec
	Release func()
}

// Lock protects the files that a command names in a directory, as a run of --until does. The files of a command that only
// looks at them, such as grep, are the result of the work and not protected.
func (u Runs) Lock(command, dir string) *Locked {
	s := until.Spec{Command: strings.TrimSpace(command)}
	if !onlyLooks(s.Command, dir) {
		s.Files = readDeciding(until.DecidingFiles(s.Command, dir, isRegular))
	}
	return &Locked{spec: s, Release: u.protect(s)}
}

// onlyLooks reports whether a command runs only programs that look at files and neither run them nor compare them with
// each other: the other side of a comparison decides.
func onlyLooks(command, dir string) bool {
	plan := shell.Analyze(command, shell.Environment{Dir: dir})
	if plan.Unparsed != "" || len(plan.Commands) == 0 || len(plan.Functions)+len(plan.Aliases) > 0 {
		return false
	}
	for _, e := range plan.Extra {
		if e.Kind != shell.Reads {
			return false
		}
	}
	for _, c := range plan.Commands {
		name, _, _ := strings.Cut(c.Text, " ")
		switch {
		case c.Opaque != "":
			return false
		case !slices.Contains([]string{"grep", "egrep", "fgrep", "test", "[", "cat", "wc", "head", "tail", "jq", "ls", "stat", "cut", "tr", "true", "false"}, name):
			return false
		}
	}
	return true
}

// Changed lists the files that are not as they were, by absolute paths. Those below replaced do not count: the caller
// replaces them.
func (l *Locked) Changed(u Runs, replaced []string) (out []string) {
	for _, path := range changedOf(l.spec.Files) {
		isReplaced := false
		for _, r := range replaced {
			isReplaced = isReplaced || path == r || strings.HasPrefix(path, r+string(filepath.Separator))
		}
		if !isReplaced {
			out = append(out, path)
		}
	}
	return out
}

// RunOnce runs a command in the sandbox of a session, without a trace in its history. One that does not end in time has
// the exit code -1.
func (u Runs) RunOnce(ctx context.Context, s lathe.Session, command string, most time.Duration) (exit int, output string, err error) {
	at, err := u.Engine.Locate(ctx, s.Directory)
	if err != nil {
		return 0, "", err
	}
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	exit, output, err = u.run(limited, s, at, command)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return -1, "It did not end within " + most.String() + ".", nil
	}
	return exit, output, err
}
