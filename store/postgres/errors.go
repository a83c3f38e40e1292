package postgres

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lathe-agent/lathe"
)

// explain turns an error of PostgreSQL or of the connection into one that says what to do. It never shows the address
// of the server, which may have a password.
func explain(err error) error {
	var known *lathe.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return explainCode(failed)
	}
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &connect):
		return lathe.Errorf(lathe.Unavailable, "cannot connect to the database: %s; check its address and that the server runs", reason(err))
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &network):
		return err
	default:
		return lathe.Errorf(lathe.Unavailable, "the connection to the database was lost: %s; saved data is not lost", reason(err))
	}
}

// reason is the innermost cause of a network error, which has no address of ours in it but the server's.
func reason(err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return "the name of the server is not known"
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok && len(many.Unwrap()) > 0 {
		return reason(many.Unwrap()[0])
	}
	return err.Error()
}

// isOutOfMeans reports whether the server works, and cannot store anything now: its disk is full or fails.
func isOutOfMeans(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && len(failed.Code) == 5 && (failed.Code[:2] == "53" || failed.Code[:2] == "58")
}

// explainCode explains an error that the server sent.
func explainCode(e *pgconn.PgError) error {
	say := func(code lathe.Code, text string) error {
		return lathe.Errorf(code, "%s: %s (SQLSTATE %s)", text, e.Message, e.Code)
	}
	switch class := e.Code[:min(2, len(e.Code))]; {
	case e.Code == "28P01" || e.Code == "28000":
		return lathe.Errorf(lathe.Unavailable, "the database refused the sign-in; check user, password and pg_hba.conf (SQLSTATE %s)", e.Code)
	case e.Code == "42704" && e.Severity == "FATAL": // while connecting
		return say(lathe.Invalid, "the address of the database has a parameter that the server does not know; correct or remove it")
	case e.Code == "3D000":
		return say(lathe.Unavailable, "the database does not exist on this server; create it with createdb")
	case e.Code == "53100":
		return say(lathe.Unavailable, "the disk of the database server is full; free some space there and try again; saved data is not lost")
	case e.Code == "53300":
		return say(lathe.Unavailable, "the database has no free connections; raise max_connections or stop other clients")
	case e.Code == "25006":
		return say(lathe.Unavailable, "the database is read-only, perhaps a standby; use the address of the primary server")
	case e.Code == "55P03":
		return lathe.Errorf(lathe.Unavailable, "another node has been writing for more than %s; try again when it is done (SQLSTATE 55P03)", lockWait)
	case e.Code == "25P03":
		return say(lathe.Unavailable, "this node was stopped for longer than a transaction may wait; the change was undone")
	case e.Code == "57014": // nobody here cancels statements; a connection whose caller gave up is closed
		return say(lathe.Unavailable, "the database stopped a statement, by a time limit or its administrator; try again; saved data is not lost")
	case e.Code == "42501":
		return say(lathe.Unavailable, "the user of the database may not do this; grant it the tables, or run `lathe db migrate` as their owner")
	case e.Code == "54000":
		return say(lathe.Invalid, "a value is longer than the database can index")
	case class == "57" || class == "08" || class == "53" || class == "58":
		return say(lathe.Unavailable, "the database is not available; try again; saved data is not lost")
	case class == "40":
		return say(lathe.Unavailable, "the database undid a change because of a concurrent one; try again")
	case e.Code == "XX001" || e.Code == "XX002":
		return say(lathe.Internal, "the database is damaged: restore it from a backup")
	default:
		return lathe.Errorf(lathe.Internal, "unexpected PostgreSQL error; report this as a bug: %s (SQLSTATE %s)", strings.TrimSpace(e.Message), e.Code)
	}
}
