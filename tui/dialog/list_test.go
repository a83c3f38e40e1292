package dialog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/dialog"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

func items(names ...string) []dialog.Item {
	var out []dialog.Item
	for _, n := range names {
		out = append(out, dialog.Item{ID: n, Title: n})
	}
	return out
}

func want(t *testing.T, got, want dialog.Result) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("out (-want +got):\n%s", d)
	}
}

func selected(t *testing.T, l *dialog.List, id string) {
	t.Helper()
	if got, _ := l.Selected(); got != id {
		t.Errorf("under the cursor is %q, want %q", got, id)
	}
}

func TestList_MovesAndChooses(t *testing.T) {
	l := dialog.NewList(styletest.Keys(t), dialog.Options{Items: items("a", "b", "c", "d")})
	frame(t, l, 60, 20)
	selected(t, l, "a")
	want(t, send(l, "down", "ctrl+n", "ctrl+p", "enter"), dialog.Chosen{ID: "b"})
	send(l, "end")
	selected(t, l, "d")
	send(l, "down") // around
	selected(t, l, "a")
	send(l, "up")
	selected(t, l, "d")
	want(t, send(l, "home", "enter"), dialog.Chosen{ID: "a"})
	want(t, send(l, "esc"), dialog.Closed{})
	want(t, send(l, "ctrl+c"), dialog.Closed{})
}

func TestList_SkipsHeadings(t *testing.T) {
	list := items("a", "b", "c")
	list[2].Group = "More"
	l := dialog.NewList(styletest.Keys(t), dialog.Options{Items: list})
	frame(t, l, 60, 20)
	send(l, "down", "down")
	selected(t, l, "c")
	send(l, "up")
	selected(t, l, "b")
	want(t, l.Click(5, 6), dialog.None{}) // the heading is two below b
	want(t, l.Click(5, 4), dialog.Chosen{ID: "b"})

	none := dialog.NewList(styletest.Keys(t), dialog.Options{})
	want(t, send(none, "down", "end", "pgdown", "enter"), dialog.None{})
}

func TestList_FilterRanks(t *testing.T) {
	l := dialog.NewList(styletest.Keys(t), dialog.Options{Items: items("bugs", "a git stash", "git status", "Google Search", "nothing")})
	write(l, "gs")
	got := strings.Fields(strings.ReplaceAll(frame(t, l, 60, 20), "│", " "))
	selected(t, l, "git status")
	text := strings.Join(got, " ")
	order := []string{"git status", "Google Search", "a git stash", "bugs"}
	at := -1
	for _, o := range order {
		i := strings.Index(text, o)
		if i <= at {
			t.Fatalf("%q is not behind the ones before it in %q", o, text)
		}
		at = i
	}
	if strings.Contains(text, "nothing") {
		t.Errorf("an entry that does not fit is shown: %q", text)
	}
	send(l, "backspace", "backspace")
	selected(t, l, "bugs")
}

// A query that grows is searched in what was found before; the result must be as if it had been typed at once.
func TestList_GrowingQueryFindsTheSame(t *testing.T) {
	var list []dialog.Item
	for i := range 500 {
		list = append(list, dialog.Item{ID: fmt.Sprint(i), Title: fmt.Sprintf("entry %d of %x", i, i*7919), Detail: fmt.Sprint(i % 13)})
	}
	slow, fast := dialog.NewList(styletest.Keys(t), dialog.Options{Items: list}), dialog.NewList(styletest.Keys(t), dialog.Options{Items: list})
	write(slow, "ent 1 f")
	fast.Paste("ent 1 f")
	if a, b := frame(t, slow, 80, 40), frame(t, fast, 80, 40); a != b {
		t.Errorf("typed:\n%s\npasted:\n%s", a, b)
	}
}

func TestList_DuplicatesOnceWhenFiltered(t *testing.T) {
	l := dialog.NewModels(styletest.Keys(t), someModels())
	write(l, "large3")
	if text := frame(t, l, 80, 30); strings.Count(text, "Large 3") != 1 {
		t.Errorf("want it once:\n%s", text)
	}
}

func TestList_ExtraKeys(t *testing.T) {
	l := dialog.NewSessions(styletest.Keys(t), someSessions(), someSessions().Preview)
	frame(t, l, 80, 30)
	want(t, send(l, "ctrl+r"), dialog.Chosen{ID: "ses_2", Key: key.SessionRename})
	want(t, send(l, "ctrl+d"), dialog.None{})
	want(t, send(l, "ctrl+d"), dialog.Chosen{ID: "ses_2", Key: key.SessionDelete})
	want(t, send(l, "ctrl+d", "down", "ctrl+d"), dialog.None{}) // another entry is asked about anew
	want(t, send(l, "up", "ctrl+d"), dialog.None{})
	if text := frame(t, l, 80, 30); !strings.Contains(text, "again to delete") {
		t.Errorf("does not say that it waits:\n%s", text)
	}
	l.Paste("x")
	if text := frame(t, l, 80, 30); strings.Contains(text, "again to delete") {
		t.Errorf("still says that it waits:\n%s", text)
	}
	models := dialog.NewModels(styletest.Keys(t), dialog.Models{})
	want(t, send(models, "ctrl+f"), dialog.None{}) // no entry
	want(t, send(models, "ctrl+a"), dialog.Chosen{Key: key.ModelProviderList})
}

func TestList_TellsQueryAndMoves(t *testing.T) {
	s := dialog.NewSessions(styletest.Keys(t), someSessions(), someSessions().Preview)
	want(t, send(s, "b"), dialog.Query{Text: "b"})
	want(t, s.Paste("uild\n"), dialog.Query{Text: "build"})
	want(t, send(s, "left"), dialog.None{})

	th := dialog.NewThemes(styletest.Keys(t), []string{"one", "two", "three"}, "two")
	frame(t, th, 80, 30)
	want(t, send(th, "down"), dialog.Moved{ID: "three"})
	want(t, send(th, "t"), dialog.Moved{ID: "two"})
	want(t, send(th, "w"), dialog.None{})
	want(t, send(th, "q"), dialog.Moved{ID: ""})
	want(t, send(th, "enter"), dialog.None{})
}

func TestList_SetItemsKeepsPlace(t *testing.T) {
	l := dialog.NewList(styletest.Keys(t), dialog.Options{Items: items("a", "b", "c")})
	frame(t, l, 60, 20)
	send(l, "down")
	l.SetItems(items("z", "y", "b", "c"))
	selected(t, l, "b")
	l.SetItems(items("z", "y"))
	selected(t, l, "y")
	l.SetItems(nil)
	want(t, send(l, "enter"), dialog.None{})
	l.SetItems(items("n"))
	selected(t, l, "n")
}

// A list that is filled anew while one looks at it stays where it is.
func TestList_SetItemsWhileUsed(t *testing.T) {
	var list []dialog.Item
	for i := range 100 {
		list = append(list, dialog.Item{ID: fmt.Sprint(i), Title: fmt.Sprint("entry ", i)})
	}
	l := dialog.NewList(styletest.Keys(t), dialog.Options{Items: list, Extras: []dialog.Extra{{Name: key.SessionDelete, Label: "delete", Confirm: "again?"}}})
	frame(t, l, 60, 20)
	l.Wheel(30)
	send(l, "down", "ctrl+d")
	before := frame(t, l, 60, 20)
	l.SetItems(list)
	if after := frame(t, l, 60, 20); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	want(t, send(l, "ctrl+d"), dialog.Chosen{ID: "31", Key: key.SessionDelete})
	send(l, "ctrl+d")
	l.SetItems(list[:10]) // what was asked about is gone
	want(t, send(l, "ctrl+d"), dialog.None{})

	// Entries that come late: the cursor is on the one in use; while one searches, on the best.
	s := someSessions()
	late := dialog.NewSessions(styletest.Keys(t), dialog.Sessions{Current: s.Current, Now: now}, nil)
	late.SetItems(s.Items(styletest.Keys(t)))
	selected(t, late, "ses_2")
	write(late, "e")
	late.SetItems(append(s.Items(styletest.Keys(t)), dialog.Item{ID: "best", Title: "e"}))
	selected(t, late, "best")

	// What is there twice stays the one of the two that it was.
	m := someModels()
	models := dialog.NewModels(styletest.Keys(t), m)
	frame(t, models, 80, 30)
	m.Favorite = append(m.Favorite, m.Current)
	models.SetItems(m.Items())
	text := frame(t, models, 80, 30)
	if i, j := strings.Index(text, "│   Acme "), strings.Index(text, "› ●"); i < 0 || j < i {
		t.Errorf("the cursor has jumped to another group:\n%s", text)
	}
}

func TestList_WheelAndClick(t *testing.T) {
	var list []dialog.Item
	for i := range 100 {
		list = append(list, dialog.Item{ID: fmt.Sprint(i), Title: fmt.Sprint("entry ", i)})
	}
	l := dialog.NewList(styletest.Keys(t), dialog.Options{Items: list})
	frame(t, l, 60, 20)
	l.Wheel(10)
	selected(t, l, "10")
	if text := frame(t, l, 60, 20); !strings.Contains(text, "› entry 10") || strings.Contains(text, "entry 9 ") {
		t.Errorf("not scrolled:\n%s", text)
	}
	want(t, l.Click(10, 5), dialog.Chosen{ID: "12"})
	l.Wheel(-100)
	l.Wheel(1000)
	frame(t, l, 60, 20)
	want(t, l.Click(10, 500), dialog.None{})
	want(t, l.Click(-1, 5), dialog.None{})
	send(l, "pgup")
	if id, _ := l.Selected(); id == "99" || id == "0" {
		t.Errorf("a page leads to %s", id)
	}
}

// A wheel that turns a notch at a time gets everywhere, over headings too.
func TestList_WheelOverHeadings(t *testing.T) {
	var list []dialog.Item
	for i := range 60 {
		list = append(list, dialog.Item{ID: fmt.Sprint(i), Title: fmt.Sprint("entry ", i), Group: fmt.Sprint("group ", i/2)})
	}
	l := dialog.NewList(styletest.Keys(t), dialog.Options{Items: list})
	frame(t, l, 60, 20)
	for range 150 {
		l.Wheel(1)
		frame(t, l, 60, 20)
	}
	if text := frame(t, l, 60, 20); !strings.Contains(text, "entry 59") {
		t.Errorf("the end is not reached:\n%s", text)
	}
	for range 150 {
		l.Wheel(-1)
		frame(t, l, 60, 20)
	}
	if text := frame(t, l, 60, 20); !strings.Contains(text, "group 0") {
		t.Errorf("the beginning is not reached:\n%s", text)
	}
	send(l, "end")
	for range 59 {
		send(l, "up")
		frame(t, l, 60, 20)
	}
	if text := frame(t, l, 60, 20); !strings.Contains(text, "group 0") {
		t.Errorf("the first heading is not seen:\n%s", text)
	}
}

// The word in the corner can be clicked.
func TestDialogs_Corner(t *testing.T) {
	for name, d := range every(styletest.Keys(t)) {
		first, _, _ := strings.Cut(frame(t, d, 80, 30), "\n")
		if out := d.Click(style.Width(first)-4, 0); out != (dialog.Closed{}) {
			t.Errorf("%s: a click on %q gives %#v", name, first, out)
		}
	}
}

func TestList_Colors(t *testing.T) {
	th := style.Default(true)
	l := dialog.NewSessions(styletest.Keys(t), someSessions(), someSessions().Preview)
	l.View(th, 80, 30)
	write(l, "par")
	rows := l.View(th, 80, 30)
	var on, hit bool
	for _, r := range rows {
		for _, s := range r {
			on = on || s.Attr.BG == th.Primary && s.Attr.FG == th.SelectedText
			hit = hit || strings.HasPrefix(s.Text, "p") && s.Attr.Underline
			if s.Attr.BG != th.Primary && s.Attr.BG != th.BackgroundPanel {
				t.Errorf("%q has the background %v", s.Text, s.Attr.BG)
			}
		}
	}
	if !on || !hit {
		t.Errorf("cursor colored: %v, letters found marked: %v", on, hit)
	}
	send(l, "ctrl+d")
	red := false
	for _, r := range l.View(th, 80, 30) {
		for _, s := range r {
			red = red || s.Attr.BG == th.Error
		}
	}
	if !red {
		t.Error("the question whether to delete is not in the color of errors")
	}
}

func BenchmarkList_Type(b *testing.B) {
	var list []dialog.Item
	for i := range 10_000 {
		list = append(list, dialog.Item{ID: fmt.Sprint(i), Title: fmt.Sprintf("Fix the %d. thing in package number %x of many", i, i*2654435761), Group: fmt.Sprint("day ", i/40), Right: "12:00"})
	}
	l := dialog.NewList(styletest.Keys(b), dialog.Options{Items: list, Wide: true})
	th := style.Default(true)
	b.Run("Letter", func(b *testing.B) {
		for b.Loop() {
			send(l, "p")
			l.View(th, 100, 40)
			send(l, "backspace")
			l.View(th, 100, 40)
		}
	})
	b.Run("FourthLetter", func(b *testing.B) {
		write(l, "pac")
		for b.Loop() {
			send(l, "k")
			l.View(th, 100, 40)
			send(l, "backspace")
		}
		send(l, "ctrl+u")
	})
	b.Run("Move", func(b *testing.B) {
		for b.Loop() {
			send(l, "down")
			l.View(th, 100, 40)
		}
	})
	b.Run("View", func(b *testing.B) {
		for b.Loop() {
			l.View(th, 100, 40)
		}
	})
	b.Run("Open", func(b *testing.B) {
		m := styletest.Keys(b)
		for b.Loop() {
			dialog.NewList(m, dialog.Options{Items: list}).View(th, 100, 40)
		}
	})
}

// A model whose price nobody knows is not called free.
func TestModels_Price(t *testing.T) {
	for want, m := range map[string]lathe.Model{
		"8k  $1/$2": {Ref: dialog.ParseModelID("acme/a"), Context: 8000, InputPrice: 1, OutputPrice: 2},
		"8k":        {Ref: dialog.ParseModelID("acme/a"), Context: 8000},
		"8k  free":  {Ref: dialog.ParseModelID("opencode/a"), Context: 8000},
		"$0/$2":     {Ref: dialog.ParseModelID("acme/a"), OutputPrice: 2},
		"":          {Ref: dialog.ParseModelID("acme/a")},
	} {
		items := dialog.Models{Providers: []lathe.Provider{{ID: m.Ref.Provider, Models: []lathe.Model{m}}}}.Items()
		if len(items) != 1 || items[0].Right != want {
			t.Errorf("want %q: %+v", want, items)
		}
	}
}
