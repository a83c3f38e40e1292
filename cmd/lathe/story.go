package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/store"
)

// What is said in the demo, and by whom: a script of the model that the program carries with
// it. It speaks real HTTP on the loopback, so that everything between is real too.
const (
	demoTitle    = "How nothing gets lost"
	demoQuestion = "Read notes.txt, write down in answer.txt how you keep what we say, and tell me."
	demoNotes    = "A lathe turns; the work stays.\n"
	demoScript   = `
text "I look at the notes first."
call read {"path":"notes.txt"}
usage 412 31
finish tool-calls
--
call write {"path":"answer.txt","content":"What is settled is written; what is written is told.\n"}
usage 498 42 cache-read=412
finish tool-calls
--
text "Your prompt was on disk " "before I began. "
pause 150ms
text "Every change takes the next number " "in one transaction, "
pause 150ms
text "and only then is anyone told. " "While I speak you get pieces; "
pause 150ms
text "when I am done " "the whole is written once."
usage 561 58 cache-read=498
finish stop
`
)

// begin makes a session.
func (d *demo) begin(ctx context.Context) error {
	d.say("A conversation through the real engine and store, in a throw-away folder.")
	d.say("Events with a number are stored, those with a dot are told once. Numbers in between")
	d.say("are changes that nobody needs to be told: leases, what a growing text has so far.")
	d.scene(1, "A session begins")
	if err := d.open(ctx, lathe.Opt[lathe.Cursor]{}); err != nil {
		return err
	}
	if err := d.watch(func(lathe.Event) bool { return true }); err != nil { // listening before anything happens
		return err
	}
	var err error
	if d.session, err = d.engine.Create(ctx, d.project, engine.New{Title: demoTitle}); err != nil {
		return err
	}
	return d.watch(func(ev lathe.Event) bool {
		_, ok := ev.Fact.(*lathe.SessionCreated)
		return ok
	})
}

// prompt admits what the user says: it is on disk before anyone is told.
func (d *demo) prompt(ctx context.Context) error {
	d.scene(2, "A prompt is admitted: synced to disk before it is acknowledged")
	began := d.now()
	if _, err := d.engine.Submit(ctx, d.session.ID, engine.Prompt{Parts: []lathe.Part{{Body: &lathe.Text{Text: demoQuestion}}}}); err != nil {
		return err
	}
	took := d.now().Sub(began)
	err := d.watch(func(ev lathe.Event) bool {
		d.noted = lathe.Cursor{Seq: ev.Seq, Feed: d.engine.Feed()}
		return ev.Last
	})
	d.say("   on disk after %s; a reader notes its place, %s, and goes away", took.Round(10*time.Microsecond), d.noted)
	return err
}

// turn lets the agent work: it reads, asks before it writes, and answers.
func (d *demo) turn(ctx context.Context) error {
	d.scene(3, "A whole turn: the model streams, a tool reads, another asks before it writes")
	var replied error
	err := d.watch(func(ev lathe.Event) bool {
		if ask, ok := ev.Fact.(*lathe.PermissionAsked); ok {
			d.say("        you are asked: may it %s %s? You say: once.", ask.Permission, strings.Join(ask.Patterns, " "))
			replied = d.engine.Reply(ctx, ask.ID, lathe.Once, "")
		}
		status, ok := ev.Fact.(*lathe.StatusChanged)
		return replied != nil || ok && status.Status.Type == lathe.Idle
	})
	if err := errors.Join(err, replied); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(d.project, "answer.txt"))
	if err == nil {
		d.say("   answer.txt now says: %s", strings.TrimSpace(string(text)))
	}
	return err
}

// resume closes everything, opens it again and catches up.
func (d *demo) resume(ctx context.Context) error {
	d.scene(4, "After a restart the reader comes back and asks what changed since "+d.noted.String())
	before := d.engine.Store().Last()
	if err := d.close(); err != nil {
		return err
	}
	if err := d.open(ctx, lathe.Some(d.noted)); err != nil {
		return err
	}
	d.resuming = true
	rows := 0
	err := d.watch(func(ev lathe.Event) bool {
		switch ev.Fact.(type) {
		case *lathe.ServerConnected, *lathe.SessionIdle:
		default:
			rows++
		}
		return ev.Last
	})
	if err != nil {
		return err
	}
	d.say("   %d numbers had passed; it got %d rows as they are now, and the number to go on from", before-d.noted.Seq, rows)
	return nil
}

// fork copies the session and lists both.
func (d *demo) fork(ctx context.Context) error {
	d.scene(5, "A fork, and the list")
	if _, err := d.engine.Fork(ctx, d.project, d.session.ID, ""); err != nil {
		return err
	}
	all, err := d.engine.List(ctx, lathe.Query{Roots: true})
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := d.sessionTable(all, nil, false).write(&b, d.width()-3); err != nil {
		return err
	}
	d.show(b.String())
	return nil
}

// export writes the session out, and once more without what was said.
func (d *demo) export(ctx context.Context) error {
	d.scene(6, "The session as a file that OpenCode can read, and a copy fit for strangers")
	for _, way := range []struct {
		name   string
		change func(*lathe.Session, *lathe.Message)
	}{{"export", nil}, {"export --sanitize", sanitize}} {
		var size written
		if err := d.engine.Export(ctx, d.session.ID, &size, way.change); err != nil {
			return err
		}
		d.say("   %-18s %s bytes of JSON", way.name, count(size))
	}
	return nil
}

// written counts bytes.
type written int64

func (w *written) Write(b []byte) (int, error) {
	*w += written(len(b))
	return len(b), nil
}

// count shows the state of the database.
func (d *demo) count(ctx context.Context) error {
	d.scene(7, "The database")
	st, err := d.engine.Store().Stats(ctx)
	if err != nil {
		return err
	}
	if err := d.sound(ctx, d.engine.Store()); err != nil {
		return err
	}
	var b strings.Builder
	if err := pairs(&b, statsRows(st)); err != nil {
		return err
	}
	d.show(b.String())
	return nil
}

func (d *demo) sound(ctx context.Context, s *store.Store) error {
	found, err := s.Check(ctx)
	if err == nil && len(found) > 0 {
		err = lathe.Errorf(lathe.Internal, "the demo left a database that is not sound: %s", found[0])
	}
	return err
}
