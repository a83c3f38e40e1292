package dialog_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

// hostileDialogs makes every kind of dialog with one text everywhere.
func hostileDialogs(m *key.Map, s string) map[string]opened {
	item := dialog.Item{ID: s, Title: s, Detail: s, Right: s, Group: s, Search: s, Mark: dialog.Running}
	sessions := dialog.Sessions{List: []lathe.Session{{ID: lathe.SessionID(s), Title: s, Directory: s, Agent: s}, {ID: "x", Title: s, Updated: 1e30}}, Pinned: []lathe.SessionID{"x", "gone"}, Directory: "/", Now: now}
	provider := lathe.Provider{ID: s, Name: s, Env: []string{s}, Models: []lathe.Model{{Ref: lathe.ModelRef{Provider: s, Model: s}, Name: s, Status: s, InputPrice: 1e-9, OutputPrice: 1e300, Context: 1 << 40}}}
	message := lathe.Message{ID: "m", Data: &lathe.User{}, Parts: []lathe.Part{{Body: &lathe.Text{Text: s}}, {Body: &lathe.File{Filename: s, Mime: s}}}}
	list := dialog.NewList(m, dialog.Options{
		Title: s, Placeholder: s, Empty: s, Items: []dialog.Item{item, {ID: "2", Title: s, Group: s}, item}, Live: true,
		Extras: []dialog.Extra{{Name: key.SessionDelete, Label: s, Confirm: s + "?"}},
	})
	input := dialog.NewInput(m, dialog.InputOptions{Title: s, Description: s, Placeholder: s, Text: s, Link: s})
	secret := dialog.NewInput(m, dialog.InputOptions{Title: s, Text: s, Secret: true})
	wait := dialog.NewWait(m, s, s, s)
	return map[string]opened{
		"list": list, "input": input, "secret": secret, "wait": wait,
		"confirm":   dialog.NewConfirm(m, dialog.ConfirmOptions{Title: s, Text: s}),
		"form":      dialog.NewForm(m, s, s, []dialog.FormField{{ID: "a", Label: s, Text: s, Placeholder: s}, {ID: "b", Label: s, Check: true}}),
		"formless":  dialog.NewForm(m, s, s, nil),
		"help":      dialog.NewHelp(m),
		"sessions":  dialog.NewSessions(m, sessions, sessions.Preview),
		"subagents": dialog.NewSubagents(m, sessions),
		"models":    dialog.NewModels(m, dialog.Models{Providers: []lathe.Provider{provider}, Favorite: []lathe.ModelRef{{Provider: s, Model: s}}}),
		"providers": dialog.NewProviders(m, lathe.Providers{All: []lathe.Provider{provider}}),
		"mcps":      dialog.NewToolServers(m, []lathe.ToolServer{{Name: s, Status: s, Error: s}}),
		"timeline":  dialog.NewTimeline(m, []lathe.Message{message}, now),
		"status":    dialog.NewStatus(m, dialog.Status{Info: api.Info{Version: s, Directory: s}, Providers: []lathe.Provider{provider}, Others: []dialog.StatusSection{{Title: s, Lines: []string{s}}}}),
	}
}

func names() []string {
	return []string{
		"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "home", "end", "pgup", "pgdown", "space", "backspace", "delete",
		"ctrl+a", "ctrl+d", "ctrl+e", "ctrl+f", "ctrl+c", "ctrl+k", "ctrl+n", "ctrl+p", "ctrl+r", "ctrl+u", "ctrl+w", "ctrl+y", "alt+f", "alt+b",
		"alt+d", "f5", "a", "c", "e", "x", "y", "n", "q", "1", "日", "\u0301",
	}
}

// Whatever is shown and whatever is pressed, a dialog stands and stays within the screen.
func TestDialogs_AnyKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := styletest.Keys(t)
		all := hostileDialogs(m, rapid.SampledFrom(styletest.Hostile()).Draw(t, "text"))
		if rapid.Bool().Draw(t, "usual") {
			all = every(m)
		}
		d := all[rapid.SampledFrom(slices.Sorted(maps.Keys(all))).Draw(t, "dialog")]
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				d.Paste(rapid.SampledFrom(styletest.Hostile()).Draw(t, "paste"))
			case 1:
				d.Click(rapid.IntRange(-2, 130).Draw(t, "x"), rapid.IntRange(-2, 40).Draw(t, "y"))
			case 2:
				d.Wheel(rapid.IntRange(-50, 50).Draw(t, "dy"))
			case 3:
				if l, ok := d.(*dialog.List); ok {
					l.SetItems(items(rapid.SliceOfN(rapid.SampledFrom(styletest.Hostile()), 0, 30).Draw(t, "items")...))
				}
			default:
				d.Key(styletest.Press(rapid.SampledFrom(names()).Draw(t, "key")))
			}
			look(t, d, rapid.SampledFrom([]int{20, 21, 40, 80, 120}).Draw(t, "width"), rapid.IntRange(5, 40).Draw(t, "height"))
		}
	})
}

// Texts of a megabyte cost no more than a glance.
func TestDialogs_Megabyte(t *testing.T) {
	for _, s := range []string{strings.Repeat("x", 1<<20), strings.Repeat("日 \x1b[m", 1<<18)} {
		for name, d := range hostileDialogs(styletest.Keys(t), s) {
			if text := frame(t, d, 60, 20); text == "" {
				t.Errorf("%s shows nothing", name)
			}
			d.Paste(s)
			d.Key(styletest.Press("x"))
			frame(t, d, 60, 20)
		}
	}
}

// A key that was typed must never be readable on the screen.
func TestInput_Secret(t *testing.T) {
	in := dialog.NewKeyInput(styletest.Keys(t), acme, "on this machine")
	in.Paste("  sk-0123456789\n")
	if text := frame(t, in, 60, 20); strings.Contains(text, "sk-") || !strings.Contains(text, strings.Repeat("•", 13)) {
		t.Errorf("the key is seen, or it is not seen that there is one:\n%s", text)
	}
	want(t, send(in, "enter"), dialog.Entered{Text: "sk-0123456789"})
}

func TestInput_Keys(t *testing.T) {
	in := dialog.NewRename(styletest.Keys(t), "old title")
	want(t, send(in, "ctrl+w", "n", "e", "w", "enter"), dialog.Entered{Text: "old new"})
	want(t, send(in, "ctrl+u", "enter"), dialog.None{})
	if text := frame(t, in, 60, 20); !strings.Contains(text, "Enter a value") {
		t.Errorf("does not say why nothing happens:\n%s", text)
	}
	want(t, send(in, "esc"), dialog.Closed{})

	code := dialog.NewCodeInput(styletest.Keys(t), acme, page)
	want(t, send(code, "ctrl+y"), dialog.Copy{Text: page.URL})
	frame(t, code, 80, 20)
	want(t, code.Click(10, 3), dialog.Copy{Text: page.URL})
	want(t, send(code, "c", "enter"), dialog.Entered{Text: "c"})
}

func TestConfirm_Keys(t *testing.T) {
	yes, no := dialog.Chosen{ID: dialog.Yes}, dialog.Chosen{ID: dialog.No}
	for _, c := range []struct {
		danger bool
		keys   string
		out    dialog.Result
	}{
		{false, "enter", yes},
		{true, "enter", no}, // what cannot be undone is not the first choice
		{false, "right enter", no},
		{false, "tab tab enter", yes},
		{true, "left enter", yes},
		{true, "y", dialog.None{}}, // a letter may belong to a sentence
		{true, "y e s enter", no},
		{false, "n", dialog.None{}},
		{true, "h l enter", no},
		{false, "esc", dialog.Closed{}},
	} {
		d := dialog.NewConfirm(styletest.Keys(t), dialog.ConfirmOptions{Title: "?", Text: "text", Danger: c.danger})
		t.Run(c.keys, func(t *testing.T) { want(t, send(d, strings.Fields(c.keys)...), c.out) })
		want(t, d.Paste("y\n"), dialog.None{})
	}
	d := dialog.NewConfirm(styletest.Keys(t), dialog.ConfirmOptions{Title: "?", Text: "text"})
	lines := strings.Split(frame(t, d, 60, 20), "\n")
	y := len(lines) - 2
	want(t, d.Click(style.Width(lines[y][:strings.Index(lines[y], "No")]), y), no)
	want(t, d.Click(2, y), dialog.None{})
}

func TestForm_Keys(t *testing.T) {
	f := dialog.NewExport(styletest.Keys(t), "a.md")
	frame(t, f, 60, 20)
	out := send(f, "backspace", "backspace", "t", "tab", "space", "down", "space", "shift+tab", "shift+tab", "x", "enter")
	want(t, out, dialog.Filled{
		Texts:  map[string]string{dialog.ExportFile: "a.tx"},
		Checks: map[string]bool{dialog.ExportThinking: true, dialog.ExportTools: false, dialog.ExportMetadata: true, dialog.ExportOpen: false},
	})
	f.Click(5, 4)
	if got := send(f, "enter").(dialog.Filled); got.Checks[dialog.ExportMetadata] {
		t.Error("a click does not take the mark away")
	}
}

func TestHelp_FilterAndScroll(t *testing.T) {
	h := dialog.NewHelp(styletest.Keys(t))
	first := frame(t, h, 80, 20)
	send(h, "pgdown")
	if frame(t, h, 80, 20) == first {
		t.Error("a page further looks the same")
	}
	write(h, "session_rename")
	if text := frame(t, h, 80, 20); !strings.Contains(text, "ctrl+r") || strings.Contains(text, "ctrl+z") {
		t.Errorf("not filtered:\n%s", text)
	}
	want(t, send(h, "esc"), dialog.Closed{})
}

func TestWait_Keys(t *testing.T) {
	w := dialog.NewLoginWait(styletest.Keys(t), acme, page)
	want(t, send(w, "c"), dialog.Copy{Text: page.URL})
	want(t, send(w, "enter"), dialog.Chosen{ID: dialog.Open})
	frame(t, w, 80, 20)
	want(t, w.Click(5, 5), dialog.Copy{Text: page.URL})
}

func TestSessions_Days(t *testing.T) {
	var list []lathe.Session
	at := func(id string, tm time.Time) {
		list = append(list, lathe.Session{ID: lathe.SessionID(id), Title: id, Updated: lathe.TimeOf(tm)})
	}
	zone := time.FixedZone("far", 10*3600)
	local := time.Date(2026, 11, 15, 0, 30, 0, 0, zone)
	at("today", local.Add(-20*time.Minute))
	at("yesterday", local.Add(-40*time.Minute)) // twenty minutes apart, and another day there
	at("week", local.Add(-3*24*time.Hour))
	at("future", local.Add(48*time.Hour))
	list = append(list, lathe.Session{ID: "never", Title: "never"})
	groups := map[string]string{}
	for _, it := range (dialog.Sessions{List: list, Now: local}).Items(styletest.Keys(t)) {
		groups[it.ID] = it.Group
	}
	want := map[string]string{"today": "Today", "yesterday": "Yesterday", "week": "Thursday", "future": "Tue 17 November", "never": "Earlier"}
	if !maps.Equal(groups, want) {
		t.Errorf("groups are %v, want %v", groups, want)
	}
}

func TestModelID_Reverse(t *testing.T) {
	ref := lathe.ModelRef{Provider: "router", Model: "org/model/free"}
	if got := dialog.ParseModelID(dialog.ModelID(ref)); got.Provider != ref.Provider || got.Model != ref.Model {
		t.Errorf("got %v", got)
	}
}
