package main

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/store/postgrestest"
)

// clusterServer is the PostgreSQL server of the tests of this binary, once one has asked for it.
var (
	clusterServer = sync.OnceValues(func() (*postgrestest.Server, error) {
		clusterStarted.Store(true)
		return postgrestest.Start(postgrestest.Options{})
	})
	clusterStarted atomic.Bool
)

// closeCluster ends that server.
func closeCluster() {
	if clusterStarted.Load() {
		if s, err := clusterServer(); err == nil {
			_ = s.Close()
		}
	}
}

// nodes is a cluster whose nodes share a database, a project and a scripted model.
type nodes struct {
	*testing.T
	model *modeltest.Server
	shop  string
	dsn   string
	env   []string // of nodes that start from now on
	args  []string
}

func startNodes(t *testing.T, script string) *nodes {
	t.Helper()
	if _, err := postgrestest.Find(); err != nil {
		t.Skip(err)
	}
	server, err := clusterServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	return &nodes{T: t, model: modeltest.Start(t, modeltest.MustParse(script)), shop: t.TempDir(), dsn: server.Fresh(t)}
}

// start starts a node whose only place is a directory.
func (n *nodes) start(place string) *serving {
	n.Helper()
	return n.startAs(place, "one password")
}

// startAs starts a node with a password of its own.
func (n *nodes) startAs(place, password string) *serving {
	n.Helper()
	port := freePort(n.T)
	env := append([]string{"LATHE_SERVER_PASSWORD=" + password, "LATHE_STORE=postgres://nobody@127.0.0.1:1/other"}, n.env...) // the flag wins
	args := []string{"--store", n.dsn, "--place", "shop=" + place, "--port", port, "--node-addr", "http://127.0.0.1:" + port, "--metrics"}
	s := startServe(n.T, serveHome(n.T, n.model.URL), env, append(args, n.args...)...)
	s.key = password
	return s
}

// session makes a session in the shop.
func (n *nodes) session(at *serving) string {
	n.Helper()
	var s lathe.Session
	at.ask(http.StatusOK, &s, "POST", "/session?directory="+n.shop, `{"title":"moves"}`)
	return string(s.ID)
}

func (n *nodes) prompt(at *serving, id string) {
	n.Helper()
	at.ask(http.StatusNoContent, nil, "POST", "/session/"+id+"/prompt_async", `{"parts":[{"type":"text","text":"begin"}]}`)
}

// effects are the lines that commands wrote into the shop.
func (n *nodes) effects() string {
	b, err := os.ReadFile(filepath.Join(n.shop, "effects"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		n.Fatal(err)
	}
	return string(b)
}

// answered waits at a node until the session is idle and holds its answer.
func (n *nodes) answered(at *serving, id, want string) {
	n.Helper()
	until(n.T, func() bool {
		return strings.Contains(at.ask(http.StatusOK, nil, "GET", "/session/"+id+"/message", ""), want)
	})
	var m lathe.Message
	if text := at.ask(http.StatusOK, &m, "POST", "/lathe/session/"+id+"/wait", ""); !strings.Contains(text, want) {
		n.Errorf("the newest answer is %s", text)
	}
}

const shopScript = `call bash {"command":"echo once >> effects; sleep 60"}
finish tool-calls
--
text "There."
finish stop
`

// A turn of a node that is killed continues on another one, and its command does not run again.
func TestCluster_Kill(t *testing.T) {
	n := startNodes(t, shopScript)
	a, b := n.start(n.shop), n.start(n.shop)
	defer b.end()
	id := n.session(a)
	a.ask(http.StatusNotFound, nil, "POST", "/lathe/session/"+id+"/wait", "") // it has no messages
	n.prompt(a, id)
	until(t, func() bool { return n.effects() != "" })
	a.kill()
	n.answered(b, id, "There.")
	if got := n.effects(); got != "once\n" {
		t.Errorf("the command left %q", got)
	}
	text := b.ask(http.StatusOK, nil, "GET", "/lathe/metrics", "")
	for _, want := range []string{`lathe_lease_takeovers_total 1`, `lathe_lease_renew_seconds_count [1-9]`, `lathe_commit_seconds_count [1-9]`} {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(text) {
			t.Errorf("there is no %s in %s", want, text)
		}
	}
}

// Clients see the sessions of a dead node busy until their turns end, however many there are.
func TestCluster_KillMany(t *testing.T) {
	const sessions = 24
	begin, end, _ := strings.Cut(shopScript, "--\n")
	n := startNodes(t, strings.Repeat(begin+"--\n", sessions)+strings.Repeat(end+"--\n", sessions))
	a, b := n.start(n.shop), n.start(n.shop)
	defer b.end()
	ids := map[lathe.SessionID]bool{}
	for range sessions {
		id := n.session(a)
		ids[lathe.SessionID(id)] = true
		n.prompt(a, id)
	}
	until(t, func() bool { return len(n.effects()) == sessions*len("once\n") })
	ended, all := make(chan struct{}), maps.Clone(ids)
	killed := false
	b.listen("/event?directory="+url.QueryEscape(n.shop), "", func(_ string, ev lathe.Event) bool {
		if !killed { // it is connected
			killed = true
			a.kill()
			go func() {
				defer close(ended)
				for id := range all {
					b.ask(http.StatusOK, nil, "POST", "/lathe/session/"+string(id)+"/wait", "")
				}
			}()
		}
		changed, ok := ev.Fact.(*lathe.StatusChanged)
		if !ok || changed.Status.Type != lathe.Idle {
			return true
		}
		text := b.ask(http.StatusOK, nil, "GET", "/session/"+string(changed.Session)+"/message", "")
		if !strings.Contains(text, "There.") {
			t.Errorf("session %s is idle before its end", changed.Session)
		}
		delete(ids, changed.Session)
		return len(ids) > 0
	})
	<-ended
	if got := len(n.effects()); got != sessions*len("once\n") {
		t.Errorf("the commands wrote %d bytes", got)
	}
}

// A caller that waits at a node with the place does not end the turn by that.
func TestCluster_KillWhileWaited(t *testing.T) {
	n := startNodes(t, shopScript)
	a, b := n.start(n.shop), n.start(n.shop)
	defer b.end()
	id := n.session(a)
	n.prompt(a, id)
	until(t, func() bool { return n.effects() != "" })
	answer := make(chan string, 1)
	go func() { answer <- b.answer("POST", "/lathe/session/"+id+"/wait", "") }()
	a.kill()
	if got := <-answer; !strings.Contains(got, "There.") {
		t.Errorf("the answer is %s", got)
	}
	n.answered(b, id, "There.")
}

// After the death of all nodes, the first one that starts continues their sessions.
func TestCluster_KillAll(t *testing.T) {
	n := startNodes(t, shopScript)
	a := n.start(n.shop)
	id := n.session(a)
	n.prompt(a, id)
	until(t, func() bool { return n.effects() != "" })
	a.kill()
	until(t, func() bool {
		cmd := command(t, a.home, "agents", "--json")
		cmd.Env = append(cmd.Env, "LATHE_STORE="+n.dsn)
		out, err := cmd.Output()
		return err == nil && !strings.Contains(string(out), `"running"`)
	})
	b := n.start(n.shop)
	defer b.end()
	n.answered(b, id, "There.")
	if got := n.effects(); got != "once\n" {
		t.Errorf("the command left %q", got)
	}
}

// Another node tells a session at rest that its command in the background ended with its node.
func TestCluster_KillBackground(t *testing.T) {
	n := startNodes(t, `call bash {"command":"echo once >> effects; sleep 60","background":true}
finish tool-calls
--
text "It runs."
finish stop
`)
	a, b := n.start(n.shop), n.start(n.shop)
	defer b.end()
	id := n.session(a)
	n.prompt(a, id)
	n.answered(a, id, "It runs.")
	until(t, func() bool { return n.effects() != "" })
	a.kill()
	until(t, func() bool {
		return strings.Contains(b.ask(http.StatusOK, nil, "GET", "/session/"+id+"/message", ""), "It ended with lathe")
	})
	if got := n.effects(); got != "once\n" {
		t.Errorf("the command left %q", got)
	}
}

// A node that is stopped does nothing once another one has its session, and nothing when it runs again. Who waited there
// for the answer gets that of the other node.
func TestCluster_Stop(t *testing.T) {
	n := startNodes(t, strings.ReplaceAll(shopScript, "echo once >> effects; sleep 60", "while :; do echo tick >> effects; sleep 0.02; done"))
	a, b := n.start(n.shop), n.start(n.shop)
	defer b.end()
	id := n.session(a)
	answer := make(chan string, 1)
	go func() {
		answer <- a.answer("POST", "/session/"+id+"/message", `{"parts":[{"type":"text","text":"begin"}]}`)
	}()
	until(t, func() bool { return n.effects() != "" })
	if err := a.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	n.answered(b, id, "There.")
	after := n.effects()
	before := b.ask(http.StatusOK, nil, "GET", "/session/"+id+"/message", "")
	if err := a.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return a.ask(http.StatusOK, nil, "GET", "/session/"+id+"/message", "") == before }) // it works again
	if got := <-answer; !strings.Contains(got, "There.") {
		t.Errorf("who waited at the stopped node gets %s", got)
	}
	if got := n.effects(); got != after {
		t.Errorf("the stopped node wrote %d more bytes after another one had its session", len(got)-len(after))
	}
	if got := b.ask(http.StatusOK, nil, "GET", "/session/"+id+"/message", ""); got != before {
		t.Errorf("the stopped node changed the session to %s", got)
	}
	a.end()
}

// A caller that waits while the database is away for longer than a lease lasts gets the answer of the turn that continues.
func TestCluster_DatabaseAway(t *testing.T) {
	n := startNodes(t, shopScript)
	server, err := postgrestest.Start(postgrestest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	n.dsn = server.Fresh(t)
	a := n.start(n.shop)
	defer a.end()
	id := n.session(a)
	answer := make(chan string, 1)
	go func() {
		answer <- a.answer("POST", "/session/"+id+"/message", `{"parts":[{"type":"text","text":"begin"}]}`)
	}()
	until(t, func() bool { return n.effects() != "" })
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	<-time.After(7 * time.Second) // a lease lasts 5
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	if got := <-answer; !strings.Contains(got, "There.") {
		t.Errorf("the answer is %s", got)
	}
	if got := n.effects(); got != "once\n" {
		t.Errorf("the command left %q", got)
	}
	n.answered(a, id, "There.")
}

// A node that is asked to end finishes its step. Another one continues with the next.
func TestCluster_Leave(t *testing.T) {
	n := startNodes(t, strings.ReplaceAll(shopScript, "sleep 60", "while [ ! -e go ]; do sleep 0.02; done; echo whole >> effects"))
	a, b := n.start(n.shop), n.start(n.shop)
	defer b.end()
	id := n.session(a)
	n.prompt(a, id)
	until(t, func() bool { return n.effects() != "" })
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { // it takes nothing new
		res, err := http.Get(a.url + "/lathe/ready")
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil && res.StatusCode == http.StatusServiceUnavailable
	})
	a.ask(http.StatusOK, nil, "GET", "/lathe/live", "")
	b.ask(http.StatusOK, nil, "GET", "/lathe/ready", "")
	if err := os.WriteFile(filepath.Join(n.shop, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, a.stderr)
	}
	n.answered(b, id, "There.")
	if got := n.effects(); got != "once\nwhole\n" {
		t.Errorf("the command left %q", got)
	}
	for _, r := range n.model.Requests() {
		if strings.Contains(string(r.Body), "broke off") {
			t.Error("the model was told of an interruption")
		}
	}
}

func TestServe_WrongCluster(t *testing.T) {
	home := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--store", "mysql://u:hunter2@h/db"}, "--store wants the URL of a PostgreSQL database"},
		{[]string{"serve", "--store", "postgres://u:hunter2@127.0.0.1:1/db"}, "cannot connect to the database"},
		{[]string{"serve", "--place", "shop"}, "--place wants NAME=PATH"},
		{[]string{"serve", "--place", "shop=relative"}, "--place wants NAME=PATH"},
		{[]string{"serve", "--place", "a=/x", "--place", "a=/y"}, "given twice"},
		{[]string{"serve", "--node-addr", "10.0.0.3"}, "--node-addr wants the URL"},
	} {
		cmd := command(t, home, append(c.args, "--no-auth")...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "hunter2") {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
}

// A check that looks for large values in the wrong place says where they may be.
func TestDB_CheckWithoutBucket(t *testing.T) {
	n := startNodes(t, "")
	at := n.start(n.shop)
	id := n.session(at)
	at.ask(http.StatusOK, nil, "POST", "/session/"+id+"/message", `{"noReply":true,"parts":[{"type":"text","text":"`+strings.Repeat("long ", 20_000)+`"}]}`)
	at.end()
	cmd := command(t, t.TempDir(), "db", "check")
	cmd.Env = append(cmd.Env, "LATHE_STORE="+n.dsn)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "cannot read the file of a large value") || !strings.Contains(string(out), "set LATHE_BLOBS and check again") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The database moves to a server and back, by the commands that people use.
func TestDB_CopyToServer(t *testing.T) {
	n := startNodes(t, "")
	home := t.TempDir()
	must(t, home, "import", sample(t, "first.json"))
	before := must(t, home, "session", "list", "--all", "--json")
	run := func(args ...string) string {
		t.Helper()
		cmd := command(t, home, args...)
		cmd.Env = append(cmd.Env, "LATHE_STORE="+n.dsn)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return string(out)
	}
	if out := run("db", "migrate"); !strings.Contains(out, " has schema ") {
		t.Errorf("migrate: %s", out)
	}
	if out := run("db", "copy", filepath.Join(home, "data", "lathe.db"), "LATHE_STORE"); !strings.Contains(out, "Copied and compared") {
		t.Errorf("copy: %s", out)
	}
	if got := run("session", "list", "--all", "--json"); got != before {
		t.Errorf("the server has %s, not %s", got, before)
	}
	if out := run("db", "check"); !strings.Contains(out, "intact") {
		t.Errorf("check: %s", out)
	}
	for _, args := range [][]string{{"db", "path"}, {"db", "stats"}, {"doctor"}} {
		if out := run(args...); !strings.Contains(out, "postgres://lathe@/postgres") {
			t.Errorf("%v does not name the server: %s", args, out)
		}
	}
	query := command(t, home, "db", "SELECT 1")
	query.Env = append(query.Env, "LATHE_STORE="+n.dsn)
	if out, err := query.CombinedOutput(); err == nil || !strings.Contains(string(out), "query it with psql") {
		t.Errorf("a query of the file while the database is on a server: %v %s", err, out)
	}
	run("db", "copy", "LATHE_STORE", filepath.Join(home, "back.db"))
	cmd := command(t, home, "session", "list", "--all", "--json")
	cmd.Env = append(cmd.Env, "LATHE_DB="+filepath.Join(home, "back.db"))
	if got, err := cmd.Output(); err != nil || string(got) != before {
		t.Errorf("the copy back has %s (%v)", got, err)
	}
}
