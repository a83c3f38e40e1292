package cli

import (
	"context"
	"io"
	"os/exec"
	"strings"

	"golang.org/x/term"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// PrintPaged prints a text that may be longer than the screen: there through the user's pager, or less,
// else as it is. Who ends the pager early has seen enough.
func (a *App) PrintPaged(ctx context.Context, text string) error {
	program, ok := a.pager(strings.Count(text, "\n"))
	if !ok {
		_, err := io.WriteString(a.Out, text)
		return err
	}
	a.Flush()
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), a.Stdout.File, a.Stderr
	_ = cmd.Run() // that it was left early, or fails, is between it and the user
	return nil
}

// pager is the program to read so many lines with; none where they fit, or nobody reads.
func (a *App) pager(lines int) ([]string, bool) {
	if !IsTerminal(a.Stdin) || !IsTerminal(a.Stdout.File) || a.Env("TERM") == "dumb" {
		return nil, false
	}
	if _, height, err := term.GetSize(int(a.Stdout.File.Fd())); err != nil || height <= 0 || lines < height { // 0 is that nobody knows
		return nil, false
	}
	words := strings.Fields(a.Env("PAGER"))
	if len(words) == 0 {
		words = []string{"less", "-R", "-S"}
	}
	if words[0] == "cat" {
		return nil, false
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, false
	}
	return append([]string{path}, words[1:]...), true
}

// ChooseSession lets a user on a terminal choose one of the project's sessions; "last" where nobody is
// there to choose, or there is no choice.
func ChooseSession(ctx context.Context, a *App, e api.Engine) (string, error) {
	if !IsTerminal(a.Stdin) || !IsTerminal(a.Stderr) {
		return Last, nil
	}
	q, err := a.ProjectQuery(ctx, e)
	if err != nil {
		return "", err
	}
	q.Limit = 200
	all, err := e.List(ctx, q)
	if err != nil || len(all) < 2 {
		return Last, err
	}
	var choices []Choice
	for _, s := range all {
		choices = append(choices, Choice{string(s.ID), sessionLine(s)})
	}
	c, err := a.Choose(ctx, "Session", choices)
	return c.ID, err
}

func sessionLine(s lathe.Session) string {
	return s.Title + ", " + s.Updated.Std().Format("2 Jan 15:04")
}
