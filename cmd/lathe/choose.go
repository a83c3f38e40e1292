package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
)

// choice is one of several things a user can choose.
type choice struct{ id, name string }

// mostChoices is how many are listed at once.
const mostChoices = 12

// ask prints a question on standard error and stays on its line.
func (a *app) ask(format string, args ...any) { _, _ = fmt.Fprintf(a.stderr, format, args...) }

// choose lets a user choose by number, by name, or by a part of it.
func (a *app) choose(ctx context.Context, title string, all []choice) (choice, error) {
	listed := all
	for {
		a.Remark("%s:", title)
		for i, c := range listed[:min(len(listed), mostChoices)] {
			line := fmt.Sprintf("  %2d  %s", i+1, termtext.Plain(c.name))
			if c.name != c.id && len(all) > 2 {
				line += " (" + termtext.Plain(c.id) + ")"
			}
			a.Remark("%s", line)
		}
		if more := len(listed) - mostChoices; more > 0 {
			a.Remark("      and %d more: type a part of the name", more)
		}
		a.ask("Number or name: ")
		line, err := a.readLine(ctx)
		if err != nil {
			return choice{}, err
		}
		found, sure := match(line, listed, all)
		switch {
		case len(found) == 1 && sure:
			return found[0], nil
		case len(found) > 0:
			listed = found
		default:
			a.Remark("There is no %s.", termtext.Quote(line))
			listed = all
		}
	}
}

// match finds what a user may mean by a line: a number of the list shown, else names of all.
// It is not sure of names that are only like it.
func match(line string, listed, all []choice) (found []choice, sure bool) {
	if line == "" {
		return nil, false
	}
	if n, err := strconv.Atoi(line); err == nil {
		if n >= 1 && n <= min(len(listed), mostChoices) {
			return listed[n-1 : n], true
		}
		return nil, false
	}
	var exact, part []choice
	var ids []string
	low := strings.ToLower(line)
	for _, c := range all {
		ids = append(ids, c.id)
		id, name := strings.ToLower(c.id), strings.ToLower(c.name)
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
	for _, id := range catalog.Similar(line, ids) {
		for _, c := range all {
			if c.id == id {
				found = append(found, c)
			}
		}
	}
	return found, false
}

// readLine reads what a user types, without reading on: what comes behind is for others. At the
// end of the input there is nobody to ask.
func (a *app) readLine(ctx context.Context) (string, error) {
	line, err := reading(ctx, func() ([]byte, error) {
		var line []byte
		for b := make([]byte, 1); ; {
			n, err := a.stdin.Read(b)
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
			return "", lathe.Errorf(lathe.Canceled, "nothing was chosen")
		}
		err = nil
	}
	return strings.TrimSpace(string(line)), err
}
