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

// PrintPaged prints a text, through the user's pager or less if it is longer than the screen. Quitting the pager
// early is not an error.
func (a *App) PrintPaged(ctx context.Context, text string) error {
	program, ok := a.pager(strings.Count(text, "\n"))
	if !ok {
		_, err := io.WriteString(a.Out, text)
		return err
	}
	a.Flush()
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), a.Stdout.File, a.Stderr
	_ = cmd.Run() // the pager reports its own errors
	return nil
}

// pager returns the pager command, or false if the lines fit on the screen or there is no terminal.
func (a *App) pager(lines int) ([]string, bool) {
	if !IsTerminal(a.Stdin) || !IsTerminal(a.Stdout.File) || a.Env("TERM") == "dumb" {
		return nil, false
	}
	if _, height, err := term.GetSize(int(a.Stdout.File.Fd())); err != nil || height <= 0 || lines < height { // 0 is unknown
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

// ChooseSession lets the user choose one of the project's sessions. Without a terminal or a choice it returns "last".
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
