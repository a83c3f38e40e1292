package config

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/lathe-agent/lathe"
)

// A mode in short form leaves alone what others say of the sandbox: a project that asks for
// read-only does not switch the network on again.
func TestSandbox_Forms(t *testing.T) {
	no := false
	for _, c := range []struct {
		name, user, project string
		want                Sandbox
	}{
		{"short", `{"sandbox": "off"}`, `{}`, Sandbox{Mode: "off"}},
		{"short over long", `{"sandbox": {"network": false, "write": ["/srv"]}}`, `{"sandbox": "read-only"}`, Sandbox{Mode: "read-only", Network: &Network{}, Write: []string{"/srv"}}},
		{"long over short", `{"sandbox": "read-only"}`, `{"sandbox": {"network": false}}`, Sandbox{Mode: "read-only", Network: &Network{}}},
		{"commands", `{"sandbox": {"commands": {"docker *": "off", "make *": "workspace"}}}`, `{"sandbox": {"commands": {"docker *": "read-only", "npm *": "off"}}}`, Sandbox{Commands: map[string]string{"docker *": "off", "make *": "workspace"}}},
		{"credentials without trust", `{}`, `{"sandbox": {"read": ["~/.aws"], "credentials": ["gh"], "ssh_agent": true, "network": false}}`, Sandbox{Network: &Network{}}},
		{"credentials", `{"sandbox": {"read": ["/k"], "credentials": ["gh"], "ssh_agent": false}}`, `{}`, Sandbox{Read: []string{"/k"}, Credentials: []string{"gh"}, SSHAgent: &no}},
		{"hosts", `{"sandbox": {"network": ["example.com", "localhost:5432"]}}`, `{}`, Sandbox{Network: &Network{Hosts: []string{"example.com", "localhost:5432"}}}},
		{"hosts of a project", `{}`, `{"sandbox": {"network": ["a.example"]}}`, Sandbox{Network: &Network{Hosts: []string{"a.example"}}}},
		{"fewer hosts", `{"sandbox": {"network": ["a.example", "b.example"]}}`, `{"sandbox": {"network": ["B.example"]}}`, Sandbox{Network: &Network{Hosts: []string{"B.example"}}}},
		{"no hosts", `{"sandbox": {"network": ["a.example", "b.example"]}}`, `{"sandbox": {"network": []}}`, Sandbox{Network: &Network{Hosts: []string{}}}},
		{"more hosts", `{"sandbox": {"network": ["a.example"]}}`, `{"sandbox": {"network": ["a.example", "b.example"]}}`, Sandbox{Network: &Network{Hosts: []string{"a.example"}}}},
		{"hosts for none", `{"sandbox": {"network": false}}`, `{"sandbox": {"network": ["b.example"]}}`, Sandbox{Network: &Network{}}},
		{"all for hosts", `{"sandbox": {"network": ["a.example"]}}`, `{"sandbox": {"network": true}}`, Sandbox{Network: &Network{Hosts: []string{"a.example"}}}},
		{"hosts after all", `{"sandbox": {"network": true}}`, `{"sandbox": {"network": ["b.example"]}}`, Sandbox{Network: &Network{Hosts: []string{"b.example"}}}},
		{"without trust", `{"sandbox": "workspace"}`, `{"sandbox": "off"}`, Sandbox{Mode: "workspace"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			w.write("home/.config/lathe/lathe.json", c.user)
			w.write("top/lathe.json", c.project)
			equal(t, w.load().Config.Sandbox, c.want)
		})
	}
	w := newFixture(t)
	w.write("home/.config/lathe/lathe.json", `{"sandbox": {"write": ["~/x", "y"], "read": ["~/.aws"]}, "mcp": {"s": {"type": "local", "command": ["x"], "sandbox": "off"}}, "agent": {"plan": {"sandbox": "read-only"}}}`)
	l := w.load()
	equal(t, l.Config.Sandbox.Write, []string{w.path("home/x"), w.path("home/.config/lathe/y")})
	equal(t, l.Config.Sandbox.Read, []string{w.path("home/.aws")})
	equal(t, l.Config.MCP["s"].Sandbox, ServerSandbox{Mode: "off"})
	equal(t, l.Config.Agents["plan"].Sandbox.Mode, "read-only")
}

// An agent of a project reaches no more than the user lets all of them, or that one.
func TestSandbox_AgentNetwork(t *testing.T) {
	for _, c := range []struct{ user, want string }{
		{`{}`, `["b.example"]`},
		{`{"sandbox": {"network": false}}`, ``},
		{`{"sandbox": {"network": ["a.example"]}}`, ``},
		{`{"sandbox": {"network": ["a.example"]}, "agent": {"x": {"sandbox": {"network": ["b.example", "c.example"]}}}}`, `["b.example"]`},
		{`{"agent": {"x": {"sandbox": {"network": false}}}}`, `false`},
	} {
		w := newFixture(t)
		w.write("home/.config/lathe/lathe.json", c.user)
		w.write("top/lathe.json", `{"agent": {"x": {"sandbox": {"network": ["b.example"]}}}}`)
		got := ""
		if n := w.load().Config.Agents["x"].Sandbox.Network; n != nil {
			b, err := n.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			got = string(b)
		}
		if got != c.want {
			t.Errorf("%s: %s", c.user, got)
		}
	}
}

// The folder that keeps a name free while commands run is no settings file, and no reason to warn.
func TestSandbox_StandIn(t *testing.T) {
	if os.Getuid() < 0 {
		t.Skip("this system has no such permissions")
	}
	w := newFixture(t)
	w.write("top/opencode.json", `{"model": "a/b"}`)
	want := w.load()
	loader := NewLoader()
	_, _, err := loader.Load(w.options())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.Mkdir(w.path("top/lathe.json"), 0o1500), syscall.Mkdir(w.path("top/.lathe"), 0o1500)); err != nil {
		t.Fatal(err)
	}
	got := w.load()
	equal(t, got.Config, want.Config)
	equal(t, got.Warnings, want.Warnings)
	if _, fresh, err := loader.Load(w.options()); err != nil || fresh {
		t.Error("the settings were read again", err)
	}
	if err := Edit(w.path("top/lathe.json"), []byte(`{"model": "c/d"}`)); lathe.CodeOf(err) != lathe.Unavailable {
		t.Errorf("edited: %v", err)
	}
}
