package tui

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe/tui/toast"
)

// editText opens the user's editor on a text. done, if not nil, gets the edited text.
func (sv *services) editText(text string, done func(string)) tea.Cmd {
	if len(sv.o.Editor) == 0 {
		return sv.notify(toast.Info, "Set EDITOR or VISUAL to edit in your own editor")
	}
	if _, err := exec.LookPath(sv.o.Editor[0]); err != nil {
		return sv.notify(toast.Warning, "Editor not found: "+sv.o.Editor[0]+". Set EDITOR or VISUAL to the command of your editor")
	}
	f, err := os.CreateTemp("", "lathe-*.md")
	if err != nil {
		return sv.notify(toast.Error, errorText(err))
	}
	path := f.Name()
	_, err = f.WriteString(text)
	if err = cmp.Or(err, f.Close()); err != nil {
		return sv.notify(toast.Error, errorText(err))
	}
	cmd := exec.Command(sv.o.Editor[0], append(slices.Clone(sv.o.Editor[1:]), path)...)
	return tea.Exec(childTTY{cmd, sv.o}, func(err error) tea.Msg {
		text, readErr := os.ReadFile(path)
		_ = os.Remove(path) // a leftover in the temporary directory is harmless
		return answered{what: "open your editor", err: cmp.Or(err, readErr), then: func() tea.Cmd {
			if err == nil && readErr == nil && done != nil {
				done(string(text))
			}
			return nil
		}}
	})
}

// childTTY is a command that owns the terminal while it runs. It writes to our file, since the writer of the library is none.
type childTTY struct {
	*exec.Cmd
	o Options
}

func (c childTTY) SetStdin(r io.Reader) { c.Stdin = r }

func (c childTTY) SetStdout(w io.Writer) {
	if c.Stdout = w; c.o.Out != nil {
		c.Stdout = c.o.Out
	}
}

func (c childTTY) SetStderr(w io.Writer) { c.Stderr = w }

// Run runs it to its end.
func (c childTTY) Run() error {
	if c.o.ReleaseTTY != nil {
		defer c.o.ReleaseTTY()()
	}
	return c.Cmd.Run()
}
