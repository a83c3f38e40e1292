package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/place"
	"github.com/lathe-agent/lathe/engine/record"
	"github.com/lathe-agent/lathe/internal/fence"
	"github.com/lathe-agent/lathe/internal/metric"
	"github.com/lathe-agent/lathe/store"
)

const (
	// sweepEvery and sweepJitter are the time between two looks for sessions that no node works on.
	sweepEvery  = 400 * time.Millisecond
	sweepJitter = 200 * time.Millisecond
	// fenceLook is how often a node looks whether it still has its lease.
	fenceLook = 100 * time.Millisecond
	// longestPause is the longest time between two attempts to continue the same session.
	longestPause = 5 * time.Minute
	// shellsEvery is the time between two looks for commands in the background whose node has died.
	shellsEvery = 10 * time.Second
	// takeoverBatch is how many sessions of a dead node are taken over in one transaction.
	takeoverBatch = 256
)

// errLeaving ends the turn of a session that another node continues.
var errLeaving = lathe.Errorf(lathe.Unavailable, "this node is going away and another one continues the session; nothing is lost: read its messages there")

// errHere ends the wait for another node: this one has the directory now.
var errHere = errors.New("the directory of the session is here")

// errLost ends the turns of a node that lost its lease. They can continue, here or elsewhere.
var errLost = &lathe.Error{
	Code: lathe.Canceled, Message: "this node lost its lease in the database",
	Fault: errClosing.Fault,
}

// Node is the part of an engine in a cluster. The zero value is a machine of its own.
type Node struct {
	Fence  *fence.Fence  // ends the effects of this node; nil outside of a cluster
	Places []store.Place // whose sessions it runs; none means all
	Sweeps bool          // it continues sessions that no node works on
	// Away tells why no node runs the sessions of a directory, "" if one does. It may be nil.
	Away func(ctx context.Context, directory string) string
	// Announce tells the other nodes which places are missing here. It may be nil.
	Announce func([]store.Place)
}

// Member is the node at work. Outside of a cluster it does nothing.
type Member struct {
	Node
	engine  *Engine
	leaving chan struct{} // closed when it takes nothing new
	leave   sync.Once
	taken   atomic.Int64 // sessions of nodes that had died
	places  *place.Watch
}

func newMember(e *Engine, n Node) *Member {
	return &Member{Node: n, engine: e, leaving: make(chan struct{}), places: place.New(n.Places, e.log, n.Announce)}
}

// MissingPlaces are the places of this node whose directory does not exist now. It runs none of their sessions.
func (m *Member) MissingPlaces() []store.Place { return m.places.Missing() }

// makeTrees makes the folder of worktrees if it is a place: it would be missing until the first worktree.
func (m *Member) makeTrees() {
	trees := m.engine.files.trees.Dir
	if !slices.ContainsFunc(m.Places, func(p store.Place) bool { return p.Path == trees }) {
		return
	}
	if err := os.MkdirAll(trees, 0o700); err != nil {
		m.engine.log.Warn("could not make the folder of worktrees", "error", err)
	}
}

// IsLeaving reports whether the node hands its sessions to others.
func (m *Member) IsLeaving() bool {
	select {
	case <-m.leaving:
		return true
	default:
		return false
	}
}

// Has reports whether sessions of a directory run here: it lies in a place, or is a worktree that this node made.
func (m *Member) Has(directory string) bool {
	if m.places.Covers(directory) {
		return true
	}
	trees := m.engine.files.trees.Dir
	if trees == "" || !place.IsBelow(directory, trees) {
		return false
	}
	info, err := os.Stat(directory)
	return err == nil && info.IsDir()
}

// Leave hands the sessions of this node to others: turns end between two steps, and nothing new begins. It returns when
// no session is awake here, or with the context. Outside of a cluster it does nothing.
func (m *Member) Leave(ctx context.Context) error {
	if m.Fence == nil {
		return nil
	}
	m.leave.Do(func() { close(m.leaving) })
	return m.engine.Drain(ctx)
}

// isElsewhere reports whether a session must not run here.
func (m *Member) isElsewhere(ctx context.Context, id lathe.SessionID) bool {
	if m.Fence == nil {
		return false
	}
	if m.IsLeaving() {
		return true
	}
	if len(m.Places) == 0 {
		return false
	}
	rec, err := m.engine.store.Session(ctx, id)
	return err == nil && !m.Has(rec.Directory)
}

// start watches the lease of the node, and the sessions that no node works on.
func (m *Member) start() {
	e := m.engine
	if m.Fence == nil || e.env == nil {
		return
	}
	e.work.Go(func() { m.watchFence(e.ctx) })
	if len(m.Places) > 0 {
		m.makeTrees()
		m.places.Look(e.ctx)
		e.work.Go(func() { m.places.Run(e.ctx) })
	}
	if m.Sweeps {
		e.work.Go(func() { m.sweep(e.ctx) })
	}
}

// watchFence cancels all turns when the lease of this node is lost.
func (m *Member) watchFence(ctx context.Context) {
	e := m.engine
	tick := time.NewTicker(fenceLook)
	defer tick.Stop()
	for lost := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		was := lost
		if lost = m.Fence.Valid() != nil; lost && !was {
			e.log.Error("this node lost its lease in the database; its turns end and can continue on another node")
			for _, a := range e.actors.all() {
				a.stop(errLost)
			}
		} else if was && !lost {
			e.log.Info("this node has its lease again")
		}
	}
}

// Measure writes how many sessions of other nodes this one has continued.
func (m *Member) Measure(p *metric.Page) {
	p.Counter("lathe_lease_takeovers_total", "Sessions that were continued here after their process had died.", float64(m.taken.Load()))
	p.Gauge("lathe_places_missing", "Places of this node whose directory does not exist.", float64(len(m.MissingPlaces())))
}

// attempt is when a session may be tried again.
type attempt struct {
	next  time.Time
	pause time.Duration
}

// sweep continues sessions whose node has died, and those with prompts that nobody works on. A session that cannot be
// continued is tried again after longer and longer pauses.
func (m *Member) sweep(ctx context.Context) {
	e := m.engine
	tried := map[lathe.SessionID]attempt{}
	shells := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.leaving:
			return
		case <-time.After(sweepEvery + rand.N(sweepJitter)):
		}
		if m.Fence.Valid() != nil {
			continue
		}
		m.handOverUnreleased(ctx)
		found, err := e.store.Interruptions(ctx, "")
		if err != nil {
			e.log.Debug("could not look for sessions without a node", "error", err)
			continue
		}
		var due []store.Interruption
		now, seen := time.Now(), map[lathe.SessionID]attempt{}
		for _, one := range found {
			if !one.Dead && (!one.HasQueued || e.actors.find(one.Session) != nil) {
				continue // it waits for its user, or for its actor
			}
			a, again := tried[one.Session]
			if !again && !one.Dead { // it may have been admitted just now, and be taken up at once
				seen[one.Session] = attempt{next: now, pause: sweepEvery}
				continue
			}
			if again && now.Before(a.next) || m.IsLeaving() || !m.Has(one.Directory) {
				seen[one.Session] = a
				continue
			}
			a.pause = min(max(2*a.pause, time.Second), longestPause)
			seen[one.Session] = attempt{now.Add(a.pause), a.pause}
			due = append(due, one)
		}
		tried = seen
		m.takeOver(ctx, due)
		if time.Since(shells) < shellsEvery {
			continue
		}
		if err := e.RecoverShells(ctx, ""); err != nil && ctx.Err() == nil {
			e.log.Warn("could not report the end of background commands of another node", "error", err)
		}
		shells = time.Now()
	}
}

// release gives a lease back. In a cluster the lease of an unfinished session, and every lease of a node that leaves, is
// handed over instead: the sweep of some node then looks whether there is work left.
func (m *Member) release(ctx context.Context, l store.Lease, unfinished bool) error {
	e := m.engine
	if m.Fence != nil && (unfinished || m.IsLeaving() || e.ctx.Err() != nil || m.Fence.Valid() != nil) {
		return store.HandOver(ctx, e.store, l)
	}
	return e.store.Release(ctx, l)
}

// continues reports whether the last answer was cut off by the end of its node and not by its user.
func (m *Member) continues(messages []*history.Message) bool {
	if m.Fence == nil || len(messages) == 0 {
		return false
	}
	a, ok := messages[len(messages)-1].Data.(*lathe.Assistant)
	if !ok {
		return false
	}
	cut, ok := a.Error.(*lathe.AbortedFault)
	return ok && *cut == *errClosing.Fault.(*lathe.AbortedFault)
}

// handOverUnreleased hands over what could not be given back when its turn ended. It would be busy until this node ends.
func (m *Member) handOverUnreleased(ctx context.Context) {
	all := &m.engine.actors.unreleased
	for id, l := range all.Range {
		if store.HandOver(ctx, m.engine.store, l.(store.Lease)) == nil {
			all.CompareAndDelete(id, l)
		}
	}
}

// takeOver continues sessions. It takes the leases of all that have lost their node before it continues the first, in
// an order of its own, since other nodes do the same.
func (m *Member) takeOver(ctx context.Context, due []store.Interruption) {
	e := m.engine
	rand.Shuffle(len(due), func(i, k int) { due[i], due[k] = due[k], due[i] })
	for some := range slices.Chunk(due, takeoverBatch) {
		var dead []lathe.SessionID
		for _, one := range some {
			if one.Dead {
				dead = append(dead, one.Session)
			}
		}
		if len(dead) == 0 {
			continue
		}
		leases, err := store.TakeOver(ctx, e.store, dead)
		if err != nil && ctx.Err() == nil {
			e.log.Warn("could not take over sessions", "sessions", len(dead), "error", err)
		}
		for _, l := range leases {
			e.actors.taken.Store(l.Session, l)
		}
	}
	forEach(len(due), func(i int) { m.continueSession(ctx, due[i]) })
}

// cutOff returns why a turn that ended here continues elsewhere, or here later; nil if it does not.
func cutOff(r *runner, err error) error {
	switch {
	case errors.Is(err, errLeaving):
		return err
	case r.engine.Member.Fence == nil:
		return nil
	case err == nil && r.unfinished, errors.Is(err, store.ErrLeaseLost):
		return errLost
	case lathe.CodeOf(err) == lathe.Unavailable && r.engine.Member.Fence.Valid() != nil: // the database is away
		return errLost
	}
	return nil
}

// regain waits until this node has its lease in the database again. It is false if the node ends before.
func (m *Member) regain(ctx context.Context) bool {
	tick := time.NewTicker(fenceLook)
	defer tick.Stop()
	for m.Fence.Valid() != nil {
		select {
		case <-ctx.Done():
			return false
		case <-m.leaving:
			return false
		case <-tick.C:
		}
	}
	return ctx.Err() == nil && !m.IsLeaving()
}

// continueCut continues the turn of a dead node in a session that was woken before the sweep was done with it: someone
// waits here for its answer. It reports whether there may be more to do.
func (r *runner) continueCut(ctx context.Context, s state, found next) (again bool, err error) {
	if _, open := found.(repair); open || !r.wasCut {
		return false, nil
	}
	r.wasCut = false
	if _, none := found.(stop); !none || len(s.queued) > 0 || s.session.Revert != nil || !r.engine.Member.Sweeps {
		return false, nil // a new prompt takes the place of the old one, and elsewhere the user decides
	}
	id := s.session.ID
	if task, err := r.engine.store.Task(ctx, id); err != nil || task == lathe.Awaited { // its parent decides
		return false, err
	}
	return true, r.engine.resumeTurn(ctx, id)
}

// continueSession continues one session. It hands over a lease that nobody here has used.
func (m *Member) continueSession(ctx context.Context, one store.Interruption) {
	e := m.engine
	if _, taken := e.actors.taken.Load(one.Session); one.Dead && !taken {
		return // another node has it
	}
	var err error
	if !m.IsLeaving() {
		err = e.recover(ctx, one, true)
	}
	if l, left := e.actors.taken.LoadAndDelete(one.Session); left {
		settled, cancel := settleContext(ctx)
		defer cancel()
		if failed := store.HandOver(settled, e.store, l.(store.Lease)); failed != nil {
			e.actors.unreleased.Store(one.Session, l)
		}
		if m.IsLeaving() {
			return
		}
	}
	if err == nil && one.Dead {
		err = e.RecoverTasks(ctx, one.Session, true)
	}
	if err != nil && ctx.Err() == nil {
		e.log.Warn("could not continue a session", "session", one.Session, "error", err)
		return
	}
	if one.Dead {
		m.taken.Add(1)
		e.log.Info("took over a session", "session", one.Session)
	}
}

// acquireLease waits for the lease. Another process may hold it: that process then answers the queued
// prompts, or dies and leaves them to us.
func (a *actor) acquireLease(ctx context.Context) (*runner, error) {
	tick := time.NewTicker(retryLease)
	defer tick.Stop()
	for {
		r, err := a.engine.actors.newRunner(ctx, a)
		if err == nil || lathe.CodeOf(err) != lathe.Conflict || a.first != nil {
			return r, err
		}
		for held := true; held; { // a look costs nothing, an attempt would be a write
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-a.engine.Member.leaving:
				return nil, errLeaving
			case <-a.wake:
			case <-tick.C:
			}
			if held, err = store.IsHeld(ctx, a.engine.store, a.id); err != nil {
				return nil, err
			}
		}
	}
}

// follow waits until a session that runs elsewhere has nothing left to do, and returns its newest answer.
func (a *actor) follow(ctx context.Context) (msg lathe.Message, err error) {
	e := a.engine
	tick := time.NewTicker(retryLease)
	defer tick.Stop()
	rec, err := e.store.Session(ctx, a.id)
	if err != nil {
		return msg, err
	}
	for away := ""; ; {
		if e.Member.Has(rec.Directory) && !e.Member.IsLeaving() {
			return msg, errHere
		}
		a.markSeen()
		away = e.Member.reportAway(ctx, rec, away)
		busy, err := store.IsUnfinished(ctx, e.store, a.id)
		if err != nil {
			return msg, err
		}
		if !busy {
			page, err := e.store.History(ctx, a.id, lathe.Position{}, 0)
			if err != nil || len(page.Messages) == 0 {
				return msg, err
			}
			return newest(page.Messages), nil
		}
		select {
		case <-ctx.Done():
			return msg, context.Cause(ctx)
		case <-e.Member.leaving:
			return msg, errLeaving
		case <-a.wake:
		case <-tick.C:
		}
	}
}

// reportAway tells clients once why a session gets no node. It returns the reason, "" if it has one.
func (m *Member) reportAway(ctx context.Context, rec lathe.Session, before string) string {
	why := m.whyAway(ctx, rec.Directory)
	if why != "" && why != before {
		m.engine.publish(rec, &lathe.StatusChanged{Session: rec.ID, Status: record.AwayStatus(why, m.engine.now())})
	}
	return why
}

// whyAway tells why no node runs the sessions of a directory, "" if one does.
func (m *Member) whyAway(ctx context.Context, directory string) string {
	if m.Away == nil {
		return ""
	}
	return m.Away(ctx, directory)
}

// newest is the last answer, else the last message.
func newest(messages []lathe.Message) lathe.Message {
	for _, m := range slices.Backward(messages) {
		if _, ok := m.Data.(*lathe.Assistant); ok {
			return m
		}
	}
	return messages[len(messages)-1]
}
