package store

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
)

// Reservation is the highest cost of a request, reserved before it is sent.
type Reservation struct {
	Slot string // a session may have one running request per slot
	Day  string // 2006-01-02
	// Max is the worst case, Least the cost with the shortest allowed output.
	Max, Min lathe.Spending
	// Certain is the cost of sending it, charged if the process dies before it can report.
	Certain lathe.Spending
	Budget  lathe.Budget
}

// Grant is the answer to a Reserve.
type Grant struct {
	// Max is the granted amount, between Least and Max of the reservation.
	Max lathe.Spending
	// Time is how long the session may still work; 0 means no limit.
	Time time.Duration
	// Exceeded is the account that has reached its limit, and By the measure; nil if none has.
	Exceeded *lathe.Account
	Measure  Measure
	// Pending means that other running requests have reserved the rest.
	Pending bool
}

// Measure is a quantity that a budget limits.
type Measure string

// The measures.
const (
	ByCost   Measure = "cost"
	ByTokens Measure = "tokens"
	BySteps  Measure = "steps"
	ByTime   Measure = "time"
)

// Allowed reports whether the request may be sent.
func (g Grant) Allowed() bool { return g.Exceeded == nil && !g.Pending }

// Reserve reserves the cost of a request on all its accounts and commits the facts, if the
// limits allow it. Otherwise nothing is written.
func (s *Store) Reserve(ctx context.Context, l Lease, r Reservation, facts ...lathe.Fact) (Grant, []lathe.Event, error) {
	rows, err := s.encodeAll(facts)
	if err != nil {
		return Grant{}, nil, err
	}
	var g Grant
	events, err := s.writer.write(ctx, false, func(t *txn) error {
		row, err := t.checkLease(l)
		if err != nil {
			return err
		}
		if g, err = t.reserve(row, l.Epoch, r); err != nil || !g.Allowed() {
			return err
		}
		return t.applyAll(row, facts, rows)
	})
	return g, events, err
}

// reserve retries once after it has settled the reservations of dead runners, which may block the
// budget.
func (t *txn) reserve(s *sessionRow, epoch int64, r Reservation) (Grant, error) {
	for again := false; ; again = true {
		accounts, mine, err := accountsOf(t.tx, s, r)
		if err != nil {
			return Grant{}, err
		}
		if mine { // left by an interrupted request
			if err := t.settle(s.n, r.Slot, nil); err != nil {
				return Grant{}, err
			}
			continue
		}
		g := grant(accounts, r)
		if g.Allowed() {
			return g, t.addReservation(s, epoch, r, g.Max, accounts)
		}
		if again {
			return g, nil
		}
		if freed, err := t.settleDead(); err != nil || !freed {
			return g, err
		}
	}
}

// grant computes the amount that a request may use. It is pure.
func grant(accounts []lathe.Account, r Reservation) Grant {
	g := Grant{Max: r.Max}
	for i, a := range accounts {
		for _, m := range []struct {
			by                        Measure
			limit, spent, held, least int64
			given                     *int64
		}{
			{ByCost, int64(a.Limit.Cost), int64(a.Spent.Cost), int64(a.Reserved.Cost), int64(r.Min.Cost), (*int64)(&g.Max.Cost)},
			{ByTokens, a.Limit.Tokens, a.Spent.Tokens, a.Reserved.Tokens, r.Min.Tokens, &g.Max.Tokens},
			{BySteps, a.Limit.Steps, a.Spent.Steps, a.Reserved.Steps, r.Min.Steps, &g.Max.Steps},
		} {
			switch left := m.limit - m.spent; {
			case m.limit == 0:
			case left <= 0 || left < m.least:
				return Grant{Exceeded: &accounts[i], Measure: m.by}
			case left-m.held < max(m.least, 1):
				g.Pending = true
			default:
				*m.given = min(*m.given, left-m.held)
			}
		}
		if left := a.Limit.Time - a.Spent.Time; a.Limit.Time > 0 {
			if left <= 0 {
				return Grant{Exceeded: &accounts[i], Measure: ByTime}
			}
			if g.Time == 0 || left < g.Time {
				g.Time = left
			}
		}
	}
	if g.Pending {
		return Grant{Pending: true}
	}
	return g
}

// accountsOf reads the accounts of a session, with their limits and reservations: its own
// first, then those of its ancestors, the day's and the project's. Mine
// reports whether the slot itself has a reservation.
func accountsOf(q Reader, s *sessionRow, r Reservation) (out []lathe.Account, mine bool, err error) {
	out = []lathe.Account{{Kind: lathe.DayAccount, Key: r.Day, Limit: r.Budget.Day}, {Kind: lathe.ProjectAccount, Key: s.project, Limit: r.Budget.Project}}
	var chain []lathe.Account
	var own []*lathe.Spending
	err = q.Query(`WITH RECURSIVE up (id, parent, depth) AS (
			SELECT id, parent, 0 FROM session WHERE n = $1
			UNION ALL SELECT session.id, session.parent, depth + 1 FROM session JOIN up ON session.id = up.parent WHERE depth < 64
		) SELECT 'session', up.id, COALESCE(cost, 0), COALESCE(tokens, 0), COALESCE(steps, 0), COALESCE(time, 0), limits, depth
		FROM up LEFT JOIN account ON kind = 'session' AND key = up.id
		UNION ALL SELECT kind, key, cost, tokens, steps, time, limits, 0 FROM account WHERE kind = 'day' AND key = $2
		UNION ALL SELECT kind, key, cost, tokens, steps, time, limits, 0 FROM account WHERE kind = 'project' AND key = $3
		ORDER BY 8`, []any{s.n, r.Day, s.project}, func(row Row) error {
		a := lathe.Account{
			Kind: lathe.AccountKind(row.Text(0)), Key: row.Text(1),
			Spent: lathe.Spending{Cost: lathe.Money(row.Int(2)), Tokens: row.Int(3), Steps: row.Int(4), Time: time.Duration(row.Int(5)) * time.Millisecond},
		}
		switch a.Kind {
		case lathe.DayAccount:
			out[0].Spent = a.Spent
			return nil
		case lathe.ProjectAccount:
			out[1].Spent = a.Spent
			return nil
		case lathe.SessionAccount:
		}
		if slices.ContainsFunc(chain, func(o lathe.Account) bool { return o.Key == a.Key }) {
			return nil // parents in a circle
		}
		var limits *lathe.Spending
		if err := unpack(row, 6, &limits); err != nil {
			return lathe.Errorf(lathe.Internal, "cannot read the limits of %s: %w", a.Key, err)
		}
		chain, own = append(chain, a), append(own, limits)
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	limit(chain, own, r.Budget)
	out = append(chain, out...)
	mine, err = addReserved(q, out, s.n, r.Slot)
	return out, mine, err
}

// addReserved adds the reservations of running requests to the accounts.
func addReserved(q Reader, accounts []lathe.Account, session int64, slot string) (mine bool, err error) {
	err = q.Query(`SELECT session, slot, day, project, chain, cost, tokens, steps FROM reservation`, nil, func(row Row) error {
		mine = mine || row.Int(0) == session && row.Text(1) == slot
		day, project, chain := row.Text(2), row.Text(3), row.Text(4)
		held := lathe.Spending{Cost: lathe.Money(row.Int(5)), Tokens: row.Int(6), Steps: row.Int(7)}
		for i, a := range accounts {
			on := a.Kind == lathe.DayAccount && a.Key == day || a.Kind == lathe.ProjectAccount && a.Key == project ||
				a.Kind == lathe.SessionAccount && slices.Contains(strings.Fields(chain), a.Key)
			if on {
				accounts[i].Reserved = a.Reserved.Add(held)
			}
		}
		return nil
	})
	return mine, err
}

// limit sets the limits of sessions, the topmost last in the list. The topmost has its own,
// else the budget's. A child has its own, else its share of its parent's. Time is not
// divided, because a child works during its parent's time.
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

// addReservation stores a reservation.
func (t *txn) addReservation(s *sessionRow, epoch int64, r Reservation, given lathe.Spending, accounts []lathe.Account) error {
	var chain []string
	for _, a := range accounts {
		if a.Kind == lathe.SessionAccount {
			chain = append(chain, a.Key)
		}
	}
	return t.exec(`INSERT INTO reservation (session, slot, epoch, day, project, chain, cost, tokens, steps, sure_cost, sure_tokens)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)`,
		s.n, r.Slot, epoch, r.Day, s.project, strings.Join(chain, " "), int64(given.Cost), given.Tokens, given.Steps, int64(r.Certain.Cost), r.Certain.Tokens)
}

// spent adds the usage of a session, and frees its reservation.
func (t *txn) spent(s *sessionRow, f *lathe.Spent) error { return t.settle(s.n, f.Slot, f) }

// settle ends a reservation, if there is one, and adds the usage. For an interrupted request
// without a report it adds the certain cost.
func (t *txn) settle(session int64, slot string, f *lathe.Spent) error {
	var used lathe.Spending
	var day string
	var where ancestry
	if slot != "" {
		t.dirty = true
		err := t.tx.Query(`DELETE FROM reservation WHERE session = $1 AND slot = $2 RETURNING sure_cost, sure_tokens, day, project, chain`,
			[]any{session, slot}, func(row Row) error {
				used = lathe.Spending{Cost: lathe.Money(row.Int(0)), Tokens: row.Int(1)}
				day, where = row.Text(2), ancestry{strings.Fields(row.Text(4)), row.Text(3)}
				return nil
			})
		if err != nil {
			return err
		}
	}
	if f != nil {
		used = f.Used
	}
	if used.IsZero() {
		return nil
	}
	if where.ids == nil {
		var err error
		if where, err = t.chain(session); err != nil || where.ids == nil {
			return err
		}
		day = f.Day
	}
	return t.tally(where, day, used)
}

// tally adds to the accounts of a session, its ancestors, a day and a project.
func (t *txn) tally(where ancestry, day string, used lathe.Spending) error {
	var args []any
	add := func(kind lathe.AccountKind, key string, s lathe.Spending) {
		args = append(args, string(kind), key, int64(s.Cost), s.Tokens, s.Steps, s.Time.Milliseconds())
	}
	for i, id := range where.ids {
		add(lathe.SessionAccount, id, timed(used, i == 0))
	}
	all := timed(used, len(where.ids) == 1)
	add(lathe.DayAccount, day, all)
	add(lathe.ProjectAccount, where.project, all)
	return t.exec(`INSERT INTO account (kind, key, cost, tokens, steps, time) VALUES `+rowsOf(len(args)/6, 6)+`
		ON CONFLICT (kind, key) DO UPDATE SET cost = account.cost + excluded.cost, tokens = account.tokens + excluded.tokens,
			steps = account.steps + excluded.steps, time = account.time + excluded.time`, args...)
}

// rowsOf writes placeholders for rows of so many columns.
func rowsOf(rows, columns int) string {
	var b strings.Builder
	for i := range rows * columns {
		switch {
		case i == 0:
			b.WriteString("(")
		case i%columns == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteString(placeholder(i + 1))
	}
	b.WriteString(")")
	return b.String()
}

// timed omits time that would be counted twice, because the time of a parent includes that
// of its children.
func timed(s lathe.Spending, own bool) lathe.Spending {
	if !own {
		s.Time = 0
	}
	return s
}

// ancestry is a session's accounts: its own id, its ancestors and its project.
type ancestry struct {
	ids     []string // the session's own first
	project string
}

// chain reads the ancestry of a session. The depth limit ends a cycle of parents.
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

// settleDead ends the reservations of dead runners, and reports whether there were any.
func (t *txn) settleDead() (freed bool, err error) {
	type slot struct {
		session int64
		name    string
	}
	var dead []slot
	isAlive := ownersOf(t.store, t.tx).alive
	err = t.tx.Query(`SELECT reservation.session, slot, COALESCE(owner, ''), COALESCE(lease.epoch, 0) = reservation.epoch
		FROM reservation LEFT JOIN lease ON lease.session = reservation.session`, nil, func(row Row) error {
		alive, err := isAlive(row.Text(2))
		if !alive || row.Int(3) == 0 {
			dead = append(dead, slot{row.Int(0), row.Text(1)})
		}
		return err
	})
	for _, d := range dead {
		if err == nil {
			err = t.settle(d.session, d.name, nil)
		}
	}
	return len(dead) > 0, err
}

// closeAccount ends the reservations of a removed session. Its usage stays on the accounts
// above it.
func (t *txn) closeAccount(s *sessionRow) error {
	slots, err := all(t.tx, `SELECT slot FROM reservation WHERE session = $1`, []any{s.n}, firstText)
	for _, slot := range slots {
		if err == nil {
			err = t.settle(s.n, slot, nil)
		}
	}
	if err != nil {
		return err
	}
	return t.exec(`DELETE FROM account WHERE kind = 'session' AND key = $1`, string(s.id))
}

// SetLimits sets the limits of a session. The zero value removes them.
func (s *Store) SetLimits(ctx context.Context, id lathe.SessionID, limits lathe.Spending) error {
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

// Accounts returns the usage and limits of a session, its ancestors, the day and the project
// under a budget.
func (s *Store) Accounts(ctx context.Context, id lathe.SessionID, day string, b lathe.Budget) (out []lathe.Account, err error) {
	err = s.read(ctx, func(r Reader) error {
		row, err := sessionOf(r, id)
		if err != nil {
			return err
		}
		out, _, err = accountsOf(r, row, Reservation{Day: day, Budget: b})
		return err
	})
	return out, err
}
