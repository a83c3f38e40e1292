package screen

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/tui/attention"
	"github.com/lathe-agent/lathe/tui/tty"
)

func TestTUI_EditorWords(t *testing.T) {
	for in, want := range map[string][]string{
		"": nil, "  ": nil, "vi": {"vi"}, "code --wait": {"code", "--wait"}, `"/opt/my editor" -n ''`: {"/opt/my editor", "-n", ""}, `a'b c'd "e`: {"ab cd", "e"},
	} {
		if got := splitWords(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q", in, got)
		}
	}
	env := map[string]string{"VISUAL": " ", "EDITOR": "nano -w"}
	if got := editorWords(func(name string) string { return env[name] }, "linux"); !slices.Equal(got, []string{"nano", "-w"}) {
		t.Errorf("got %q", got)
	}
	for system, want := range map[string]string{"linux": "vi", "darwin": "vi", "windows": "notepad"} {
		if got := editorWords(func(string) string { return "" }, system); !slices.Equal(got, []string{want}) {
			t.Errorf("without a variable on %s: %q", system, got)
		}
	}
}

// What settings and environment say of the screen.
func TestTUI_Look(t *testing.T) {
	a, off := newApp(), false
	home := t.TempDir()
	vars := map[string]string{"HOME": home, "LATHE_DATA": filepath.Join(home, "data")}
	a.Env = func(name string) string { return vars[name] }
	a.Dir = filepath.Join(home, "repo", "below")
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n", ".git/objects/keep": "", ".git/refs/keep": ""} {
		path := filepath.Join(home, "repo", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := lookOf(a, config.TUI{Theme: "nord", Editor: "vim", LeaderTimeout: 300, ScrollSpeed: 2, DiffStyle: "stacked", Prompt: config.Prompt{MaxHeight: 9}}, a.Dir)
	if l.Theme != "nord" || !l.Vim || !l.Mouse || l.LeaderTimeout.Milliseconds() != 300 || l.ScrollSpeed != 2 || !l.Stacked || l.PromptMaxHeight != 9 {
		t.Errorf("%+v", l)
	}
	if l := lookOf(a, config.TUI{Mouse: &off}, a.Dir); l.Mouse || l.Stacked {
		t.Errorf("%+v", l)
	}
	vars["OPENCODE_DISABLE_MOUSE"] = "1"
	if l := lookOf(a, config.TUI{}, a.Dir); l.Mouse {
		t.Errorf("%+v", l)
	}
	user := filepath.Join(home, ".config")
	if want := []string{
		filepath.Join(a.Dir, ".lathe", "themes"), filepath.Join(a.Dir, ".opencode", "themes"),
		filepath.Join(home, "repo", ".lathe", "themes"), filepath.Join(home, "repo", ".opencode", "themes"),
		filepath.Join(user, "lathe", "themes"), filepath.Join(user, "opencode", "themes"),
	}; !slices.Equal(l.ThemeDirs, want) {
		t.Errorf("%q", l.ThemeDirs)
	}
}

// Notifications are on unless settings turn them off; the bell rings for those who asked for it.
func TestTUI_Attention(t *testing.T) {
	on, off, soon := true, false, 5
	all := attention.Settings{NeedsYou: true, Done: true, DoneAfter: 30 * time.Second}
	for _, tt := range []struct {
		config config.Attention
		change func(*attention.Settings)
	}{
		{config.Attention{}, func(*attention.Settings) {}},
		{config.Attention{Enabled: &on}, func(a *attention.Settings) { a.Bell = true }},
		{config.Attention{Sound: &on}, func(a *attention.Settings) { a.Bell = true }},
		{config.Attention{Enabled: &on, Sound: &off}, func(*attention.Settings) {}},
		{config.Attention{Enabled: &off, Sound: &on}, func(a *attention.Settings) { a.NeedsYou, a.Done = false, false }},
		{config.Attention{Notifications: &off}, func(a *attention.Settings) { a.NeedsYou, a.Done = false, false }},
		{config.Attention{Notifications: &off, Sound: &on}, func(a *attention.Settings) { a.Bell = true }},
		{config.Attention{NeedsYou: &off, DoneAfter: &soon}, func(a *attention.Settings) { a.NeedsYou, a.DoneAfter = false, 5*time.Second }},
		{config.Attention{Done: &off}, func(a *attention.Settings) { a.Done = false }},
	} {
		want := all
		tt.change(&want)
		got := attentionOf(tt.config, func(string) string { return "" })
		if ring := got.Terminal.Notification("x", false); ring != "\a" {
			t.Errorf("an unknown terminal gets %q", ring)
		}
		got.Terminal = tty.Terminal{}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, want %+v", jsonOf(tt.config), got, want)
		}
	}
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func TestTUI_ReadAttachment(t *testing.T) {
	dir := t.TempDir()
	small, large := filepath.Join(dir, "small"), filepath.Join(dir, "large")
	if err := os.WriteFile(small, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, cli.MaxAttachment+1); err != nil {
		t.Fatal(err)
	}
	if data, err := readAttachment(small); err != nil || string(data) != "x" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := readAttachment(large); lathe.CodeOf(err) != lathe.Overflow {
		t.Errorf("large: %v", err)
	}
	if _, err := readAttachment(dir); lathe.CodeOf(err) != lathe.Invalid {
		t.Errorf("a folder: %v", err)
	}
}

// Remarks that are made while the screen is taken are told afterwards, once.
func TestTUI_OffScreen(t *testing.T) {
	a := newApp()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	a.Stderr, a.Notices = file, file
	own, show := offScreen(a)
	own.Notify("Warning: %s", "something")
	own.Notify("%s", strings.Repeat("x", 2*maxRemarks)) // nobody waits for ever
	show()
	show()
	text, err := os.ReadFile(file.Name())
	if err != nil || !strings.HasPrefix(string(text), "Warning: something\nxxx") || len(text) > maxRemarks {
		t.Errorf("%d bytes: %.40q, %v", len(text), text, err)
	}
}
