//go:build unix

package main

import (
	"context"
	"strconv"
	"time"

	"github.com/lathe-agent/lathe"
)

// lifeSetting is a setting of PostgreSQL that carries the name of a process, such as n1.3, in its connections.
const lifeSetting = "torture.life"

// leaseLog makes the database itself record each change of an owner with its own clock, and each write to an answer by a
// process that does not own its session. No code of lathe is part of it.
const leaseLog = `
CREATE TABLE torture_node (name TEXT PRIMARY KEY, life TEXT NOT NULL);
INSERT INTO torture_node SELECT name, 'n1.1' FROM node;
CREATE FUNCTION torture_node() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO torture_node VALUES (NEW.name, current_setting('torture.life')) ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;
CREATE TRIGGER torture_node AFTER INSERT ON node FOR EACH ROW EXECUTE FUNCTION torture_node();

CREATE TABLE torture_lease (n BIGSERIAL PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(), session TEXT NOT NULL, owner TEXT, epoch BIGINT NOT NULL);
CREATE FUNCTION torture_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF TG_OP = 'INSERT' OR OLD.owner IS DISTINCT FROM NEW.owner OR OLD.epoch <> NEW.epoch THEN
		INSERT INTO torture_lease (session, owner, epoch) SELECT id, NEW.owner, NEW.epoch FROM session WHERE n = NEW.session;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER torture_lease AFTER INSERT OR UPDATE ON lease FOR EACH ROW EXECUTE FUNCTION torture_lease();

CREATE TABLE torture_foreign (session TEXT NOT NULL, life TEXT NOT NULL, holder TEXT NOT NULL);
CREATE FUNCTION torture_foreign(target BIGINT) RETURNS void LANGUAGE sql AS $$
	INSERT INTO torture_foreign SELECT session.id, current_setting('torture.life'), t.life
		FROM message m JOIN session ON session.n = m.session JOIN lease ON lease.session = m.session JOIN torture_node t ON t.name = lease.owner
		WHERE m.n = target AND m.role = 'assistant' AND t.life <> current_setting('torture.life')
$$;
CREATE FUNCTION torture_part() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM torture_foreign(NEW.message); RETURN NULL; END $$;
CREATE FUNCTION torture_message() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM torture_foreign(NEW.n); RETURN NULL; END $$;
CREATE TRIGGER torture_part AFTER INSERT OR UPDATE ON part FOR EACH ROW EXECUTE FUNCTION torture_part();
CREATE TRIGGER torture_message AFTER INSERT OR UPDATE ON message FOR EACH ROW EXECUTE FUNCTION torture_message();
`

// watchLeases starts the record, once the first node has made the tables.
func (c *cluster) watchLeases(ctx context.Context) error {
	if c.primary.Load() == nil {
		return nil
	}
	return c.primary.Load().exec(ctx, leaseLog, database)
}

// lease is a change of the owner of a session.
type lease struct {
	at    time.Time
	life  string // the process that took it, "" when it was released
	epoch int64
	given bool // released by a draining node in the middle of a turn, for another node
}

// givenOwner is the owner of such a session in the database.
const givenOwner = "-"

// leases returns the changes of all sessions, oldest first.
func (c *cluster) leases(ctx context.Context) (map[lathe.SessionID][]lease, error) {
	out := map[lathe.SessionID][]lease{}
	if c.primary.Load() == nil {
		return out, nil
	}
	rows, err := c.primary.Load().query(ctx, `SELECT session, extract(epoch FROM at), epoch, coalesce(life, owner, '')
		FROM torture_lease LEFT JOIN torture_node ON name = owner ORDER BY n`)
	for _, r := range rows {
		epoch, _ := strconv.ParseInt(r[2], 10, 64)
		at, _ := strconv.ParseFloat(r[1], 64)
		id := lathe.SessionID(r[0])
		one := lease{at: time.UnixMicro(int64(at * 1e6)), life: r[3], epoch: epoch}
		if one.given = one.life == givenOwner; one.given {
			one.life = ""
		}
		out[id] = append(out[id], one)
	}
	return out, err
}

// foreign holds that nobody wrote to an answer of a session that another process owned.
func (l *load) foreign(ctx context.Context) error {
	if l.primary.Load() == nil {
		return nil
	}
	rows, err := l.primary.Load().query(ctx, `SELECT session, life, holder, count(*) FROM torture_foreign GROUP BY 1, 2, 3`)
	for _, r := range rows {
		l.violation("%s: %s wrote %s times to its answers while %s had it", r[0], r[1], r[3], r[2])
	}
	return err
}

// orphans are the sessions with a turn whose owner is dead.
func (c *cluster) orphans(ctx context.Context) (map[string]bool, error) {
	rows, err := c.primary.Load().query(ctx, `SELECT session.id, coalesce(life, owner) FROM lease JOIN session ON session.n = lease.session LEFT JOIN torture_node ON name = owner
		WHERE owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM node WHERE node.name = owner AND until > now())`)
	out := map[string]bool{}
	for _, r := range rows {
		out[r[0]+" of "+r[1]] = true
	}
	return out, err
}
