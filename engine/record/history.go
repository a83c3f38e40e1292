package record

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// PageSize is how many messages of a history are in memory at a time.
const PageSize = 100

// Histories are the messages of sessions.
type Histories struct{ Store *store.Store }

// Search finds places in the sessions of all projects, newest first.
func (r Histories) Search(ctx context.Context, q lathe.SearchQuery) (lathe.SearchResult, error) {
	return store.Search(ctx, r.Store, q)
}

// Export writes a session as JSON with two spaces an indent, page by page. change, if
// given, is applied to the record and to each message on its way out.
func (r Histories) Export(ctx context.Context, id lathe.SessionID, to io.Writer, change func(*lathe.Session, *lathe.Message)) error {
	s, err := r.Store.Session(ctx, id)
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
	err = r.Each(ctx, id, func(m lathe.Message) error {
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

// Each calls f with the messages of a session, oldest first, a page in memory at
// a time. What is written meanwhile may or may not be among them, but none comes twice and
// none that stays is left out: a page is all that lies between two places, however many
// that are by now.
func (r Histories) Each(ctx context.Context, id lathe.SessionID, f func(lathe.Message) error) error {
	starts, err := r.pages(ctx, id)
	if err != nil {
		return err
	}
	seen := map[lathe.MessageID]bool{} // a prompt that waited moves to the end
	for i := len(starts) - 1; i >= 0; i-- {
		var from, before lathe.Position // of the oldest page and the newest there is no bound
		if from = starts[i]; i > 0 {
			before = starts[i-1]
		}
		page, err := r.between(ctx, id, from, before)
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
func (r Histories) pages(ctx context.Context, id lathe.SessionID) ([]lathe.Position, error) {
	var starts []lathe.Position
	for at := (lathe.Position{}); ; {
		page, err := r.Store.History(ctx, id, at, PageSize)
		if err != nil || !page.More {
			return append(starts, lathe.Position{}), err
		}
		at = page.Next
		starts = append(starts, at)
	}
}

// between reads the messages from one place on and before another, oldest first.
func (r Histories) between(ctx context.Context, id lathe.SessionID, from, before lathe.Position) ([]lathe.Message, error) {
	var out []lathe.Message
	for {
		page, err := r.Store.History(ctx, id, before, PageSize)
		if err != nil {
			return nil, err
		}
		n, whole := 0, false
		if !from.IsZero() {
			n, whole = slices.BinarySearchFunc(page.Messages, from, func(m lathe.Message, at lathe.Position) int {
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

// Messages returns the newest messages older than before, at most limit, oldest first. A
// limit of 0 has no limit.
func (r Histories) Messages(ctx context.Context, id lathe.SessionID, before lathe.Position, limit int) (lathe.Page, error) {
	return r.Store.History(ctx, id, before, limit)
}

// Message returns one message with its parts.
func (r Histories) Message(ctx context.Context, session lathe.SessionID, id lathe.MessageID) (lathe.Message, error) {
	return r.Store.Message(ctx, session, id)
}

// Todos returns the list of a session.
func (r Histories) Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error) {
	return r.Store.Todos(ctx, id)
}

// Diff returns what a session has changed, or one of its exchanges, named by its prompt.
func (r Histories) Diff(ctx context.Context, id lathe.SessionID, prompt lathe.MessageID) ([]lathe.FileDiff, error) {
	if prompt == "" {
		return r.Store.Diff(ctx, id)
	}
	m, err := r.Store.Message(ctx, id, prompt)
	if err != nil {
		return nil, err
	}
	if u, ok := m.Data.(*lathe.User); ok && u.Summary != nil && u.Summary.Diffs != nil {
		return u.Summary.Diffs, nil
	}
	return []lathe.FileDiff{}, nil
}
