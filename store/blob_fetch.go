package store

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"
)

// errLarge is in errors of a store of large values that does not answer in time.
var errLarge = errors.New("the store of large values does not answer")

const (
	valuesOfMessage = `SELECT hash FROM blob_ref WHERE kind = 'message' AND row = $1`
	valuesOfPart    = `SELECT hash FROM blob_ref WHERE kind = 'part' AND row = $1`
)

// fetchers is how many large values are fetched at the same time.
const fetchers = 8

// fetchLarge makes the store of large values keep copies of those that rows refer to, or fails soon: the writer, and
// with it every commit, waits for the rows.
func (t *changeReader) fetchLarge(r Reader, rows []change) error {
	if t.store.blobs.large == nil || t.patience == 0 {
		return nil
	}
	var hashes []string
	for _, ask := range []func(sql string, n int64) error{
		func(sql string, n int64) error { return r.Expect(sql, n) },
		func(sql string, n int64) error {
			return r.Query(sql, []any{n}, func(row Row) error {
				hashes = append(hashes, row.Text(0))
				return nil
			})
		},
	} {
		for _, c := range rows {
			sql := map[int]string{inMessage: valuesOfMessage, inPart: valuesOfPart}[c.table]
			if sql == "" {
				continue
			}
			if err := ask(sql, c.n); err != nil {
				return err
			}
		}
	}
	return fetchAll(t.store.blobs.large, hashes, t.patience)
}

// fetchAll reads values, up to the first that fails. A missing one is reported when its row is read.
func fetchAll(from Blobs, hashes []string, patience time.Duration) error {
	errs := make([]error, len(hashes))
	all, stop := context.WithCancel(context.Background())
	defer stop()
	var group sync.WaitGroup
	free := make(chan struct{}, fetchers)
	for i, hash := range hashes {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			ctx, cancel := context.WithTimeout(all, patience)
			defer cancel()
			if _, err := from.Get(ctx, hash); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs[i] = errors.Join(errLarge, err)
				stop()
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
