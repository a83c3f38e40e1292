package tui

import (
	"context"
	"os/exec"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/report"
	"github.com/lathe-agent/lathe/tui/toast"
)

// reports shows what lathe tells about itself: context, cost, config, health and instruction files.
type reports struct {
	*services
	drafts   *drafts
	overlays *overlays
	added    *api.MemoryEdit // the last line that was remembered in this run
}

// showReport opens a dialog with the rows of a report.
func (r *reports) showReport(title string, rows func(width int) []report.Row) (*dialog.Text, tea.Cmd) {
	box := dialog.NewReport(r.keys, title, rows)
	return box, r.overlays.show(&overlay{box: box, onResult: func(dialog.Result) tea.Cmd { return nil }})
}

// ofSession is an action that shows a report about the session on the screen.
func ofSession[T any](r *reports, title string, load func(Engine, context.Context, lathe.SessionID) (T, error), render func(T, int) []report.Row) func() tea.Cmd {
	return func() tea.Cmd {
		id := r.state.Current
		return r.call("show the "+strings.ToLower(title), func(ctx context.Context, e Engine) (then, error) {
			got, err := load(e, ctx, id)
			return onSuccess(err, func() tea.Cmd {
				_, cmd := r.showReport(title, func(width int) []report.Row { return render(got, width) })
				return cmd
			})
		})
	}
}

// doctor runs the health checks at the same time. Their results appear as they arrive.
func (r *reports) doctor() tea.Cmd {
	dir := r.dir()
	return r.call("list the health checks", func(ctx context.Context, e Engine) (then, error) {
		names, err := e.Checks(ctx, dir)
		return onSuccess(err, func() tea.Cmd {
			all := report.Terminal(r.variable, r.width, r.height)
			for _, name := range names {
				all = append(all, api.Check{Name: name})
			}
			box, cmd := r.showReport("Doctor", func(width int) []report.Row { return report.Checks(all, width) })
			cmds := []tea.Cmd{cmd}
			for i := len(all) - len(names); i < len(all); i++ {
				cmds = append(cmds, r.check(dir, &all[i], box))
			}
			return tea.Batch(cmds...)
		})
	})
}

// check runs one health check and shows its result. A check that cannot run has failed.
func (r *reports) check(dir string, to *api.Check, box *dialog.Text) tea.Cmd {
	name := to.Name
	return r.call("run a health check", func(ctx context.Context, e Engine) (then, error) {
		got, err := e.Check(ctx, dir, name)
		if err != nil {
			got = api.Check{Name: name, Status: api.CheckFail, Detail: errorText(err)}
		}
		return func() tea.Cmd { *to = got; box.Refresh(); return nil }, nil
	})
}

// variable reads a variable of the terminal's environment.
func (r *reports) variable(name string) string {
	for _, pair := range slices.Backward(r.o.Env) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// config lists the settings to change one.
func (r *reports) config(selected string) tea.Cmd {
	dir := r.dir()
	return r.call("read the config", func(ctx context.Context, e Engine) (then, error) {
		all, err := e.Settings(ctx, dir)
		return onSuccess(err, func() tea.Cmd {
			box := dialog.NewSettings(r.keys, all, selected)
			return r.overlays.show(&overlay{box: box, onResult: onChosen(func(c dialog.Chosen) tea.Cmd {
				i := slices.IndexFunc(all, func(s api.Setting) bool { return s.Key == c.ID })
				return r.editSetting(all[i])
			})})
		})
	})
}

// editSetting asks for the value of a setting. Lists and objects are edited in the file.
func (r *reports) editSetting(s api.Setting) tea.Cmd {
	back := func() tea.Cmd { return r.config(s.Key) }
	switch {
	case s.Type == "boolean" || s.Type == "choice":
		return r.overlays.show(&overlay{box: dialog.NewValues(r.keys, s), onClose: back, onResult: onChosen(func(c dialog.Chosen) tea.Cmd { return r.change(s, c.ID) })})
	case s.Secret || s.Type != "string" && s.Type != "integer" && s.Type != "number":
		return tea.Batch(back(), r.notify(toast.Info, "Edit "+s.Key+" in your config file; `lathe config path` prints its path"))
	}
	now := ""
	if len(s.Value) > 0 {
		now = report.Value(s)
	}
	box := dialog.NewInput(r.keys, dialog.InputOptions{Title: s.Key, Description: s.Help, Text: now, Placeholder: "default: " + s.Default})
	return r.overlays.show(&overlay{box: box, onClose: back, onResult: onEntered(func(text string) tea.Cmd { return r.change(s, text) })})
}

// change writes a setting to the user's config and says whether it counts.
func (r *reports) change(s api.Setting, text string) tea.Cmd {
	value, err := report.ParseValue(s, text)
	if err != nil {
		return tea.Batch(r.config(s.Key), r.notify(toast.Warning, s.Key+" takes a number"))
	}
	dir := r.dir()
	return r.call("change "+s.Key, func(ctx context.Context, e Engine) (then, error) {
		back := func() tea.Cmd { return r.config(s.Key) }
		if err := e.ChangeSetting(ctx, dir, s.Key, value); err != nil {
			return back, err
		}
		note := "Saved " + s.Key + " in your config"
		if strings.HasPrefix(s.Origin, "project") || strings.HasPrefix(s.Origin, "managed") {
			note = "Saved, but another file overrides it: " + s.Origin
		}
		return func() tea.Cmd { return tea.Batch(back(), r.notify(toast.Success, note)) }, nil
	})
}

// memory lists the instruction files to open one, or removes the last remembered line.
func (r *reports) memory(arguments string) tea.Cmd {
	switch arguments {
	case "undo":
		return r.forget()
	case "":
	default:
		return r.notify(toast.Info, "Usage: /memory, or /memory undo")
	}
	return r.pickMemory("Memory", func(api.MemoryFile) bool { return true }, r.openMemory)
}

// pickMemory lists the instruction files that fit. A single one is taken without a question if one is to be written.
func (r *reports) pickMemory(title string, fits func(api.MemoryFile) bool, do func(path string) tea.Cmd) tea.Cmd {
	dir := r.dir()
	return r.call("list the instruction files", func(ctx context.Context, e Engine) (then, error) {
		all, err := e.MemoryFiles(ctx, dir)
		all = slices.DeleteFunc(all, func(f api.MemoryFile) bool { return !fits(f) })
		return onSuccess(err, func() tea.Cmd {
			box := dialog.NewMemory(r.keys, title, all, r.state.Info.Home)
			return r.overlays.show(&overlay{box: box, onResult: onChosen(func(c dialog.Chosen) tea.Cmd { return do(c.ID) })})
		})
	})
}

// openMemory opens an instruction file in the user's editor.
func (r *reports) openMemory(path string) tea.Cmd {
	switch {
	case r.o.Remote:
		return r.notify(toast.Info, path+" is on the server; edit it there, or add lines with #")
	case len(r.o.Editor) == 0:
		return r.notify(toast.Info, "Set EDITOR or VISUAL to edit in your own editor")
	}
	cmd := exec.Command(r.o.Editor[0], append(slices.Clone(r.o.Editor[1:]), path)...)
	return tea.Exec(childTTY{cmd, r.o}, func(err error) tea.Msg { return answered{what: "open your editor", err: err} })
}

// remember adds the line of a prompt to an instruction file of the project, and asks which if there are several.
func (r *reports) remember(line string, d editor.Draft) tea.Cmd {
	if line == "" {
		return r.memory("")
	}
	dir := r.dir()
	isProject := func(f api.MemoryFile) bool { return f.Owner == "project" }
	return r.call("list the instruction files", func(ctx context.Context, e Engine) (then, error) {
		all, err := e.MemoryFiles(ctx, dir)
		if err != nil {
			return r.drafts.restoreOnError(d), err
		}
		if all = slices.DeleteFunc(all, func(f api.MemoryFile) bool { return !isProject(f) }); len(all) > 1 {
			ask := r.pickMemory("Add the line to", isProject, func(path string) tea.Cmd { return r.edit(api.MemoryEdit{File: path, Line: line}, d) })
			return func() tea.Cmd { return ask }, nil
		}
		return func() tea.Cmd { return r.edit(api.MemoryEdit{Line: line}, d) }, nil
	})
}

// edit writes a line to an instruction file, or removes it. If that fails, the prompt gets its text back.
func (r *reports) edit(m api.MemoryEdit, d editor.Draft) tea.Cmd {
	dir := r.dir()
	return r.call("write to the instruction file", func(ctx context.Context, e Engine) (then, error) {
		f, err := e.EditMemory(ctx, dir, m)
		if err != nil {
			return r.drafts.restoreOnError(d), err
		}
		return func() tea.Cmd {
			where := report.Tilde(f.Path, r.state.Info.Home)
			if r.added = nil; m.Remove {
				return r.notify(toast.Success, "Removed from "+where+": "+m.Line)
			}
			r.added = &api.MemoryEdit{File: f.Path, Line: m.Line, Remove: true}
			return r.notify(toast.Success, "Added to "+where+". /memory undo removes it")
		}, nil
	})
}

// forget removes the last remembered line.
func (r *reports) forget() tea.Cmd {
	if r.added == nil {
		return r.notify(toast.Info, "Nothing was added with # in this run")
	}
	return r.edit(*r.added, editor.Draft{})
}
