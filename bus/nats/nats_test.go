package nats_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	gonats "github.com/nats-io/nats.go"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/bus"
	"github.com/lathe-agent/lathe/bus/bustest"
	"github.com/lathe-agent/lathe/bus/nats"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/store/postgrestest"
)

func testLog(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
}

func metricOf(page, name string) string {
	m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(page)
	if m == nil {
		return "missing"
	}
	return m[1]
}

// A bus that other nodes follow is a bus.
func TestRelay_Bustest(t *testing.T) {
	s := serve(t, -1)
	bustest.Run(t, func(t *testing.T) bustest.Bus {
		r, err := nats.Open(nats.Options{URL: s.ClientURL()})
		if err != nil {
			t.Fatal(err)
		}
		b := bus.New(bus.Grown(r.Grew))
		if err := r.Start(bus.Node{Feed: "f", Name: t.Name(), Bus: b, Look: func() {}}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		if err := nats.Flush(r); err != nil {
			t.Fatal(err)
		}
		return relayed{b, r}
	})
}

// relayed is a bus that ends with its relay.
type relayed struct {
	*bus.Bus
	relay *nats.Relay
}

func (b relayed) Close() {
	b.Bus.Close()
	b.relay.Close()
}

// What a runner says on one node is read on another before it is stored.
func TestRelay_DeltasArrive(t *testing.T) { deltasArrive(t, t.TempDir()) }

func TestRelay_DeltasArriveOverPostgreSQL(t *testing.T) { deltasArrive(t, fresh(t)) }

func deltasArrive(t *testing.T, dir string) {
	s := serve(t, -1)
	one, two := join(t, dir, s.ClientURL(), ""), join(t, dir, s.ClientURL(), "")
	l := one.session("ses_1")
	r := two.read(lathe.Scope{Session: "ses_1"}, "ses_1")
	w := one.grow(l, "prt_1")
	r.waits("the open part", func(texts map[lathe.PartID]string) bool { _, ok := texts["prt_1"]; return ok })
	two.follows("ses_1")
	long := strings.Repeat("Grüße 😀 ", 20_000) // longer than a message
	for _, more := range []string{"Grüße", " 😀", long, "!\xf0\x9f", "\x98\x80 end"} {
		w.text.Append(more)
	}
	want := w.text.String()
	r.waits("all that was said", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] == want })
	all := two.read(lathe.Scope{}, "ses_1") // joins in the middle
	all.waits("all that was said", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] == want })
	w.checkpoint()
	w.text.Append(" more")
	r.waits("what came after a checkpoint", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] == want+" more" })
	w.settle()
	r.waits("the settled part", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] == w.text.String() })
	if one.value("lathe_bus_connected") != "1" || two.value("lathe_bus_deltas_applied_total") == "0" {
		t.Errorf("the figures do not show it")
	}
}

// lossy stands between the nodes of two names on one server. It drops, repeats and reorders what it passes on.
func lossy(t *testing.T, url, from, to string, random *rand.Rand) {
	t.Helper()
	c := dial(t, url)
	var mu sync.Mutex
	var late []*gonats.Msg
	pass := func(m *gonats.Msg) {
		_ = c.Publish("lathe."+to+strings.TrimPrefix(m.Subject, "lathe."+from), m.Data)
	}
	_, err := c.Subscribe("lathe."+from+".>", func(m *gonats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		switch random.IntN(10) {
		case 0, 1: // lost
		case 2: // repeated
			pass(m)
			pass(m)
		case 3, 4: // later
			late = append(late, m)
		default:
			pass(m)
		}
		if len(late) > 0 && random.IntN(3) == 0 {
			i := random.IntN(len(late))
			pass(late[i])
			late = append(late[:i], late[i+1:]...)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
}

// Every reader ends with what the store has, and has the text of an open part as far as it is stored, whatever happens
// to messages. LATHE_SEED is not read here: the seed of a failure is in the name of its test.
func TestRelay_LossyNetwork(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			lossyNetwork(t, seed, t.TempDir())
		})
	}
}

func TestRelay_LossyNetworkOverPostgreSQL(t *testing.T) { lossyNetwork(t, 5, fresh(t)) }

func lossyNetwork(t *testing.T, seed uint64, dir string) {
	random := rand.New(rand.NewPCG(seed, 26))
	s := serve(t, -1)
	lossy(t, s.ClientURL(), "here", "there", rand.New(rand.NewPCG(seed, 27)))
	one, two := join(t, dir, s.ClientURL(), "here"), join(t, dir, s.ClientURL(), "there")
	play := &play{t: t, one: one, random: random, want: map[lathe.PartID]string{}}
	ids := []lathe.SessionID{"ses_1", "ses_2"}
	for _, id := range ids {
		play.leases = append(play.leases, one.session(id))
	}
	readers := []*reader{two.read(lathe.Scope{}, ids...), two.read(lathe.Scope{Directory: "/d"}, ids...), one.read(lathe.Scope{}, ids...)}
	for round := range 5 {
		play.run(60)
		readers = append(readers, two.read(lathe.Scope{Session: ids[round%2]}, ids[round%2]))
		play.checkpoint()
		for i, r := range readers {
			r.waits(fmt.Sprintf("reader %d after round %d", i, round), func(texts map[lathe.PartID]string) bool { return play.fits(texts, r) })
		}
	}
	play.settle()
	for i, r := range readers {
		r.waits(fmt.Sprintf("reader %d in the end", i), func(texts map[lathe.PartID]string) bool { return play.fits(texts, r) })
	}
	eventually(t, "no texts are left", func() bool { return two.bus.Texts() == 0 })
}

// fresh makes a database in PostgreSQL.
func fresh(t *testing.T) string {
	t.Helper()
	s, err := postgrestest.Start(postgrestest.Options{})
	if errors.Is(err, postgrestest.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.Fresh(t)
}

// play writes at random.
type play struct {
	t      *testing.T
	one    *node
	random *rand.Rand
	leases []store.Lease
	open   []*writer
	parts  int
	want   map[lathe.PartID]string // settled parts
}

func (p *play) run(steps int) {
	for range steps {
		switch n := p.random.IntN(20); {
		case n == 0 || len(p.open) == 0:
			p.parts++
			l := p.leases[p.random.IntN(len(p.leases))]
			p.open = append(p.open, p.one.grow(l, lathe.PartID(fmt.Sprintf("prt_%d", p.parts))))
		case n == 1:
			i := p.random.IntN(len(p.open))
			w := p.open[i]
			p.open = append(p.open[:i], p.open[i+1:]...)
			if p.random.IntN(3) == 0 {
				w.remove()
				continue
			}
			w.settle()
			p.want[w.part.ID] = w.text.String()
		case n == 2:
			p.open[p.random.IntN(len(p.open))].checkpoint()
		default:
			w := p.open[p.random.IntN(len(p.open))]
			w.text.Append([]string{"a", " wörd", "😀", "\xf0\x9f", "\x98\x80"}[p.random.IntN(3)])
		}
	}
}

func (p *play) checkpoint() {
	for _, w := range p.open {
		w.checkpoint()
	}
}

func (p *play) settle() {
	for _, w := range p.open {
		w.settle()
		p.want[w.part.ID] = w.text.String()
	}
	p.open = nil
}

// fits reports whether a reader has all parts of its sessions as they are stored, and no others.
func (p *play) fits(texts map[lathe.PartID]string, r *reader) bool {
	n := 0
	for _, w := range p.open {
		if r.seen[w.lease.Session] != nil {
			n++
			if got, ok := texts[w.part.ID]; !ok || got != w.text.String() {
				return false
			}
		}
	}
	for id, text := range p.want {
		got, ok := texts[id]
		if ok {
			n++
		}
		if ok && got != text || !ok && len(r.seen) == len(p.leases) {
			return false
		}
	}
	return n == len(texts)
}

// What a hostile program sends on the bus changes nothing that is stored, is bounded, and is corrected at the next
// checkpoint at the latest.
func TestAttack_HostileMessages(t *testing.T) {
	s, dir := serve(t, -1), t.TempDir()
	one, two := join(t, dir, s.ClientURL(), ""), join(t, dir, s.ClientURL(), "")
	l, other := one.session("ses_1"), one.session("ses_2")
	r := two.read(lathe.Scope{}, "ses_1", "ses_2")
	own := two.session("ses_3")
	two.follows("ses_1", "ses_2", "ses_3")
	mine := two.grow(own, "prt_3")
	mine.text.Append("mine")
	w, x := one.grow(l, "prt_1"), one.grow(other, "prt_2")
	w.text.Append("Hello")
	x.text.Append("World")
	r.waits("both parts", func(texts map[lathe.PartID]string) bool {
		return texts["prt_1"] == "Hello" && texts["prt_2"] == "World"
	})
	c := dial(t, s.ClientURL())
	subject := "lathe." + one.store.Feed() + "."
	send := func(to, data string) {
		if err := c.Publish(subject+to, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{
		"", "x", "\n", "msg_ses_1 prt_1 5", "msg_ses_1 prt_1 -1\nx", "msg_ses_1 prt_1 99999999999999999999\nx", "msg_ses_1 prt_1 5\n\xff\xfe",
		"msg_ses_1 prt_1 5\n", "msg_ses_1 prt_1 5\n" + strings.Repeat("x", 900<<10), "msg_ses_1  5\nx", strings.Repeat("m", 500) + " prt_1 5\nx",
		"msg_other prt_1 5\nwrong message", "msg_ses_2 prt_2 5\nwrong session", "msg_ses_3 prt_3 4\nnot yours", "msg_ses_1 prt_1 2\nXXX", "msg_ses_1 prt_1 0\nHello",
	} {
		send("d.ses_1", bad)
	}
	for i := range 2000 { // parts that do not exist, and gaps that never close
		send("d.ses_1", fmt.Sprintf("msg_ses_1 prt_none_%d 7\nx", i))
		send("d.ses_1", fmt.Sprintf("msg_ses_1 prt_1 %d\nx", 1000+i))
		send("c", "look "+strings.Repeat("x", i))
		send("w."+"nobody", "")
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	w.text.Append(", all")
	w.checkpoint() // on a busy machine the flood may have cost the words; what is stored heals that
	r.waits("the words after the attack", func(texts map[lathe.PartID]string) bool {
		return strings.HasPrefix(texts["prt_1"], "Hello, all") && texts["prt_2"] == "World"
	})
	send("d.ses_1", "msg_ses_1 prt_1 10\n and a lie") // the positive control: it fits, so it is shown
	r.waits("the lie", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] == "Hello, all and a lie" })
	w.text.Append(" of you")
	w.checkpoint()
	r.waits("the truth", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] == "Hello, all of you" })
	w.settle()
	if p, err := two.store.Part(context.Background(), "ses_1", "msg_ses_1", "prt_1"); err != nil || p.GrowingText() != "Hello, all of you" {
		t.Errorf("stored is %q (%v)", p.GrowingText(), err)
	}
	if got := mine.text.String(); got != "mine" {
		t.Errorf("a text of this node became %q", got)
	}
	if held, parts := nats.Held(two.relay); held > nats.MaxHeldBytes*nats.MaxHeldParts || parts > nats.MaxHeldParts {
		t.Errorf("%d bytes of %d parts wait", held, parts)
	}
}

// Text that an attacker adds is limited.
func TestAttack_EndlessText(t *testing.T) {
	b := bus.New()
	p := lathe.Part{ID: "prt_1", Session: "ses_1", Message: "msg_1", Body: &lathe.Text{Time: &lathe.Span{Start: 1}}}
	b.Publish(lathe.Event{Seq: 1, Last: true, Session: "ses_1", Fact: &lathe.PartChanged{Part: p}})
	d := bus.Delta{Session: "ses_1", Message: "msg_1", Part: "prt_1", Text: strings.Repeat("x", 60<<10)}
	n := 0
	for b.Extend(d) == bus.Applied {
		d.Offset += len(d.Text)
		n++
	}
	if n < 10 || b.Text("prt_1").Len() > 1<<20 {
		t.Fatalf("%d deltas were applied, %d bytes", n, b.Text("prt_1").Len())
	}
	if !b.Text("prt_1").Follow(strings.Repeat("x", 500<<10)) || b.Extend(d) != bus.Applied {
		t.Error("what is stored makes no room")
	}
}

// Without a server readers get everything from the store, and nothing late when it is back.
func TestRelay_ServerGoneAndBack(t *testing.T) {
	s, dir := serve(t, -1), t.TempDir()
	url, port := s.ClientURL(), s.Addr().(*net.TCPAddr).Port
	one, two := join(t, dir, url, ""), join(t, dir, url, "")
	l := one.session("ses_1")
	r := two.read(lathe.Scope{}, "ses_1")
	w := one.grow(l, "prt_1")
	two.follows("ses_1")
	w.text.Append("before")
	r.waits("the words", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] == "before" })
	s.Shutdown()
	s.WaitForShutdown()
	connected(t, false, one, two)
	w.text.Append(", while it is gone")
	w.checkpoint()
	r.waits("what was stored", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] == "before, while it is gone" })
	w.text.Append(", unsent")
	if one.value("lathe_bus_connected") != "0" {
		t.Error("the figures say that it is connected")
	}
	sent := one.value("lathe_bus_deltas_sent_total")
	serve(t, port)
	connected(t, true, one, two)
	if got := one.value("lathe_bus_deltas_sent_total"); got != sent {
		t.Errorf("%s deltas were sent late, want %s", got, sent)
	}
	w.text.Append(", back")
	w.checkpoint()
	r.waits("everything", func(texts map[lathe.PartID]string) bool {
		return texts["prt_1"] == "before, while it is gone, unsent, back"
	})
	two.follows("ses_1")
	w.text.Append(", live")
	r.waits("the words again", func(texts map[lathe.PartID]string) bool { return strings.HasSuffix(texts["prt_1"], ", live") })
}

// eventually waits for a state that nothing tells of.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		if <-tick.C; time.Now().After(deadline) {
			t.Fatalf("%s: it never happens", what)
		}
	}
}

func connected(t *testing.T, want bool, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		eventually(t, fmt.Sprint("connected is ", want), func() bool { return n.relay.Connected() == want })
	}
}

// follows waits until a node gets the deltas of sessions.
func (n *node) follows(sessions ...lathe.SessionID) {
	n.t.Helper()
	for _, id := range sessions {
		n.relay.Follow(id)
		eventually(n.t, "the node follows "+string(id), func() bool { return nats.Subscribed(n.relay, id) })
	}
}

// Nodes start without a server, and find it later.
func TestRelay_ServerComesLater(t *testing.T) {
	s := serve(t, -1)
	port := s.Addr().(*net.TCPAddr).Port
	s.Shutdown()
	s.WaitForShutdown()
	dir := t.TempDir()
	one, two := join(t, dir, s.ClientURL(), ""), join(t, dir, s.ClientURL(), "")
	l := one.session("ses_1")
	r := two.read(lathe.Scope{Session: "ses_1"}, "ses_1")
	w := one.grow(l, "prt_1")
	w.text.Append("stored")
	w.checkpoint()
	r.waits("what is stored", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] == "stored" })
	serve(t, port)
	connected(t, true, one, two)
	two.follows("ses_1")
	w.text.Append(" and more")
	r.waits("the words", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] == "stored and more" })
}

// log collects lines.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

// A server that is not there when a node starts, or that refuses it, is logged once and without its password.
func TestRelay_LogsAServerThatIsAway(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, Username: "ann", Password: "right", NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the NATS server did not start")
	}
	for at, says := range map[string]string{"127.0.0.1:1": "connection refused", s.Addr().String(): "Authorization Violation"} {
		lines := &log{}
		r, err := nats.Open(nats.Options{URL: "nats://ann:hunter2@" + at, Log: slog.New(slog.NewTextHandler(lines, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(bus.Node{Feed: "f", Name: "n", Bus: bus.New(), Look: func() {}}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a warning about "+at, func() bool { return lines.count("level=WARN") > 0 })
		r.Close()
		if lines.count("level=WARN") != 1 || lines.count("cannot be reached") == 0 || lines.count("hunter2") != 0 || lines.count(says) == 0 {
			t.Errorf("%s: %s", at, lines.text.String())
		}
	}
}

// Two clusters on one server never mix, even with the same session.
func TestAttack_TwoClusters(t *testing.T) {
	s := serve(t, -1)
	here, there := t.TempDir(), t.TempDir()
	one, two := join(t, here, s.ClientURL(), ""), join(t, here, s.ClientURL(), "")
	far := join(t, there, s.ClientURL(), "")
	l, m := one.session("ses_1"), far.session("ses_1")
	r := two.read(lathe.Scope{}, "ses_1")
	two.follows("ses_1")
	w, x := one.grow(l, "prt_1"), far.grow(m, "prt_1")
	x.text.Append("from the other cluster")
	w.text.Append("from here")
	r.waits("the words", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] != "" })
	far.relay.Wake("nobody")
	w.settle()
	r.waits("the settled part", func(texts map[lathe.PartID]string) bool { return texts["prt_1"] == "from here" })
	if got := two.value("lathe_bus_refused_total"); got != "0" {
		t.Errorf("%s messages of the other cluster came here", got)
	}
}

// A node is woken by its name.
func TestRelay_Wake(t *testing.T) {
	s := serve(t, -1)
	start := func(name string, look func()) *nats.Relay {
		r, err := nats.Open(nats.Options{URL: s.ClientURL()})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(bus.Node{Feed: "f", Name: name, Bus: bus.New(), Look: look}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		if err := nats.Flush(r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	looked := make(chan struct{}, 100)
	start("node *.> 1", func() { looked <- struct{}{} })
	<-looked // when it connects
	from := start("2", func() {})
	for range 2 {
		from.Wake("node *.> 1")
		select {
		case <-looked:
		case <-time.After(patience):
			t.Fatal("it was not woken")
		}
	}
}

func TestOpen_Refuses(t *testing.T) {
	for _, url := range []string{"", "localhost", "http://h:4222", "nats://", "nats://user:secret@h:4222/path", "nats://h:1?x=1", "nats://h,http://i", "nats://user:se cret@%zz"} {
		_, err := nats.Open(nats.Options{URL: url})
		if lathe.CodeOf(err) != lathe.Invalid || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, url := range []string{"nats://h:4222", "tls://u:p@h", "nats://a:1, nats://b:2", "ws://h:80"} {
		if _, err := nats.Open(nats.Options{URL: url}); err != nil {
			t.Errorf("%q: %v", url, err)
		}
	}
}
