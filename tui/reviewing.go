package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/host"
	"github.com/lathe-agent/lathe/tui/review"
)

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
	return [...]string{"this session", "the last prompt", "not committed", "this branch"}[s]
}

// openReview shows changes: those of the session if it made any, else those that are not committed.
func (p *program) openReview() tea.Cmd {
	p.reviewing = fromTree
	if o := p.state.Shown(); o != nil && len(o.Transcript.Diff()) > 0 {
		p.reviewing = fromSession
	}
	p.newReview()
	return p.readChanges()
}

func (p *program) newReview() {
	p.review = review.New(review.Options{Keys: p.keys, Split: !p.wants.Stacked, Wrap: !p.wants.CutDiff})
}

// reviewFile shows what the session did to a file.
func (p *program) reviewFile(path string) tea.Cmd {
	p.reviewing = fromSession
	p.newReview()
	p.reviewAt = path
	return p.readChanges()
}

// reviewed does what the viewer wants.
func (p *program) reviewed(out review.Out) tea.Cmd {
	switch out {
	case review.Close:
		p.review = nil
	case review.SwitchSource:
		p.reviewing = (p.reviewing + 1) % sources
		if p.state.Current == "" && p.reviewing < fromTree {
			p.reviewing = fromTree
		}
		return p.readChanges()
	case review.Handled, review.NotHandled:
	}
	return nil
}

// readChanges reads what the viewer is to show.
func (p *program) readChanges() tea.Cmd {
	r, from, id := p.review, p.reviewing, p.state.Current
	r.Loading(from.name())
	var last lathe.MessageID
	if all := p.state.Prompts(); len(all) > 0 {
		last = all[len(all)-1].ID
	}
	return p.call("read the changes", func(ctx context.Context, e host.Engine) (then, error) {
		var files []lathe.FileDiff
		var err error
		switch from {
		case fromSession:
			files, err = e.Diff(ctx, id, "")
		case fromLast:
			files, err = e.Diff(ctx, id, last)
		case fromBranch:
			files, err = e.Changes(ctx, host.Branch)
		default:
			files, err = e.Changes(ctx, host.Uncommitted)
		}
		return func() tea.Cmd {
			switch {
			case p.review != r || p.reviewing != from: // another is wanted by now
			case err != nil:
				r.Fail(from.name(), words(err))
			case len(files) == 0 && from >= fromTree && p.state.Info.Branch == "":
				r.Fail(from.name(), "There is nothing to compare with: this is no git repository, or no branch of one.")
			default:
				r.Set(from.name(), files)
				r.Open(p.reviewAt)
				p.reviewAt = ""
			}
			return nil
		}, nil
	})
}
