package store

import (
	"context"
	"fmt"
)

// Stats is the number of rows in the database and its size.
type Stats struct {
	Sessions, Messages, Parts, Projects int64
	Open, Tombstones                    int64 // parts that still grow; removal markers
	Counter, Floor                      int64
	Feed                                string
	Bytes, FreeBytes                    int64 // of the database file
	Blobs, BlobBytes                    int64 // large values in files
}

// Stats counts the rows of each table and the bytes on disk.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	st := Stats{Feed: s.feed}
	err := s.read(ctx, func(r Reader) error {
		for _, q := range []struct {
			sql string
			to  []*int64
		}{
			{`SELECT count(*) FROM session`, []*int64{&st.Sessions}},
			{`SELECT count(*) FROM message`, []*int64{&st.Messages}},
			{`SELECT count(*) FROM part`, []*int64{&st.Parts}},
			{`SELECT count(DISTINCT part) FROM tail`, []*int64{&st.Open}},
			{`SELECT count(*) FROM project`, []*int64{&st.Projects}},
			{`SELECT count(*) FROM tomb`, []*int64{&st.Tombstones}},
			{`SELECT counter, floor FROM feed`, []*int64{&st.Counter, &st.Floor}},
			{`SELECT count(*), coalesce(sum(size), 0) FROM blob WHERE unused >= 0`, []*int64{&st.Blobs, &st.BlobBytes}},
		} {
			err := r.Query(q.sql, nil, func(row Row) error {
				for i, to := range q.to {
					*to = row.Int(i)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return st, err
	}
	st.Bytes, st.FreeBytes, err = s.driver.Size(ctx)
	return st, err
}

// Check looks for damage: in the database file, orphaned rows, unreadable rows, and large
// values without a file. It changes nothing and returns a line for each problem.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	found, err := s.driver.Check(ctx)
	if err != nil || len(found) > 0 {
		return found, err // rows of a damaged file are meaningless
	}
	err = s.read(ctx, func(r Reader) error {
		for _, c := range []struct{ what, sql string }{
			{"messages without a session", `SELECT id FROM message WHERE session NOT IN (SELECT n FROM session)`},
			{"parts without a message", `SELECT id FROM part WHERE message NOT IN (SELECT n FROM message)`},
			{"text without a part", `SELECT part FROM tail WHERE part NOT IN (SELECT n FROM part)`},
			{"rows with a sequence number above the counter", `SELECT id FROM part WHERE seq > (SELECT counter FROM feed) OR born > seq`},
		} {
			n, first := 0, ""
			err := r.Query(c.sql, nil, func(row Row) error {
				if n++; n == 1 {
					first = row.Text(0)
				}
				return nil
			})
			if err != nil {
				return err
			}
			if n > 0 {
				found = append(found, fmt.Sprintf("%d %s (%s, …)", n, c.what, first))
			}
		}
		more, err := s.checkRows(r)
		found = append(found, more...)
		return err
	})
	return found, err
}

// checkRows reads every message and part once.
func (s *Store) checkRows(r Reader) (found []string, err error) {
	note := func(err error) error {
		if err != nil && len(found) < 100 {
			found = append(found, err.Error())
		}
		return nil
	}
	err = r.Query(`SELECT `+messageColumns+` FROM message`, nil, func(row Row) error {
		_, err := s.readMessage(row, "")
		return note(err)
	})
	if err != nil {
		return found, err
	}
	err = r.Query(`SELECT `+partColumns+` FROM part`, nil, func(row Row) error {
		_, _, _, err := s.readPart(row, "", "")
		return note(err)
	})
	return found, err
}

// Vacuum frees unused space: old tombstones, files without references, empty pages.
// Progress, if given, is called between steps.
func (s *Store) Vacuum(ctx context.Context, progress func(step string)) error {
	if progress == nil {
		progress = func(string) {}
	}
	progress("deleting old removal markers")
	if err := s.tidy(ctx); err != nil {
		return err
	}
	progress("removing unused files")
	if err := s.removeStrays(ctx); err != nil {
		return err
	}
	progress("freeing empty pages")
	for more := true; more; {
		err := s.writer.maintain(ctx, func() (err error) {
			more, err = s.driver.Reclaim(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
