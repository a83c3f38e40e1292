package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/review"
)

// reviewer shows file changes full screen.
type reviewer struct {
	*services
	look *look
	view *review.Review // nil when it is closed
	from source
	file string // the file to open first
}

// source selects the changes to review.
type source int

const (
	fromSession source = iota // all changes of the session
	fromLast                  // changes of the last exchange
	fromTree                  // uncommitted changes
	fromBranch                // changes of the branch
	sources
)

func (s source) name() string {
	return [...]string{"this session", "last prompt", "uncommitted", "this branch"}[s]
}

// open shows the changes of the session if there are any, else the uncommitted ones.
func (rv *reviewer) open() tea.Cmd {
	from := fromTree
	if o := rv.state.Shown(); o != nil && len(o.Transcript.Diff()) > 0 {
		from = fromSession
	}
	return rv.start(from, "")
}

// start shows changes from a source, at a file if one is given.
func (rv *reviewer) start(from source, file string) tea.Cmd {
	rv.from, rv.file = from, file
	rv.view = review.New(review.Options{Keys: rv.keys, Split: !rv.look.show.Stacked, Wrap: !rv.look.show.CutDiff})
	return rv.read()
}

// handle processes the result of the viewer.
func (rv *reviewer) handle(out review.Result) tea.Cmd {
	switch out {
	case review.Close:
		rv.view = nil
	case review.SwitchSource:
		rv.from = (rv.from + 1) % sources
		if rv.state.Current == "" && rv.from < fromTree {
			rv.from = fromTree
		}
		return rv.read()
	case review.Handled, review.NotHandled:
	}
	return nil
}

// read loads the changes for the viewer.
func (rv *reviewer) read() tea.Cmd {
	r, from, id := rv.view, rv.from, rv.state.Current
	r.Loading(from.name())
	var last lathe.MessageID
	if all := rv.state.Prompts(); len(all) > 0 {
		last = all[len(all)-1].ID
	}
	return rv.call("read the changes", func(ctx context.Context, e Engine) (then, error) {
		var files []lathe.FileDiff
		var err error
		switch from {
		case fromSession:
			files, err = e.Diff(ctx, id, "")
		case fromLast:
			files, err = e.Diff(ctx, id, last)
		case fromBranch:
			files, err = e.Changes(ctx, rv.dir(), api.SinceBranch)
		default:
			files, err = e.Changes(ctx, rv.dir(), api.Uncommitted)
		}
		return func() tea.Cmd {
			switch {
			case rv.view != r || rv.from != from: // outdated
			case err != nil:
				r.Fail(from.name(), errorText(err))
			case len(files) == 0 && from >= fromTree && rv.state.Info.Branch == "":
				r.Fail(from.name(), "Nothing to compare with: not a git repository, or no branch checked out.")
			default:
				r.Set(from.name(), files)
				r.Open(rv.file)
				rv.file = ""
			}
			return nil
		}, nil
	})
}
