package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

// shop is a provider with two models, and a login that ends with a code.
type shop struct {
	mu   sync.Mutex // guards keys
	keys map[string]string
}

func (s *shop) Providers(_ context.Context, _ workspace.Place, all bool) ([]server.Provider, error) {
	one := server.Provider{ID: "shop", Name: "The Shop", Source: "api", Env: []string{"SHOP_KEY"}, Models: map[string]json.RawMessage{
		"old": json.RawMessage(`{"id":"old","providerID":"shop","name":"Old","release_date":"2024-01-01","status":"deprecated"}`),
		"new": json.RawMessage(`{"id":"new","providerID":"shop","name":"New","release_date":"2026-01-01","status":"active","family":"f",
"capabilities":{"reasoning":true,"attachment":true,"toolcall":true,"input":{"text":true,"image":true}},
"cost":{"input":3,"output":15,"cache":{"read":0.3,"write":3.75}},"limit":{"context":200000,"output":64000},
"variants":{"max":{},"own":{},"low":{},"high":{}}}`),
	}}
	if !all {
		return []server.Provider{one}, nil
	}
	return []server.Provider{one, {ID: "other", Name: "Another", Source: "custom", Env: []string{"OTHER_KEY"}}}, nil
}

func (s *shop) Defaults(context.Context, workspace.Place) (map[string]string, error) {
	return map[string]string{"shop": "new", "other": "x"}, nil
}

func (s *shop) Methods(context.Context, workspace.Place) (map[string][]lathe.LoginMethod, error) {
	return map[string][]lathe.LoginMethod{"shop": {{Type: "oauth", Label: "In the browser"}, {Type: "api", Label: "API key"}}}, nil
}

func (s *shop) Authorize(_ context.Context, _ workspace.Place, provider string, method int, _ map[string]string) (*lathe.Authorization, error) {
	if provider != "shop" {
		return nil, lathe.Errorf(lathe.NotFound, "no login method for %s", provider)
	}
	if method != 0 {
		return nil, nil
	}
	return &lathe.Authorization{URL: "https://shop.test/login", Method: "code", Instructions: "Type it."}, nil
}

func (s *shop) Integrations(context.Context, workspace.Place) ([]server.Integration, error) {
	return nil, nil
}

func (s *shop) Complete(_ context.Context, _ workspace.Place, _ string, _ int, code string) error {
	if code != "1234" {
		return lathe.Errorf(lathe.Denied, "this is not the code")
	}
	return nil
}

func (s *shop) CheckKey(_ context.Context, _ workspace.Place, provider, key string) (api.KeyCheck, error) {
	return api.KeyCheck{Verdict: "refused", Detail: provider + " " + key}, nil
}

func (s *shop) SetCredential(_ context.Context, provider string, raw json.RawMessage) error {
	var in struct{ Type, Key string }
	if err := json.Unmarshal(raw, &in); err != nil || in.Type != "api" {
		return fmt.Errorf("not a key: %s (%w)", raw, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[provider] = in.Key
	return nil
}

func (s *shop) RemoveCredential(_ context.Context, provider string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys[provider] == "" {
		return lathe.Errorf(lathe.NotFound, "there is no key")
	}
	delete(s.keys, provider)
	return nil
}

// toolServers are one that can be switched.
type toolServers struct {
	server.ToolServers // logins no client asks for here

	mu  sync.Mutex // guards off
	off map[string]bool
}

func (t *toolServers) ServerStatus(context.Context, workspace.Place) (map[string]server.ServerStatus, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.off["files"] {
		return map[string]server.ServerStatus{"files": {Status: "disabled"}}, nil
	}
	return map[string]server.ServerStatus{"files": {Status: "connected"}}, nil
}

func (t *toolServers) ConnectServer(_ context.Context, _ workspace.Place, name string) error {
	return t.set(name, false)
}

func (t *toolServers) DisconnectServer(_ context.Context, _ workspace.Place, name string) error {
	return t.set(name, true)
}

func (t *toolServers) set(name string, off bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.off[name] = off
	return nil
}

func TestClient_Catalogue(t *testing.T) {
	w := begin(t, "")
	c, ctx := w.dial(), t.Context()
	got, err := c.Providers(ctx, "")
	w.ok(err)
	want := []lathe.Provider{{ID: "shop", Name: "The Shop", Env: []string{"SHOP_KEY"}, Models: []lathe.Model{
		{
			Ref: lathe.ModelRef{Provider: "shop", Model: "new"}, Name: "New", Released: "2026-01-01", Reasoning: true, Images: true,
			Context: 200_000, Output: 64_000, InputPrice: 3, OutputPrice: 15, CacheReadPrice: 0.3, Variants: []string{"low", "high", "max", "own"},
		},
		{Ref: lathe.ModelRef{Provider: "shop", Model: "old"}, Name: "Old", Released: "2024-01-01", Status: "deprecated"},
	}}}
	if !reflect.DeepEqual(got.Connected, want) || !reflect.DeepEqual(got.Default, map[string]string{"shop": "new"}) {
		t.Errorf("got %+v, best %v", got.Connected, got.Default)
	}
	if len(got.All) != 2 || got.All[1].ID != "other" || got.All[0].Models != nil || got.Model == nil || *got.Model != want[0].Models[0].Ref {
		t.Errorf("all %+v, the config names %v", got.All, got.Model)
	}
	agents, err := c.Agents(ctx, "")
	w.ok(err)
	commands, err := c.Commands(ctx, "")
	w.ok(err)
	skills, err := c.Skills(ctx, "")
	w.ok(err)
	if len(agents) == 0 || agents[0].Name != "build" || len(commands)+len(skills) != 0 {
		t.Errorf("agents %+v, commands %v, skills %v", agents, commands, skills)
	}
}

func TestClient_Logins(t *testing.T) {
	w := begin(t, "")
	c, ctx := w.dial(), t.Context()
	ways, err := c.LoginMethods(ctx, "")
	w.ok(err)
	if want := []lathe.LoginMethod{{Type: "oauth", Label: "In the browser"}, {Type: "api", Label: "API key"}}; !slices.Equal(ways["shop"], want) {
		t.Errorf("ways %v", ways)
	}
	a, err := c.Authorize(ctx, "", "shop", 0)
	w.ok(err)
	if a != (lathe.Authorization{URL: "https://shop.test/login", Method: "code", Instructions: "Type it."}) {
		t.Errorf("to do: %+v", a)
	}
	if key, err := c.Authorize(ctx, "", "shop", 1); lathe.CodeOf(err) != lathe.Invalid {
		t.Errorf("a key needs %+v, %v", key, err)
	}
	if _, err := c.Authorize(ctx, "", "nobody", 0); err == nil || !strings.Contains(err.Error(), "no login method for nobody") {
		t.Errorf("nobody: %v", err)
	}
	if err := c.CompleteLogin(ctx, "", "shop", 0, "9"); err == nil || !strings.Contains(err.Error(), "this is not the code") {
		t.Errorf("a wrong code: %v", err)
	}
	w.ok(c.CompleteLogin(ctx, "", "shop", 0, "1234"))
	if got, err := c.CheckKey(ctx, w.dir, "shop", "sk-1"); err != nil || !got.IsRefused() || got.Detail != "shop sk-1" {
		t.Error(got, err)
	}
	w.ok(c.SetKey(ctx, "shop", "sk-1"))
	w.ok(c.RemoveKey(ctx, "shop"))
	if err := c.RemoveKey(ctx, "shop"); lathe.CodeOf(err) != lathe.NotFound {
		t.Errorf("a key that is gone: %v", err)
	}
}

func TestClient_ToolServers(t *testing.T) {
	w := begin(t, "")
	c, ctx := w.dial(), t.Context()
	is := func(want string) {
		t.Helper()
		all, err := c.ToolServers(ctx, "")
		if err != nil || len(all) != 1 || all[0].Name != "files" || all[0].Status != want {
			t.Errorf("servers %v, %v", all, err)
		}
	}
	is("connected")
	w.ok(c.ConnectTools(ctx, "", "files", false))
	is("disabled")
	w.ok(c.ConnectTools(ctx, "", "files", true))
	is("connected")
	if err := c.ConnectTools(ctx, "", "none", true); lathe.CodeOf(err) != lathe.NotFound {
		t.Errorf("a server that is none: %v", err)
	}
}

func TestClient_Place(t *testing.T) {
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git here")
	}
	w := begin(t, "")
	c, ctx := w.dial(), t.Context()
	if at, err := c.Info(ctx, w.data); err != nil || at.Branch != "" {
		t.Errorf("outside of git: %+v, %v", at, err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(w.dir, name)
		w.ok(os.MkdirAll(filepath.Dir(path), 0o700))
		w.ok(os.WriteFile(path, []byte(text), 0o600))
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command(program, append([]string{"-C", w.dir, "-c", "user.name=dev", "-c", "user.email=dev@example.test"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write("src/one.txt", "one\n")
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-qm", "first")
	git("checkout", "-qb", "work")
	write("src/two.txt", "two\n")
	git("add", ".")
	git("commit", "-qm", "second")
	write("src/one.txt", "one\nmore\n")

	at, err := c.Info(ctx, "")
	w.ok(err)
	if at.Directory != w.dir || at.Home != w.data || at.Branch != "work" || at.Version != "1.2.3" {
		t.Errorf("at %+v", at)
	}
	found, err := c.FindFiles(ctx, "", "one", 5)
	w.ok(err)
	if len(found) == 0 || found[0] != "src/one.txt" {
		t.Errorf("found %q", found)
	}
	for from, want := range map[api.Source]string{api.Uncommitted: "src/one.txt", api.SinceBranch: "src/one.txt src/two.txt"} {
		diffs, err := c.Changes(ctx, "", from)
		w.ok(err)
		var names []string
		for _, d := range diffs {
			names = append(names, d.File)
		}
		if slices.Sort(names); strings.Join(names, " ") != want {
			t.Errorf("%s: %q", from, names)
		}
	}
}

// A prompt that should wait does, and one that should steer goes into the turn that runs.
func TestClient_Delivery(t *testing.T) {
	for _, how := range []lathe.Delivery{lathe.Queue, lathe.Steer} {
		t.Run(string(how), func(t *testing.T) {
			w := begin(t, `
call ask {"permission":"look","patterns":["x"]}
finish tool-calls
--
text "Two."
finish stop
--
text "Three."
finish stop
`)
			c, ctx := w.dial(), t.Context()
			s, err := c.Create(ctx, "", lathe.NewSession{Title: "t"})
			w.ok(err)
			for ev, err := range c.Events(ctx, lathe.Scope{Session: s.ID}, lathe.Opt[lathe.Cursor]{}) {
				w.ok(err)
				if _, ok := ev.Fact.(*lathe.ServerConnected); ok {
					_, err := c.Submit(ctx, s.ID, text("first"))
					w.ok(err)
				}
				if f, ok := ev.Fact.(*lathe.PermissionAsked); ok {
					later := text("second")
					later.Delivery = how
					_, err := c.Submit(ctx, s.ID, later)
					w.ok(err)
					w.ok(c.Reply(ctx, f.ID, lathe.Once, ""))
					break
				}
			}
			_, err = c.Wait(ctx, s.ID)
			w.ok(err)
			want := map[lathe.Delivery]int{lathe.Queue: 3, lathe.Steer: 2}[how]
			if got := len(w.model.Requests()); got != want {
				t.Errorf("%d requests, not %d", got, want)
			}
			if _, err := c.Submit(ctx, s.ID, lathe.Prompt{Delivery: "soon", Parts: text("x").Parts}); lathe.CodeOf(err) != lathe.Invalid {
				t.Errorf("a delivery that is none: %v", err)
			}
		})
	}
}
