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
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/openai"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/git"
	"github.com/lathe-agent/lathe/workspace/terminal"
)

const password = "let me in"

// world is a real server on a real engine, with a scripted model behind it. It can be ended and
// begun again on the same port and database.
type world struct {
	*testing.T
	dir, data string
	model     *modeltest.Server
	address   string // of the port, once there is one
	engine    *engine.Engine
	end       func()
}

// begin starts a server whose model says what the script tells it to.
func begin(t *testing.T, script string) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: dir, data: t.TempDir(), model: modeltest.Start(t, modeltest.MustParse(script)), address: "127.0.0.1:0"}
	w.start()
	t.Cleanup(func() { w.end() })
	return w
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// start opens the engine and serves it.
func (w *world) start() {
	w.Helper()
	driver, err := sqlite.Open(context.Background(), sqlite.Options{Path: filepath.Join(w.data, "lathe.db")})
	w.ok(err)
	w.engine, err = engine.Open(context.Background(), engine.Options{
		Driver: driver, Blobs: filepath.Join(w.data, "blobs"), Outputs: filepath.Join(w.data, "outputs"), Version: "1.2.3", Setup: setup{w},
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

func newServer(w *world, password string) (*server.Server, *terminal.Set) {
	b := backend{w.engine}
	program, _ := exec.LookPath("git")
	terminals := terminal.Open(terminal.Options{Runner: sandbox.Open(sandbox.Config{}), IDs: lathe.NewIDs(), Publish: w.engine.Publish, Most: 1})
	return server.New(server.Backend{
		Feed: b, Instances: b, Sessions: b, Messages: b, Turns: b, Commands: b, Own: b, Asks: b, Settings: noSettings{b}, Projects: nil,
		Providers: &shop{keys: map[string]string{}}, ToolServers: &toolServers{off: map[string]bool{}}, Folders: server.Folders{Home: w.data},
		Git: git.New(git.Options{Program: program}), Terminals: terminals,
	}, server.Options{Directory: w.dir, Version: "1.2.3", Password: password, Heartbeat: time.Second}), terminals
}

// dial returns a client; with changes the options.
func (w *world) dial(with ...func(*client.Options)) *client.Client {
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

// setup offers one agent, the small tools of tooltest and the scripted model.
type setup struct{ *world }

func (s setup) Settings(context.Context, workspace.Place) (*engine.Settings, error) {
	rules := lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Allow}, {Permission: "look", Pattern: "*", Action: lathe.Ask}}
	return &engine.Settings{
		Agents:       []engine.Agent{{Agent: lathe.Agent{Name: "build", Mode: lathe.Primary, Rules: rules}}},
		DefaultModel: lathe.ModelRef{Provider: "test", Model: "big"},
		Tools:        tool.NewSet(tooltest.All()...),
	}, nil
}

func (s setup) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	at := model.Endpoint{Provider: ref.Provider, BaseURL: s.model.URL, Client: s.model.Client}
	return &engine.Model{
		Ref: ref, Name: ref.Model, Context: 200_000, Output: 8000,
		Target: model.Target{Provider: ref.Provider, Model: ref.Model},
		Client: openai.NewChat(at, lathe.NewIDs(), openai.Dialect{}),
	}, nil
}

// backend is an engine as a server wants it.
type backend struct{ *engine.Engine }

func (b backend) Open(ctx context.Context, dir string) (workspace.Place, lathe.Project, error) {
	inst, err := b.Instance(ctx, dir)
	return inst.Place, inst.Project, err
}

func (b backend) DisposeAll() {}

func (b backend) Create(ctx context.Context, dir string, in server.NewSession) (lathe.Session, error) {
	return b.Engine.Create(ctx, dir, engine.New(in))
}

func (b backend) Messages(ctx context.Context, id lathe.SessionID, before lathe.Place, limit int) ([]lathe.Message, lathe.Opt[lathe.Place], error) {
	page, err := b.Engine.Messages(ctx, id, before, limit)
	return page.Messages, lathe.Opt[lathe.Place]{Set: page.More, Value: page.Next}, err
}

func (b backend) UpdatePart(ctx context.Context, p lathe.Part) (lathe.Part, error) {
	return b.Engine.UpdatePart(ctx, p, "")
}

func (b backend) Submit(ctx context.Context, id lathe.SessionID, p server.Prompt) (lathe.Message, error) {
	return b.Engine.Submit(ctx, id, engine.Prompt{
		ID: p.ID, Agent: p.Agent, Model: p.Model, Variant: p.Variant, System: p.System, Tools: p.Tools, Format: p.Format,
		Delivery: p.Delivery, NoReply: p.NoReply, Parts: p.Parts,
	})
}

func (b backend) Shell(ctx context.Context, id lathe.SessionID, in server.ShellCommand) (lathe.Message, error) {
	return b.Engine.Shell(ctx, id, engine.Command(in))
}

func (b backend) Revert(ctx context.Context, id lathe.SessionID, m lathe.MessageID, p lathe.PartID) (lathe.Session, error) {
	u, err := b.Engine.Revert(ctx, id, engine.Undo{Message: m, Part: p})
	return u.Session, err
}

func (b backend) Unrevert(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	u, err := b.Engine.Unrevert(ctx, id, engine.Redo{})
	return u.Session, err
}

func (b backend) Undo(ctx context.Context, id lathe.SessionID, u server.Undo) (server.Undone, error) {
	done, err := b.Engine.Revert(ctx, id, engine.Undo{Message: u.Message, Part: u.Part, DryRun: u.DryRun})
	return server.Undone{Message: u.Message, Session: done.Session}, err
}

func (b backend) Redo(ctx context.Context, id lathe.SessionID, u server.Undo) (server.Undone, error) {
	done, err := b.Engine.Unrevert(ctx, id, engine.Redo{DryRun: u.DryRun})
	return server.Undone{Session: done.Session}, err
}

func (b backend) Interrupted(ctx context.Context) (ids []lathe.SessionID, err error) {
	all, err := b.Interruptions(ctx)
	for _, i := range all {
		ids = append(ids, i.Session)
	}
	return ids, err
}

func (b backend) Commands(ctx context.Context, at workspace.Place) ([]lathe.Command, error) {
	return b.Engine.Commands(ctx, at.Directory)
}

func (b backend) Skills(ctx context.Context, at workspace.Place) ([]lathe.Skill, error) {
	return b.Engine.Skills(ctx, at.Directory)
}

func (b backend) Command(ctx context.Context, id lathe.SessionID, in server.SlashCommand) (lathe.Message, error) {
	return b.Engine.Command(ctx, id, engine.CommandCall(in))
}

func (b backend) Compact(ctx context.Context, id lathe.SessionID, model *lathe.ModelRef, goOn bool) (lathe.Message, error) {
	return b.Engine.Compact(ctx, id, engine.CompactRequest{Model: model, Auto: goOn})
}

// noSettings are none but the agents of the engine; what else is asked of settings no client asks.
type noSettings struct{ backend }

func (n noSettings) Agents(ctx context.Context, at workspace.Place) ([]lathe.Agent, error) {
	return n.Engine.Agents(ctx, at.Directory)
}

func (noSettings) Tools(context.Context, workspace.Place) ([]server.Tool, error) { return nil, nil }

func (noSettings) Global(context.Context) (json.RawMessage, error) { return nil, nil }

func (noSettings) Change(context.Context, workspace.Place, json.RawMessage) error { return nil }

func (noSettings) ChangeGlobal(context.Context, json.RawMessage) error { return nil }

func (noSettings) Settings(context.Context, workspace.Place) (*config.Loaded, error) {
	return &config.Loaded{Config: config.Config{Raw: json.RawMessage(`{"model":"shop/new"}`)}}, nil
}
