package config

import "testing"

// A mode in short form leaves alone what others say of the sandbox: a project that asks for
// read-only does not switch the network on again.
func TestSandbox_Forms(t *testing.T) {
	no := false
	for _, c := range []struct {
		name, user, project string
		want                Sandbox
	}{
		{"short", `{"sandbox": "off"}`, `{}`, Sandbox{Mode: "off"}},
		{"short over long", `{"sandbox": {"network": false, "write": ["/srv"]}}`, `{"sandbox": "read-only"}`, Sandbox{Mode: "read-only", Network: &no, Write: []string{"/srv"}}},
		{"long over short", `{"sandbox": "read-only"}`, `{"sandbox": {"network": false}}`, Sandbox{Mode: "read-only", Network: &no}},
		{"without trust", `{"sandbox": "workspace"}`, `{"sandbox": "off"}`, Sandbox{Mode: "workspace"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("home/.config/lathe/lathe.json", c.user)
			w.write("top/lathe.json", c.project)
			equal(t, w.load().Config.Sandbox, c.want)
		})
	}
	w := newWorld(t)
	w.write("home/.config/lathe/lathe.json", `{"sandbox": {"write": ["~/x", "y"]}, "agent": {"plan": {"sandbox": "read-only"}}}`)
	l := w.load()
	equal(t, l.Config.Sandbox.Write, []string{w.path("home/x"), w.path("home/.config/lathe/y")})
	equal(t, l.Config.Agents["plan"].Sandbox.Mode, "read-only")
}
