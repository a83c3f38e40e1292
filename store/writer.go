package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
)

// writer is the only goroutine of this process that writes. Transactions that arrive
// while it works are grouped into the next one, each in its own savepoint, so that a
// conflict undoes only one of them. It publishes after each commit, in number order.
type writer struct {
	store *Store
	jobs  chan *job
	stop  chan struct{}
	done  chan struct{}
	meters

	// For the goroutine only:
	behind        bool      // a committed change was not published: do not skip the next poll
	largeFailed   error     // the store of large values did not answer at the last poll
	pollAfter     time.Time // when it may be asked again
	orphanedBlobs bool      // files may have lost their last row
	tombstones    int       // tombstones and answered asks since the last trim

	mu     sync.RWMutex // guards closed against sends on jobs
	closed bool
}

// job is one transaction, or maintenance that must not run at the same time as one.
type job struct {
	ctx     context.Context
	durable bool
	do      func(*txn) error
	// lookAhead reads what do will look up. Only a job that changes no other row of it may have one.
	lookAhead func(*txn) error
	maintain  func() error  // runs alone and outside a transaction
	events    []lathe.Event // to publish after the commit
	bulk      *numbers      // also publish the rows of these numbers, read back after the commit
	result    chan error
	claimed   atomic.Bool // started by the writer or abandoned by its caller, whichever is first
	started   bool        // by the writer, perhaps not for the first time
}

// numbers is a range of the feed.
type numbers struct{ after, upTo int64 }

const (
	// maxGroup limits how many transactions share a commit, and so how long the first waits.
	maxGroup = 128
	// trimEvery is the number of removals and answers between two trims.
	trimEvery = 1000
	// pollPatience is how long the writer waits for a large value of another process, and lockedPatience if all
	// processes wait for it. After that it continues without publishing, and does not ask again for largePause.
	pollPatience   = time.Second
	lockedPatience = 300 * time.Millisecond
	largePause     = 2 * time.Second
)

func startWriter(s *Store) *writer {
	w := &writer{store: s, jobs: make(chan *job, maxGroup), stop: make(chan struct{}), done: make(chan struct{}), tombstones: trimEvery}
	go w.run()
	return w
}

// write runs do in its own transaction and returns when it is committed and published. If
// ctx ends before the transaction starts, it never starts. Once started, it is not canceled,
// and write waits for it.
func (w *writer) write(ctx context.Context, durable bool, do func(*txn) error) ([]lathe.Event, error) {
	return w.perform(&job{ctx: ctx, durable: durable, do: do})
}

// perform is write for a job.
func (w *writer) perform(j *job) ([]lathe.Event, error) {
	j.result = make(chan error, 1)
	if err := w.await(j.ctx, j); err != nil {
		return nil, err // the writer may still have an abandoned job
	}
	return j.events, nil
}

// maintain runs f in the writer's goroutine, between transactions.
func (w *writer) maintain(ctx context.Context, f func() error) error {
	return w.await(ctx, &job{ctx: ctx, maintain: f, result: make(chan error, 1)})
}

// await sends a job and waits for its result. A canceled caller abandons the job only if the writer
// has not claimed it.
func (w *writer) await(ctx context.Context, j *job) error {
	if err := w.send(ctx, j); err != nil {
		return err
	}
	select {
	case err := <-j.result:
		return err
	case <-ctx.Done():
		if j.claimed.CompareAndSwap(false, true) {
			return context.Cause(ctx)
		}
		return <-j.result
	}
}

func (w *writer) send(ctx context.Context, j *job) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return errClosed()
	}
	select {
	case w.jobs <- j:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run processes jobs until stop. Chores wait until the queue is empty, so that they delay no caller.
func (w *writer) run() {
	defer close(w.done)
	for {
		select {
		case j := <-w.jobs:
			w.group(j)
			if len(w.jobs) == 0 {
				w.chores()
			}
		case <-w.stop:
			for { // still write all jobs sent before the stop
				select {
				case j := <-w.jobs:
					w.group(j)
				default:
					w.chores()
					return
				}
			}
		}
	}
}

// chores cleans up after earlier transactions while no job waits.
func (w *writer) chores() {
	if err := w.sweep(false); err != nil {
		w.store.log.Warn("could not remove unused files of large values", "error", err)
	}
	if w.tombstones >= trimEvery {
		if err := w.trim(); err != nil {
			w.store.log.Warn("could not delete old removal markers", "error", err)
		}
	}
}

// sweep deletes files without references, if this process has dropped a reference since the
// last sweep, or always. The first transaction only syncs: a power cut must not restore a
// row whose file is gone.
func (w *writer) sweep(always bool) error {
	if !w.orphanedBlobs && !always || w.store.blobs.large != nil { // see RemoveUnused
		return nil
	}
	found := int64(0)
	err := w.alone(true, func(t *txn) (err error) {
		found, err = t.count(`UPDATE blob SET size = size WHERE ` + unnamed)
		return err
	})
	if err == nil && found > 0 {
		err = w.alone(false, (*txn).sweep)
	}
	w.orphanedBlobs = err != nil
	return err
}

func (w *writer) trim() error {
	w.tombstones = 0
	return w.alone(false, (*txn).trim)
}

// poll publishes the changes of other processes since the last poll.
func (w *writer) poll(ctx context.Context) error {
	if w.largeFailed != nil && time.Now().Before(w.pollAfter) {
		return w.largeFailed
	}
	changed, err := w.store.driver.Changed(ctx)
	if err != nil || !changed && !w.behind {
		return err
	}
	err = w.store.readFiles(ctx, func(r Reader) error {
		counter, err := readCounter(r)
		if err != nil {
			return err
		}
		return w.store.catchUp(r, counter, pollPatience)
	})
	w.behind, w.largeFailed = err != nil, nil
	if errors.Is(err, errLarge) {
		w.largeFailed, w.pollAfter = err, time.Now().Add(largePause)
	}
	return err
}

// ahead publishes the changes of other processes before a transaction that all processes wait for. What it misses is
// published inside, unless it cannot be read now: then all that follows is published later.
func (w *writer) ahead() error {
	if !w.store.driver.Ahead() {
		return nil
	}
	err := w.poll(context.Background())
	if errors.Is(err, errLarge) {
		return err
	}
	if err != nil {
		w.store.log.Debug("could not read the changes of other nodes before a change", "error", err)
	}
	return nil
}

// close runs the queued jobs and ends the goroutine.
func (w *writer) close() {
	w.mu.Lock()
	first := !w.closed
	w.closed = true
	w.mu.Unlock()
	if first {
		close(w.stop)
	}
	<-w.done
}

// group commits the job together with the jobs queued after it.
func (w *writer) group(first *job) {
	jobs, alone := []*job{}, first
	if first.maintain == nil {
		jobs, alone = w.gather(first)
	}
	if len(jobs) > 0 {
		w.settle(jobs)
	}
	if alone != nil && alone.claimed.CompareAndSwap(false, true) {
		alone.result <- alone.maintain()
	}
}

// gather takes the queued transactions, up to the first job that must run alone.
func (w *writer) gather(first *job) (jobs []*job, alone *job) {
	jobs = []*job{first}
	for len(jobs) < maxGroup {
		select {
		case j := <-w.jobs:
			if j.maintain != nil {
				return jobs, j
			}
			jobs = append(jobs, j)
		default:
			return jobs, nil
		}
	}
	return jobs, nil
}

// settle commits the jobs and sends each its result.
func (w *writer) settle(jobs []*job) {
	durable := false
	for _, j := range jobs {
		durable = durable || j.durable
	}
	results := make([]error, len(jobs))
	err := w.commit(jobs, results, durable)
	if err != nil {
		err = w.repeat(jobs, results, durable, err)
	}
	if err != nil {
		for i := range results {
			if results[i] == nil {
				results[i], jobs[i].events = err, nil
			}
		}
	}
	for i, j := range jobs {
		j.result <- results[i]
	}
}

// repeats is how often a transaction is begun again after the connection was lost.
const repeats = 3

// repeat runs jobs again if the driver says that they changed nothing: all after a lost connection, each alone after
// a failed statement whose job is unknown.
func (w *writer) repeat(jobs []*job, results []error, durable bool, err error) error {
	if len(jobs) > 1 && errors.Is(err, ErrDeferred) {
		for i, j := range jobs {
			clear(results[i : i+1])
			if err := w.commit([]*job{j}, results[i:i+1], durable); err != nil && results[i] == nil {
				results[i], j.events = err, nil
			}
		}
		return nil
	}
	for n := 0; n < repeats && errors.Is(err, ErrLost); n++ {
		clear(results)
		err = w.commit(jobs, results, durable)
	}
	return err
}

// alone runs a transaction in its own commit.
func (w *writer) alone(durable bool, do func(*txn) error) error {
	results := make([]error, 1)
	err := w.commit([]*job{{ctx: context.Background(), durable: durable, do: do}}, results, durable)
	return errors.Join(err, results[0])
}

// commit runs the jobs in one transaction, fills in the results of those that failed
// alone, and publishes. A returned error means that all jobs were undone.
func (w *writer) commit(jobs []*job, results []error, durable bool) error {
	began := time.Now()
	defer func() { w.commits.Observe(time.Since(began)) }()
	pubErr := w.ahead()
	// The group outlives any one caller. The driver limits the wait for a lock.
	tx, err := w.store.driver.Begin(context.WithoutCancel(jobs[0].ctx), durable)
	if err != nil {
		return err
	}
	t := &txn{store: w.store, tx: tx, now: w.store.now()}
	if err := w.lookAhead(t, jobs); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if t.counter, t.index, err = readFeed(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	before := t.counter
	t.began = before
	// Publish the commits of other processes first, in their state before these jobs.
	if pubErr == nil {
		pubErr = w.store.catchUp(tx, before, lockedPatience)
	}
	for i, j := range jobs {
		if err := w.one(t, j, len(jobs) > 1, &results[i]); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if err := t.putWords(); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if t.counter != before {
		if err := t.saveCounter(); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	end := tx.Commit
	if t.counter == before && !t.dirty {
		end = tx.Rollback // only ephemeral events, or nothing
	}
	if err := end(); err != nil {
		return err
	}
	w.orphanedBlobs, w.tombstones = w.orphanedBlobs || t.orphanedBlobs, w.tombstones+t.tombstones
	if pubErr == nil {
		pubErr = w.store.publish(t.counter, jobs)
	}
	if pubErr != nil && !w.behind {
		w.store.log.Warn("could not publish changes; retrying with the next change", "error", pubErr)
	}
	w.behind = w.behind || pubErr != nil
	return nil
}

// lookAhead lets the jobs read what they will look up with the first statement of their transaction, up to one that
// may change anything.
func (w *writer) lookAhead(t *txn, jobs []*job) error {
	if !w.store.driver.Ahead() {
		return nil
	}
	for _, j := range jobs {
		if j.lookAhead == nil {
			return nil
		}
		if err := j.lookAhead(t); err != nil {
			return err
		}
	}
	return nil
}

// one runs a job. If the job fails, only the job is undone and the error is its result. A
// returned error undoes the whole group.
func (w *writer) one(t *txn, j *job, shared bool, result *error) error {
	if !j.started && (j.ctx.Err() != nil || !j.claimed.CompareAndSwap(false, true)) {
		*result = context.Cause(j.ctx)
		return nil
	}
	j.started, j.events, j.bulk = true, nil, nil
	if shared {
		if err := t.tx.Do(`SAVEPOINT job`); err != nil {
			return err
		}
	}
	if j.lookAhead == nil {
		t.known = lookups{} // it may change anything
		if err := t.putWords(); err != nil {
			return err
		}
	}
	counter, dirty, index, unput := t.counter, t.dirty, t.index, len(t.unput)
	t.events, t.bulk = nil, 0
	if *result = j.do(t); *result != nil {
		t.counter, t.dirty, t.index, t.unput, t.known = counter, dirty, index, t.unput[:unput], lookups{}
		if !shared {
			return nil // nothing else is in the transaction: commit rolls it back
		}
		if err := t.tx.Do(`ROLLBACK TO job`); err != nil {
			return errors.Join(*result, err) // a full disk, for example, undoes the whole transaction
		}
	}
	if shared {
		if err := t.tx.Do(`RELEASE job`); err != nil {
			return err
		}
	}
	if *result == nil && t.bulk > 0 && t.bulk < t.counter {
		j.events, j.bulk = t.events, &numbers{t.bulk, t.counter}
	} else if *result == nil {
		j.events = t.finish()
	}
	return nil
}
