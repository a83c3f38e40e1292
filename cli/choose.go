package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// Choice is one entry of a list that the user chooses from.
type Choice struct{ ID, Name string }

// maxChoices is the number of entries listed at once.
const maxChoices = 12

// Ask prints a question to standard error without a newline.
func (a *App) Ask(format string, args ...any) { _, _ = fmt.Fprintf(a.Stderr, format, args...) }

// Choose lets the user choose by number, by name, or by part of a name.
func (a *App) Choose(ctx context.Context, title string, all []Choice) (Choice, error) {
	listed := all
	for {
		a.Notify("%s:", title)
		for i, c := range listed[:min(len(listed), maxChoices)] {
			line := fmt.Sprintf("  %2d  %s", i+1, termtext.Plain(c.Name))
			if c.Name != c.ID && len(all) > 2 {
				line += " (" + termtext.Plain(c.ID) + ")"
			}
			a.Notify("%s", line)
		}
		if more := len(listed) - maxChoices; more > 0 {
			a.Notify("      and %d more: type part of a name", more)
		}
		a.Ask("Number or name: ")
		line, err := a.ReadLine(ctx)
		if err != nil {
			return Choice{}, err
		}
		found, sure := Match(line, listed, all)
		switch {
		case len(found) == 1 && sure:
			return found[0], nil
		case len(found) > 0:
			listed = found
		default:
			a.Notify("No match for %s.", termtext.Quote(line))
			listed = all
		}
	}
}

// ChooseName lets the user choose one of several names.
func (a *App) ChooseName(ctx context.Context, title string, names []string) (string, error) {
	var choices []Choice
	for _, n := range names {
		choices = append(choices, Choice{ID: n, Name: n})
	}
	c, err := a.Choose(ctx, title, choices)
	return c.ID, err
}

// Match finds the choices for a line: a number of the listed choices, or else a name in all. It is not sure of names
// that are only similar.
func Match(line string, listed, all []Choice) (found []Choice, sure bool) {
	if line == "" {
		return nil, false
	}
	if n, err := strconv.Atoi(line); err == nil {
		if n >= 1 && n <= min(len(listed), maxChoices) {
			return listed[n-1 : n], true
		}
		return nil, false
	}
	var exact, part []Choice
	var ids []string
	low := strings.ToLower(line)
	for _, c := range all {
		ids = append(ids, c.ID)
		id, name := strings.ToLower(c.ID), strings.ToLower(c.Name)
		if id == low || name == low {
			exact = append(exact, c)
		}
		if strings.Contains(id, low) || strings.Contains(name, low) {
			part = append(part, c)
		}
	}
	switch {
	case len(exact) == 1:
		return exact, true
	case len(part) > 0:
		return part, true
	}
	for _, id := range phrase.Similar(line, ids) {
		for _, c := range all {
			if c.ID == id {
				found = append(found, c)
			}
		}
	}
	return found, false
}

// ReadLine reads one line byte by byte, so that later input stays for other readers. At the end of the input it
// returns an error.
func (a *App) ReadLine(ctx context.Context) (string, error) {
	line, err := ReadOrCancel(ctx, func() ([]byte, error) {
		var line []byte
		for b := make([]byte, 1); ; {
			n, err := a.Stdin.Read(b)
			switch {
			case n == 1 && b[0] == '\n':
				return line, nil
			case n == 1 && len(line) < 64<<10:
				line = append(line, b[0])
			case err != nil:
				return line, err
			}
		}
	})
	if errors.Is(err, io.EOF) {
		if len(line) == 0 {
			return "", lathe.Errorf(lathe.Canceled, "no choice made")
		}
		err = nil
	}
	return strings.TrimSpace(string(line)), err
}

// AppendStdin appends piped input to a text. It returns "" for only whitespace.
func (a *App) AppendStdin(ctx context.Context, text string) (string, error) {
	const most = 64 << 20
	info, err := a.Stdin.Stat()
	isPipe := err == nil && (info.Mode()&fs.ModeNamedPipe != 0 || info.Mode().IsRegular())
	if isPipe || text == "" && !IsTerminal(a.Stdin) {
		piped, err := ReadOrCancel(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.Stdin, most+1)) })
		switch {
		case err != nil:
			return "", fmt.Errorf("read the prompt: %w", err)
		case len(piped) > most:
			return "", lathe.Errorf(lathe.Invalid, "the prompt is larger than %s", termtext.ByteSize(most))
		case text != "" && len(piped) > 0:
			text += "\n"
		}
		text += string(piped)
	}
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	return strings.ToValidUTF8(text, "\uFFFD"), nil
}
