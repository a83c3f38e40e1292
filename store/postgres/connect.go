package postgres

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lathe-agent/lathe"
)

const (
	// lockWait is how long a transaction waits for the other writers.
	lockWait = 15 * time.Second
	// idleWait is how long the server lets a transaction hold the lock of all writers without a statement: a node that
	// was stopped must not stop the others. A reader stops nobody, and may wait for a large value between two rows.
	idleWait       = 3 * time.Second
	idleReaderWait = time.Minute
	// answerWait is how long the server may take to answer, if it can be reached at all.
	answerWait = time.Minute
	// connectWait is how long one attempt to connect may take.
	connectWait = 5 * time.Second
)

// IsURL reports whether the place of a database is a PostgreSQL server.
func IsURL(s string) bool {
	return strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://")
}

// Redact is the address of a database without its password, for people. It holds only parts that it recognizes.
func Redact(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil || !IsURL(dsn) {
		return "postgres://…"
	}
	out := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.User != nil && u.User.Username() != "" {
		out.User = url.User(u.User.Username())
	}
	return out.String()
}

// parse reads the URL of a database. Its errors never show the URL, which may have a password anywhere.
func parse(dsn string) (*pgconn.Config, error) {
	bad := func(why string) error {
		return lathe.Errorf(lathe.Invalid, "the address of the database is not valid: %s; write postgres://user:password@host:5432/database", why)
	}
	if !IsURL(dsn) {
		return nil, bad("it does not begin with postgres://")
	}
	if _, err := url.Parse(dsn); err != nil {
		return nil, bad("it is not a URL (in a password, write special characters as %XX)")
	}
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return nil, bad("the server, a parameter or a certificate file in it cannot be used")
	}
	for name, value := range map[string]string{
		"lock_timeout":                        millis(lockWait),
		"statement_timeout":                   "0", // not that of the user or the database: a check or a copy takes its time
		"idle_in_transaction_session_timeout": millis(idleReaderWait),
		"client_encoding":                     "UTF8",
		"timezone":                            "UTC",
		"application_name":                    "lathe",
		"search_path":                         config.RuntimeParams["search_path"],
	} {
		if value != "" {
			config.RuntimeParams[name] = value
		}
	}
	config.ConnectTimeout = connectWait
	// A dead network is noticed in seconds. Another node has the sessions by then.
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 3 * time.Second, Interval: time.Second, Count: 3}, Control: limitUnacked}
	config.DialFunc = dialer.DialContext
	if len(config.Fallbacks) > 0 && config.ValidateConnect == nil && hasManyHosts(config) {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	return config, nil
}

// hasManyHosts reports whether the URL names several servers, of which one takes writes.
func hasManyHosts(c *pgconn.Config) bool {
	for _, f := range c.Fallbacks {
		if f.Host != c.Host || f.Port != c.Port {
			return true
		}
	}
	return false
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// connect opens one connection.
func (d *Driver) connect(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectWait)
	defer cancel()
	pg, err := pgconn.ConnectConfig(ctx, d.config)
	if err != nil {
		return nil, explain(err)
	}
	c := &conn{pg: pg, known: map[string]*pgconn.StatementDescription{}, wait: d.wait}
	if d.suffix == "" { // the first one
		return c, nil
	}
	now, err := timeline(ctx, c)
	if err == nil && now != d.suffix {
		d.moved.Store(true)
		err = errFailOver
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// reconnectEvery is the time between two attempts to reach a server that is away.
const reconnectEvery = 100 * time.Millisecond

// reconnect opens a connection, and waits for a server that is away for as long as this node has its lease: a restart
// of the server is a pause, not a failure.
func (d *Driver) reconnect(ctx context.Context) (*conn, error) {
	for {
		c, err := d.connect(ctx)
		if err == nil || lathe.CodeOf(err) != lathe.Unavailable || d.moved.Load() || d.node.fence.Left() < reconnectEvery {
			return c, err
		}
		pause := time.NewTimer(reconnectEvery)
		select {
		case <-pause.C:
			continue
		case <-d.ended:
		case <-ctx.Done():
		}
		pause.Stop()
		return nil, err
	}
}

// errFailOver is the error once another server has taken over. Numbers that this process told its readers may be given
// again there, so it must begin anew.
var errFailOver = lathe.Errorf(lathe.Unavailable, "the database moved to another server (failover); restart this node")

// timeline returns the suffix of the feed's name. A promoted standby has another one.
func timeline(ctx context.Context, c *conn) (string, error) {
	var name string
	err := c.query(ctx, `SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`, nil, func(r *row) error {
		if r.Null(0) {
			return lathe.Errorf(lathe.Unavailable, "the database server is a standby, which takes no writes; use the address of the primary server")
		}
		name = "-" + strings.TrimLeft(r.Text(0), "0")
		return nil
	})
	return name, explain(err)
}
