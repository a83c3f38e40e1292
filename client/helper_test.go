package client_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/server/servertest"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/git"
	"github.com/lathe-agent/lathe/workspace/terminal"
)

const password = "let me in"

// fixture is a real server on a real engine, with a scripted model after it. It can be ended
// and started again on the same port and database.
type fixture struct {
	*testing.T
	dir, data string
	model     *modeltest.Server
	address   string // of the port, once there is one
	engine    *engine.Engine
	end       func()
}

// begin starts a server whose model says what the script tells it to.
func begin(t *testing.T, script string) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{T: t, dir: dir, data: t.TempDir(), model: modeltest.Start(t, modeltest.MustParse(script)), address: "127.0.0.1:0"}
	w.start()
	t.Cleanup(func() { w.end() })
	return w
}

func (w *fixture) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// start opens the engine and serves it.
func (w *fixture) start() {
	w.Helper()
	driver, err := sqlite.Open(context.Background(), sqlite.Options{Path: filepath.Join(w.data, "lathe.db")})
	w.ok(err)
	w.engine, err = engine.Open(context.Background(), engine.Options{
		Driver: driver, Blobs: filepath.Join(w.data, "blobs"), Outputs: filepath.Join(w.data, "outputs"), Version: "1.2.3", Environment: servertest.Setup{Server: w.model},
	})
	w.ok(err)
	var lc net.ListenConfig
	l, err := lc.Listen(w.Context(), "tcp", w.address)
	w.ok(err)
	w.address = l.Addr().String()
	s, terminals := newServer(w, password)
	h := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- h.Serve(l) }()
	e := w.engine
	w.end = func() { // at once, as a kill would
		_ = h.Close()
		<-served
		s.Close()
		_ = terminals.Close()
		w.ok(e.Close())
		w.end = func() {}
	}
}

func newServer(w *fixture, password string) (*server.Server, *terminal.Set) {
	b, terminals := newBackend(w)
	return newServerOn(w, b, password), terminals
}

func newServerOn(w *fixture, b server.Backend, password string) *server.Server {
	return server.New(b, server.Options{Directory: w.dir, Version: "1.2.3", Password: password, Heartbeat: time.Second})
}

func newBackend(w *fixture) (server.Backend, *terminal.Set) {
	b := servertest.Backend{Engine: w.engine}
	program, _ := exec.LookPath("git")
	terminals := terminal.Open(terminal.Options{Runner: sandbox.Open(sandbox.Config{}), IDs: lathe.NewIDs(), Publish: w.engine.Publish, Max: 1})
	return server.Backend{
		Engine: b, Instances: b, Config: noSettings{b},
		Providers: &shop{keys: map[string]string{}}, ToolServers: &toolServers{off: map[string]bool{}}, Folders: server.Folders{Home: w.data},
		Git: git.New(git.Options{Program: program}), Terminals: terminals,
	}, terminals
}

// dial returns a client; with changes the options.
func (w *fixture) dial(with ...func(*client.Options)) *client.Client {
	w.Helper()
	o := client.Options{Password: password, Directory: w.dir, Timeout: 20 * time.Second}
	for _, f := range with {
		f(&o)
	}
	c, err := client.New("http://"+w.address, o)
	w.ok(err)
	w.Cleanup(func() { _ = c.Close() })
	return c
}

// noSettings are none but the agents of the engine; what else is asked of settings no client asks.
type noSettings struct{ servertest.Backend }

func (noSettings) Tools(context.Context, workspace.Place) ([]server.Tool, error) { return nil, nil }

func (noSettings) GlobalConfig(context.Context) (json.RawMessage, error) { return nil, nil }

func (noSettings) UpdateConfig(context.Context, workspace.Place, json.RawMessage) error { return nil }

func (noSettings) UpdateGlobalConfig(context.Context, json.RawMessage) error { return nil }

func (noSettings) Config(context.Context, workspace.Place) (*config.Loaded, error) {
	return &config.Loaded{Config: config.Config{Raw: json.RawMessage(`{"model":"shop/new"}`)}}, nil
}
