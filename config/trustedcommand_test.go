package config

import "testing"

// A command is the user's own if its words are. One of a project is not, unless the project is
// trusted; in the place of the user's it counts only then.
func TestIsTrustedCommand(t *testing.T) {
	w := newFixture(t)
	w.write("home/.config/lathe/lathe.json", `{"command": {"mine": {"template": "mine"}, "both": {"template": "mine"}}}`)
	w.write("top/lathe.json", `{"command": {"theirs": {"template": "theirs"}, "both": {"template": "theirs"}}, "mcp": {"x": {"type": "local", "command": ["x"]}}}`)
	l := w.load()
	for name, want := range map[string]bool{"mine": true, "theirs": false, "both": true, "none": false} {
		equal(t, l.IsTrustedCommand(name), want)
	}
	w.trust = yes
	equal(t, w.load().IsTrustedCommand("theirs"), true)
	equal(t, w.load().Config.Commands["both"].Template, "theirs")
}
