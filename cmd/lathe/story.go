package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/store"
)

// What is said in the demo. The answer streams in pieces of so many words.
const (
	demoTitle    = "How nothing gets lost"
	demoQuestion = "Read notes.txt. How do you keep what we say?"
	demoNotes    = "A lathe turns; the work stays.\n"
	demoAnswer   = "Your prompt was on disk before I began. Every change takes the next number in one " +
		"transaction, and only then is anyone told. While I speak you get pieces; when I am done the " +
		"whole is written once. Whoever was away asks for what changed since their last number."
	demoWords = 7
	demoPause = 100 * time.Millisecond
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
	d.asked = lathe.Message{
		ID: d.ids.Message(), Session: d.session.ID, Created: lathe.TimeOf(d.now()),
		Said: &lathe.User{Agent: "build", Model: demoModel()},
	}
	d.asked.Parts = []lathe.Part{d.part(d.asked.ID, &lathe.Text{Text: demoQuestion})}
	began := d.now()
	events, err := d.engine.Store().Admit(ctx, d.session.ID, lathe.Prompt{Message: d.asked, Digest: demoQuestion})
	took := d.now().Sub(began)
	if err := d.watchAll(events, err); err != nil {
		return err
	}
	d.noted = lathe.Cursor{Seq: d.engine.Store().Last(), Feed: d.engine.Feed()}
	d.say("   on disk after %s; a reader notes its place, %s, and goes away", took.Round(10*time.Microsecond), d.noted)
	return nil
}

// answer writes what a model would: under the lease, fact by fact, the text in pieces.
func (d *demo) answer(ctx context.Context) error {
	d.scene(3, "An answer streams in, written by the one who holds the session's lease")
	reply := lathe.Message{
		ID: d.ids.Message(), Session: d.session.ID, Created: lathe.TimeOf(d.now()),
		Said: &lathe.Assistant{
			Parent: d.asked.ID, Model: demoModel(), Agent: "build", Mode: "build",
			Path: lathe.Paths{Cwd: d.project, Root: d.project},
		},
	}
	text := d.part(reply.ID, &lathe.Text{Time: &lathe.Span{Start: lathe.TimeOf(d.now())}})
	err := d.leased(ctx, func(commit commit) error {
		return d.work(commit, reply, text)
	})
	if err != nil {
		return err
	}
	words := strings.SplitAfter(demoAnswer, " ")
	for i := 0; i < len(words); i += demoWords {
		if err := pause(ctx, demoPause); err != nil {
			return err
		}
		piece := strings.Join(words[i:min(i+demoWords, len(words))], "")
		if text, err = d.engine.UpdatePart(ctx, text, piece); err != nil {
			return err
		}
		err := d.watch(func(ev lathe.Event) bool {
			_, ok := ev.Fact.(*lathe.PartDelta)
			return ok
		})
		if err != nil {
			return err
		}
	}
	return d.leased(ctx, func(commit commit) error { return d.settle(commit, reply, text) })
}

// commit writes facts and shows their events.
type commit func(facts ...lathe.Fact) error

// leased runs f as the one writer of the session.
func (d *demo) leased(ctx context.Context, f func(commit) error) error {
	s := d.engine.Store()
	lease, err := s.Take(ctx, d.session.ID)
	if err != nil {
		return err
	}
	err = f(func(facts ...lathe.Fact) error { return d.watchAll(s.Commit(ctx, lease, facts...)) })
	if e := s.Release(context.WithoutCancel(ctx), lease); err == nil {
		err = e
	}
	return err
}

// work opens the answer, reads a file as a tool would, and begins to speak.
func (d *demo) work(commit commit, reply lathe.Message, text lathe.Part) error {
	input := json.RawMessage(`{"filePath":"notes.txt"}`)
	pending := &lathe.ToolCall{CallID: d.ids.CallID(), Tool: "read", State: &lathe.Pending{}}
	running, err := pending.Run(input, lathe.TimeOf(d.now()))
	if err != nil {
		return err
	}
	content, err := os.ReadFile(d.notes())
	if err != nil {
		return err
	}
	done, err := running.Complete(lathe.Completed{Output: string(content), Title: "notes.txt", End: lathe.TimeOf(d.now())})
	if err != nil {
		return err
	}
	call := d.part(reply.ID, pending)
	with := func(b lathe.Body) *lathe.PartChanged {
		call.Body = b
		return &lathe.PartChanged{Part: call}
	}
	for _, facts := range [][]lathe.Fact{
		{&lathe.Promote{Session: d.session.ID, Message: d.asked.ID}, &lathe.MessageChanged{Info: reply}},
		{&lathe.PartChanged{Part: d.part(reply.ID, &lathe.StepStart{})}, with(pending)},
		{with(running)},
		{with(done)},
		{&lathe.PartChanged{Part: text}},
	} {
		if err := commit(facts...); err != nil {
			return err
		}
	}
	return nil
}

// settle writes the text whole and counts what was used.
func (d *demo) settle(commit commit, reply lathe.Message, text lathe.Part) error {
	used := lathe.Tokens{Input: 1280, Output: int64(len(demoAnswer) / 4)}
	now := lathe.TimeOf(d.now())
	said := *text.Body.(*lathe.Text)
	said.Time = &lathe.Span{Start: said.Time.Start, End: now}
	text.Body = &said
	answered := *reply.Said.(*lathe.Assistant)
	answered.Completed, answered.Tokens, answered.Finish = now, used, "stop"
	reply.Said = &answered
	return commit(
		&lathe.PartChanged{Part: text},
		&lathe.PartChanged{Part: d.part(reply.ID, &lathe.StepFinish{Reason: "stop", Tokens: used})},
		&lathe.MessageChanged{Info: reply},
	)
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
	if err := d.sessionTable(all, false).write(&b, d.width()-3); err != nil {
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

func (d *demo) part(message lathe.MessageID, body lathe.Body) lathe.Part {
	return lathe.Part{ID: d.ids.Part(), Session: d.session.ID, Message: message, Body: body}
}

func demoModel() lathe.ModelRef { return lathe.ModelRef{Provider: "demo", Model: "words"} }
