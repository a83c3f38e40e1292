package acp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// runRewind lists the steps of a session, or rewinds to the one that is named. Editors have no dialog for it, so the words
// after the command choose.
func runRewind(ctx context.Context, l *loop, id lathe.SessionID, t *turn, args string) error {
	words := strings.Fields(args)
	if len(words) == 0 {
		list, err := l.backend.Steps(ctx, id, lathe.StepQuery{Limit: 30})
		if err != nil {
			return err
		}
		s, err := l.backend.Get(ctx, id)
		if err != nil {
			return err
		}
		return l.answer(ctx, id, t, stepsText(s.Directory, list))
	}
	in, err := parseRewind(words)
	if err != nil {
		return err
	}
	done, err := l.backend.Rewind(ctx, id, in)
	if err == nil && done.Problem != "" {
		err = lathe.Errorf(lathe.Unavailable, "%s", done.Problem)
	}
	return l.report(ctx, id, t, rewoundWords(in, done), lathe.Undone{Session: done.Session, Files: done.Files}, err)
}

// rewoundWords begin the report of a rewind.
func rewoundWords(in lathe.Rewind, done lathe.Rewound) string {
	switch {
	case in.Redo:
		return "Restored"
	case in.DryRun:
		return fmt.Sprintf("Would rewind to step %d", done.Step)
	}
	return fmt.Sprintf("Rewound to step %d", done.Step)
}

// parseRewind reads the words after the command. An unknown word is an error, because a guess would move files.
func parseRewind(words []string) (in lathe.Rewind, err error) {
	for i, w := range words {
		switch n, bad := strconv.Atoi(w); {
		case i == 0 && bad == nil && n >= 0:
			in.Step = n
		case i == 0 && w == "redo" && len(words) == 1:
			in.Redo = true
		case i > 0 && in.Scope == "" && (w == "code" || w == "conversation"):
			in.Scope = lathe.RewindScope(w)
		case i > 0 && (w == "dry-run" || w == "--dry-run"):
			in.DryRun = true
		default:
			return in, lathe.Errorf(lathe.Invalid, "/rewind does not know %s; write /rewind STEP, then code or conversation for only one of them, and dry-run to try it first. /rewind redo restores everything, /rewind alone lists the steps",
				termtext.Quote(w))
		}
	}
	return in, nil
}

// stepsText lists steps, newest last, as Markdown. Each step is one line of code, so that nothing in it acts as Markdown.
func stepsText(dir string, list lathe.StepList) string {
	if len(list.Steps) == 0 {
		return "This session has no steps yet."
	}
	var b strings.Builder
	for _, st := range list.Steps {
		mark := ""
		if st.Undone {
			mark = " (undone)"
		}
		fmt.Fprintf(&b, "- %d%s: `%s`\n", st.Number, mark, strings.ReplaceAll(termtext.Plain(st.Summary(dir)), "`", "'"))
	}
	fmt.Fprintf(&b, "\nThe conversation is at step %d of %d. `/rewind STEP` goes to the end of a step.", list.At, list.Total)
	return b.String()
}
