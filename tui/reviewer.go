package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/review"
)

// reviewer shows changes of files over the whole screen.
type reviewer struct {
	*services
	look *look
	view *review.Review // nil when it is closed
	from source
	file string // the file to begin with
}

// source is where changes that are reviewed come from.
type source int

const (
	fromSession source = iota // all that the session did
	fromLast                  // what the last exchange did
	fromTree                  // what is not committed
	fromBranch                // what the branch did
	sources
)

func (s source) name() string {
	return [...]string{"this session", "last prompt", "uncommitted", "this branch"}[s]
}

// open shows changes: those of the session if it made any, else those that are not committed.
func (rv *reviewer) open() tea.Cmd {
	from := fromTree
	if o := rv.state.Shown(); o != nil && len(o.Transcript.Diff()) > 0 {
		from = fromSession
	}
	return rv.start(from, "")
}

// start shows changes from a source, beginning with a file if one is given.
func (rv *reviewer) start(from source, file string) tea.Cmd {
	rv.from, rv.file = from, file
	rv.view = review.New(review.Options{Keys: rv.keys, Split: !rv.look.show.Stacked, Wrap: !rv.look.show.CutDiff})
	return rv.read()
}

// handle does what the viewer wants.
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

// read reads what the viewer is to show.
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
			case rv.view != r || rv.from != from: // another is wanted by now
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
