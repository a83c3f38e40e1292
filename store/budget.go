package store

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
)

// Reserve is what a request may cost before it is sent.
type Reserve struct {
	Slot string // a session may have one request of each slot under way
	Day  string // 2006-01-02
	// Want is the worst case, Least what it costs cut as short as it may be.
	Want, Least lathe.Spending
	// Sure is what it costs once it was sent: charged if the process dies before it can tell.
	Sure   lathe.Spending
	Budget lathe.Budget
}

// Grant is the answer to a Reserve.
type Grant struct {
	// Most is what may be used: at most what was wanted, at least the least.
	Most lathe.Spending
	// Time is how long the session may still work; 0 is without end.
	Time time.Duration
	// Over is the account whose limit is used up, and By what; nil if none is.
	Over *lathe.Account
	By   Measure
	// Waits says that other requests under way hold what is left.
	Waits bool
}

// Measure is one of the things a budget counts.
type Measure string

// The measures.
const (
	ByCost   Measure = "cost"
	ByTokens Measure = "tokens"
	BySteps  Measure = "steps"
	ByTime   Measure = "time"
)

// Given reports whether the request may be sent.
func (g Grant) Given() bool { return g.Over == nil && !g.Waits }

// Reserve holds what a request may cost, on all accounts it will be counted on, if their
// limits allow it; then the facts are committed with it. Otherwise nothing is written.
func (s *Store) Reserve(ctx context.Context, l Lease, r Reserve, facts ...lathe.Fact) (Grant, []lathe.Event, error) {
	rows, err := s.encodeAll(facts)
	if err != nil {
		return Grant{}, nil, err
	}
	var g Grant
	events, err := s.writer.write(ctx, false, func(t *txn) error {
		row, err := t.held(l)
		if err != nil {
			return err
		}
		if g, err = t.reserve(row, l.Epoch, r); err != nil || !g.Given() {
			return err
		}
		return t.applyAll(row, facts, rows)
	})
	return g, events, err
}

func (t *txn) reserve(s *sessionRow, epoch int64, r Reserve) (Grant, error) {
	if err := t.settle(s.n, r.Slot, true, nil); err != nil { // of one that was cut off
		return Grant{}, err
	}
	for again := false; ; again = true {
		accounts, err := accountsOf(t.tx, s.id, s.project, r.Day, r.Budget)
		if err != nil {
			return Grant{}, err
		}
		g := grant(accounts, r)
		if g.Given() {
			return g, t.hold(s, epoch, r, g.Most, accounts)
		}
		if again {
			return g, nil
		}
		if freed, err := t.settleDead(); err != nil || !freed {
			return g, err
		}
	}
}

// grant decides what a request may use. It is pure.
func grant(accounts []lathe.Account, r Reserve) Grant {
	g := Grant{Most: r.Want}
	for i, a := range accounts {
		for _, m := range []struct {
			by                        Measure
			limit, spent, held, least int64
			given                     *int64
		}{
			{ByCost, int64(a.Limit.Cost), int64(a.Spent.Cost), int64(a.Held.Cost), int64(r.Least.Cost), (*int64)(&g.Most.Cost)},
			{ByTokens, a.Limit.Tokens, a.Spent.Tokens, a.Held.Tokens, r.Least.Tokens, &g.Most.Tokens},
			{BySteps, a.Limit.Steps, a.Spent.Steps, a.Held.Steps, r.Least.Steps, &g.Most.Steps},
		} {
			switch left := m.limit - m.spent; {
			case m.limit == 0:
			case left <= 0 || left < m.least:
				return Grant{Over: &accounts[i], By: m.by}
			case left-m.held < max(m.least, 1):
				g.Waits = true
			default:
				*m.given = min(*m.given, left-m.held)
			}
		}
		if left := a.Limit.Time - a.Spent.Time; a.Limit.Time > 0 {
			if left <= 0 {
				return Grant{Over: &accounts[i], By: ByTime}
			}
			if g.Time == 0 || left < g.Time {
				g.Time = left
			}
		}
	}
	if g.Waits {
		return Grant{Waits: true}
	}
	return g
}

// accountsOf reads the accounts a session is counted on, with their limits: its own first,
// then those of the sessions above it, the day's and the project's.
func accountsOf(r Reader, id lathe.SessionID, project, day string, b lathe.Budget) ([]lathe.Account, error) {
	var out []lathe.Account
	var own []*lathe.Spending
	take := func(row Row) error {
		a := lathe.Account{
			Kind: lathe.AccountKind(row.Text(0)), Key: row.Text(1),
			Spent: lathe.Spending{Cost: lathe.Money(row.Int(2)), Tokens: row.Int(3), Steps: row.Int(4), Time: time.Duration(row.Int(5)) * time.Millisecond},
			Held:  lathe.Spending{Cost: lathe.Money(row.Int(6)), Tokens: row.Int(7), Steps: row.Int(8)},
		}
		if a.Kind == lathe.SessionAccount && slices.ContainsFunc(out, func(o lathe.Account) bool { return o.Key == a.Key }) {
			return nil // parents in a circle
		}
		var limits *lathe.Spending
		if err := unpack(row, 9, &limits); err != nil {
			return lathe.Errorf(lathe.Internal, "the limits of %s: %w", a.Key, err)
		}
		out, own = append(out, a), append(own, limits)
		return nil
	}
	err := r.Query(`WITH RECURSIVE up (id, parent, depth) AS (
			SELECT id, parent, 0 FROM session WHERE id = $1
			UNION ALL SELECT session.id, session.parent, depth + 1 FROM session JOIN up ON session.id = up.parent WHERE depth < 64
		) SELECT 'session', up.id, COALESCE(cost, 0), COALESCE(tokens, 0), COALESCE(steps, 0), COALESCE(time, 0),
			COALESCE(held_cost, 0), COALESCE(held_tokens, 0), COALESCE(held_steps, 0), limits
		FROM up LEFT JOIN account ON kind = 'session' AND key = up.id ORDER BY depth`, []any{string(id)}, take)
	if err != nil {
		return nil, err
	}
	limit(out, own, b)
	for _, one := range []struct {
		kind  lathe.AccountKind
		key   string
		limit lathe.Spending
	}{{lathe.DayAccount, day, b.Day}, {lathe.ProjectAccount, project, b.Project}} {
		n := len(out)
		err := r.Query(`SELECT kind, key, cost, tokens, steps, time, held_cost, held_tokens, held_steps, limits FROM account WHERE kind = $1 AND key = $2`,
			[]any{string(one.kind), one.key}, take)
		if err != nil {
			return nil, err
		}
		if len(out) == n {
			out = append(out, lathe.Account{Kind: one.kind, Key: one.key})
		}
		out[n].Limit = one.limit
	}
	return out, nil
}

// limit gives sessions their limits, the topmost last in the list: its own, else what the
// budget says; one below it its own, else its share of what the one above has. Time is not shared
// out: who works beside its parent does so in the same hours.
func limit(chain []lathe.Account, own []*lathe.Spending, b lathe.Budget) {
	above := b.Session
	for i := len(chain) - 1; i >= 0; i-- {
		if share := b.Share; i < len(chain)-1 && share > 0 && share < 1 {
			part := func(n int64) int64 { return int64(math.Ceil(float64(n) * share)) }
			above = lathe.Spending{Cost: lathe.Money(part(int64(above.Cost))), Tokens: part(above.Tokens), Steps: part(above.Steps), Time: above.Time}
		}
		if o := own[i]; o != nil {
			above = lathe.Spending{
				Cost: cmp.Or(o.Cost, above.Cost), Tokens: cmp.Or(o.Tokens, above.Tokens), Steps: cmp.Or(o.Steps, above.Steps), Time: cmp.Or(o.Time, above.Time),
			}
		}
		chain[i].Limit = above
	}
}

// hold notes a reservation on its accounts.
func (t *txn) hold(s *sessionRow, epoch int64, r Reserve, given lathe.Spending, accounts []lathe.Account) error {
	err := t.exec(`INSERT INTO reservation (session, slot, epoch, day, project, cost, tokens, steps, sure_cost, sure_tokens)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)`,
		s.n, r.Slot, epoch, r.Day, s.project, int64(given.Cost), given.Tokens, given.Steps, int64(r.Sure.Cost), r.Sure.Tokens)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if err := t.tally(a.Kind, a.Key, lathe.Spending{}, given); err != nil {
			return err
		}
	}
	return nil
}

// tally changes one account: what was spent, and what is held.
func (t *txn) tally(kind lathe.AccountKind, key string, spent, held lathe.Spending) error {
	return t.exec(`INSERT INTO account (kind, key, cost, tokens, steps, time, held_cost, held_tokens, held_steps) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9)
		ON CONFLICT (kind, key) DO UPDATE SET cost = account.cost + excluded.cost, tokens = account.tokens + excluded.tokens,
			steps = account.steps + excluded.steps, time = account.time + excluded.time, held_cost = account.held_cost + excluded.held_cost,
			held_tokens = account.held_tokens + excluded.held_tokens, held_steps = account.held_steps + excluded.held_steps`,
		string(kind), key, int64(spent.Cost), spent.Tokens, spent.Steps, spent.Time.Milliseconds(), int64(held.Cost), held.Tokens, held.Steps)
}

// spent counts what a session has used, and gives back what was reserved for it.
func (t *txn) spent(s *sessionRow, f *lathe.Spent) error {
	return t.settle(s.n, f.Slot, false, f)
}

// settle ends a reservation, if there is one: what was spent is counted, or, of one that
// was cut off, what it has cost for sure.
func (t *txn) settle(session int64, slot string, cut bool, f *lathe.Spent) error {
	var held, used lathe.Spending
	var day, project string
	found := false
	if slot != "" {
		err := t.tx.Query(`SELECT cost, tokens, steps, sure_cost, sure_tokens, day, project FROM reservation WHERE session = $1 AND slot = $2`,
			[]any{session, slot}, func(row Row) error {
				found = true
				held = lathe.Spending{Cost: -lathe.Money(row.Int(0)), Tokens: -row.Int(1), Steps: -row.Int(2)}
				used = lathe.Spending{Cost: lathe.Money(row.Int(3)), Tokens: row.Int(4)}
				day, project = row.Text(5), row.Text(6)
				return nil
			})
		if err != nil {
			return err
		}
	}
	if !found && f == nil {
		return nil
	}
	chain, err := t.chain(session)
	if err != nil || len(chain.ids) == 0 {
		return err
	}
	if !cut {
		used = f.Used
	}
	if !found {
		day, project = f.Day, chain.project
	} else if err := t.exec(`DELETE FROM reservation WHERE session = $1 AND slot = $2`, session, slot); err != nil {
		return err
	}
	for i, id := range chain.ids {
		if err := t.tally(lathe.SessionAccount, id, timed(used, i == 0), held); err != nil {
			return err
		}
	}
	used = timed(used, len(chain.ids) == 1)
	if err := t.tally(lathe.DayAccount, day, used, held); err != nil {
		return err
	}
	return t.tally(lathe.ProjectAccount, project, used, held)
}

// timed leaves the time out where it would be counted twice: whoever has others work for
// him counts his own hours.
func timed(s lathe.Spending, own bool) lathe.Spending {
	if !own {
		s.Time = 0
	}
	return s
}

type ancestry struct {
	ids     []string // the session's own first
	project string
}

func (t *txn) chain(session int64) (c ancestry, err error) {
	err = t.tx.Query(`WITH RECURSIVE up (id, parent, project, depth) AS (
			SELECT id, parent, project, 0 FROM session WHERE n = $1
			UNION ALL SELECT session.id, session.parent, session.project, depth + 1 FROM session JOIN up ON session.id = up.parent WHERE depth < 64
		) SELECT id, project, depth FROM up ORDER BY depth`, []any{session}, func(row Row) error {
		if row.Int(2) == 0 {
			c.project = row.Text(1)
		}
		if id := row.Text(0); !slices.Contains(c.ids, id) {
			c.ids = append(c.ids, id)
		}
		return nil
	})
	return c, err
}

// settleDead ends the reservations of runners that are gone, and reports whether there were
// any.
func (t *txn) settleDead() (freed bool, err error) {
	type slot struct {
		session int64
		name    string
	}
	var dead []slot
	alive := map[string]bool{}
	err = t.tx.Query(`SELECT reservation.session, slot, COALESCE(owner, ''), COALESCE(lease.epoch, 0) = reservation.epoch
		FROM reservation LEFT JOIN lease ON lease.session = reservation.session`, nil, func(row Row) error {
		owner := row.Text(2)
		if _, known := alive[owner]; !known {
			alive[owner] = owner != "" && t.store.driver.Alive(owner)
		}
		if !alive[owner] || row.Int(3) == 0 {
			dead = append(dead, slot{row.Int(0), row.Text(1)})
		}
		return nil
	})
	for _, d := range dead {
		if err == nil {
			err = t.settle(d.session, d.name, true, nil)
		}
	}
	return len(dead) > 0, err
}

// closeAccount ends what a session that is removed has under way. What it has spent stays
// on the accounts above it.
func (t *txn) closeAccount(s *sessionRow) error {
	var slots []string
	err := t.tx.Query(`SELECT slot FROM reservation WHERE session = $1`, []any{s.n}, func(row Row) error {
		slots = append(slots, row.Text(0))
		return nil
	})
	for _, slot := range slots {
		if err == nil {
			err = t.settle(s.n, slot, true, nil)
		}
	}
	if err != nil {
		return err
	}
	return t.exec(`DELETE FROM account WHERE kind = 'session' AND key = $1`, string(s.id))
}

// Limit gives a session limits of its own; the zero value takes them away.
func (s *Store) Limit(ctx context.Context, id lathe.SessionID, limits lathe.Spending) error {
	_, err := s.writer.write(ctx, true, func(t *txn) error {
		if _, err := t.session(id); err != nil {
			return err
		}
		var data any
		if !limits.IsZero() {
			text, err := json.Marshal(limits)
			if err != nil {
				return err
			}
			data = string(text)
		}
		return t.exec(`INSERT INTO account (kind, key, limits) VALUES ('session', $1, $2)
			ON CONFLICT (kind, key) DO UPDATE SET limits = excluded.limits`, string(id), data)
	})
	return err
}

// Accounts tells what a session and those above it, the day and its project have spent,
// with their limits under a budget.
func (s *Store) Accounts(ctx context.Context, id lathe.SessionID, day string, b lathe.Budget) (out []lathe.Account, err error) {
	err = s.read(ctx, func(r Reader) error {
		rec, err := oneSession(r, `id = $1`, string(id))
		if err != nil {
			return err
		}
		if rec.ID == "" {
			return notFound(id)
		}
		out, err = accountsOf(r, id, rec.Project, day, b)
		return err
	})
	return out, err
}
