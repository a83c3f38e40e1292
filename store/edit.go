package store

import (
	"context"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
)

func placeholder(n int) string { return "$" + strconv.Itoa(n) }

// Edit changes the columns that are set, in one statement, so that concurrent changes of
// other writers are not lost. It returns the new record.
func (s *Store) Edit(ctx context.Context, id lathe.SessionID, e lathe.Edit) (lathe.Session, error) {
	events, err := s.writer.write(ctx, false, func(t *txn) error {
		row, err := t.session(id)
		if err != nil {
			return err
		}
		return t.edit(row, e)
	})
	if err != nil {
		return lathe.Session{}, err
	}
	return events[len(events)-1].Fact.(*lathe.SessionChanged).Info, nil
}

// edit changes the columns and publishes the whole record.
func (t *txn) edit(row *sessionRow, e lathe.Edit) error {
	if len(e.AddRules) > 0 { // no other write happens before the update below
		rec, err := recordOf(t.tx, row)
		if err != nil {
			return err
		}
		if e.Rules.Set {
			rec.Rules = e.Rules.Value
		}
		e.Rules = lathe.Some(append(rec.Rules[:len(rec.Rules):len(rec.Rules)], e.AddRules...))
	}
	set, args := editColumns(e, t.now)
	seq := t.next()
	args = append(args, seq, row.n)
	set = append(set, `seq = `+placeholder(len(args)-1))
	sql := `UPDATE session SET ` + strings.Join(set, `, `) + ` WHERE n = ` + placeholder(len(args))
	if err := t.exec(sql, args...); err != nil {
		return err
	}
	t.index.moved = t.index.moved || e.Project.Set && e.Project.Value != row.project
	return t.publishSession(seq, row)
}

// publishSession publishes the current record.
func (t *txn) publishSession(seq int64, row *sessionRow) error {
	rec, err := recordOf(t.tx, row)
	if err != nil {
		return err
	}
	row.directory, row.project = rec.Directory, rec.Project
	t.publish(seq, row, &lathe.SessionChanged{Info: rec})
	return nil
}

// editColumns returns the assignments and arguments of an UPDATE for the columns that are set.
func editColumns(e lathe.Edit, now lathe.Time) (set []string, args []any) {
	put := func(column string, isSet bool, v any) {
		if isSet {
			args = append(args, v)
			set = append(set, column+` = `+placeholder(len(args)))
		}
	}
	put(`title`, e.Title.Set, e.Title.Value)
	put(`title_key`, e.Title.Set, fold(e.Title.Value))
	put(`archived`, e.Archived.Set, nullPtr(e.Archived.Value, func(a lathe.Time) any { return float64(a) }))
	put(`compacting`, e.Compacting.Set, float64(e.Compacting.Value))
	put(`metadata`, e.Metadata.Set, packRaw(e.Metadata.Value))
	put(`rules`, e.Rules.Set, pack(e.Rules.Value))
	put(`share`, e.Share.Set, pack(e.Share.Value))
	put(`summary`, e.Summary.Set, pack(e.Summary.Value))
	put(`revert`, e.Revert.Set, pack(e.Revert.Value))
	put(`agent`, e.Agent.Set, null(e.Agent.Value))
	put(`model`, e.Model.Set, pack(e.Model.Value))
	put(`project`, e.Project.Set, e.Project.Value)
	put(`directory`, e.Directory.Set, e.Directory.Value)
	put(`path`, e.Path.Set, nullPtr(e.Path.Value, func(p string) any { return p }))
	put(`updated`, e.Touch, float64(now))
	return set, args
}
