package engine

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/lathe-agent/lathe"
)

// exportPage is how many messages are in memory at a time.
const exportPage = 100

// Export writes a session as JSON with two spaces an indent, page by page. change, if
// given, is applied to the record and to each message on its way out.
func (e *Engine) Export(ctx context.Context, id lathe.SessionID, to io.Writer, change func(*lathe.Session, *lathe.Message)) error {
	s, err := e.store.Session(ctx, id)
	if err != nil {
		return err
	}
	if change == nil {
		change = func(*lathe.Session, *lathe.Message) {}
	}
	change(&s, nil)
	w := bufio.NewWriterSize(to, 64<<10)
	if _, err := w.WriteString("{\n  \"info\": "); err != nil {
		return err
	}
	if err := lathe.WriteIndented(w, s.AppendJSON(nil), "  "); err != nil {
		return err
	}
	_, _ = w.WriteString(",\n  \"messages\": [") // an error stays with the writer until Flush
	sep := "\n    "
	err = e.eachMessage(ctx, id, func(m lathe.Message) error {
		change(nil, &m)
		_, _ = w.WriteString(sep)
		sep = ",\n    "
		return lathe.WriteIndented(w, m.AppendJSON(nil), "    ")
	})
	if err != nil {
		return err
	}
	end := "\n  ]\n}\n"
	if sep == "\n    " {
		end = "]\n}\n"
	}
	_, _ = w.WriteString(end)
	return w.Flush()
}

// eachMessage calls f with the messages of a session, oldest first, a page in memory at
// a time. What is written meanwhile may or may not be among them, but none comes twice and
// none that stays is left out: a page is all that lies between two places, however many
// that are by now.
func (e *Engine) eachMessage(ctx context.Context, id lathe.SessionID, f func(lathe.Message) error) error {
	starts, err := e.pages(ctx, id)
	if err != nil {
		return err
	}
	seen := map[lathe.MessageID]bool{} // a prompt that waited moves to the end
	for i := len(starts) - 1; i >= 0; i-- {
		var from, before lathe.Place // of the oldest page and the newest there is no bound
		if from = starts[i]; i > 0 {
			before = starts[i-1]
		}
		page, err := e.between(ctx, id, from, before)
		if err != nil {
			return err
		}
		for _, m := range page {
			if seen[m.ID] {
				continue
			}
			seen[m.ID] = true
			if err := f(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// pages returns the place of the oldest message of each page of a history, newest page
// first; of the last one it is the beginning.
func (e *Engine) pages(ctx context.Context, id lathe.SessionID) ([]lathe.Place, error) {
	var starts []lathe.Place
	for at := (lathe.Place{}); ; {
		page, err := e.store.History(ctx, id, at, exportPage)
		if err != nil || !page.More {
			return append(starts, lathe.Place{}), err
		}
		at = page.Next
		starts = append(starts, at)
	}
}

// between reads the messages from one place on and before another, oldest first.
func (e *Engine) between(ctx context.Context, id lathe.SessionID, from, before lathe.Place) ([]lathe.Message, error) {
	var out []lathe.Message
	for {
		page, err := e.store.History(ctx, id, before, exportPage)
		if err != nil {
			return nil, err
		}
		n, whole := 0, false
		if !from.IsZero() {
			n, whole = slices.BinarySearchFunc(page.Messages, from, func(m lathe.Message, at lathe.Place) int {
				return cmp.Or(cmp.Compare(m.Created, at.Time), cmp.Compare(string(m.ID), at.ID))
			})
		}
		out = slices.Concat(page.Messages[n:], out)
		if whole || n > 0 || !page.More {
			return out, nil
		}
		before = page.Next
	}
}

// Import takes a session from elsewhere into a directory, whole or not at all. Ids and
// times stay as they are.
func (e *Engine) Import(ctx context.Context, dir string, x lathe.Export) (lathe.Session, error) {
	inst, err := e.Instance(ctx, dir)
	if err != nil {
		return lathe.Session{}, err
	}
	s := x.Info
	path := inst.Place.Path
	s.Project, s.Directory, s.Path = inst.Place.ProjectID, inst.Place.Directory, &path
	if s.Slug == "" {
		s.Slug = slug(e.ids)
	}
	if s.Title == "" {
		s.Title = lathe.DefaultTitle(s.Parent != "", s.Created)
	}
	if err := e.store.Import(ctx, s, x.Messages); err != nil {
		return lathe.Session{}, err
	}
	return e.store.Session(ctx, s.ID)
}
