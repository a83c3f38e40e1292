package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/style"
)

func inSample() Options { return Options{Start: Start{Session: sampleID}} }

// Nothing is shared by a no, and a yes is asked for once.
func TestShare_Consent(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) { // what it needs is said before anybody is asked
		s.slash("share")
		s.sees("Sharing needs a server")
		s.lacks("Share this session?")
		s.did()
	})
	onStage(t, sample(), Options{Remote: true, Start: Start{Session: sampleID}}, func(s *stage) {
		s.slash("unshare")
		s.sees("This session is not shared")
		s.slash("share")
		s.press("enter") // the button that is marked says no
		s.did()
		s.slash("share")
		s.press("esc")
		s.did()
		s.slash("share")
		s.press("y") // a letter chooses nothing
		s.did()
		s.press("left", "enter")
		s.did("share ses_1")
		s.sees("Shared, link copied")
		s.slash("share")
		s.did("share ses_1")
		if want := "https://example.com/s/1"; !slices.Contains(s.copied, want) {
			t.Errorf("copied: %q", s.copied)
		}
	})
}

// What an undo takes back can be said again: each undo brings its own words up, unless others were written there.
func TestUndo_BringsWordsUp(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		at := func(m lathe.MessageID) {
			info, _ := s.engine.find(sampleID)
			if m != "" {
				info.Revert = &lathe.Revert{Message: m}
			}
			s.engine.undone = lathe.Undone{Session: info}
		}
		undo := func(keys string, m lathe.MessageID, want string) {
			t.Helper()
			at(m)
			s.press("ctrl+x", keys)
			s.tell(&lathe.SessionChanged{Info: s.engine.undone.Session})
			if got := s.p.drafts.edit.Text(); got != want {
				t.Errorf("in the prompt: %q, want %q", got, want)
			}
		}
		undo("u", "msg_3", "Thank you")
		undo("u", "msg_0", "Mend the greeting.\nThe test fails.")
		undo("r", "msg_3", "Thank you")
		undo("r", "", "")
		s.did("undo ses_1 msg_3", "undo ses_1 msg_0", "redo ses_1", "redo ses_1")
		s.typed("words of mine")
		undo("u", "msg_3", "words of mine")
		undo("r", "", "words of mine")
		s.p.drafts.edit.Clear()
		paste := editor.Token{Kind: editor.KindPaste, Text: "[Pasted ~2 lines]", Body: "greeting.\nThe test fails."}
		s.p.drafts.addRecent(editor.Draft{Input: "Mend the [Pasted ~2 lines] ", Parts: []editor.DraftToken{{At: 9, Token: paste}}})
		undo("u", "msg_3", "Thank you")
		undo("u", "msg_0", "Mend the [Pasted ~2 lines] ") // folded as it was
		if d := s.p.drafts.edit.Draft(); d.Sent() != "Mend the greeting.\nThe test fails." {
			t.Errorf("it would be sent as %q", d.Sent())
		}
	})
}

// Files that an undo left alone are counted here, and named once, by the engine, from the directory.
func TestUndo_Conflicts(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.engine.undone = lathe.Undone{Files: []lathe.UndoneFile{{File: "/w/app/a", Action: "restore"}, {File: "/w/app/b.go", Action: "conflict", Conflict: "it was changed"}}}
		s.press("ctrl+x", "u")
		s.tell(&lathe.TUIToast{Title: "Files left unchanged", Message: "/w/app/b.go (it was changed)", Variant: "warning"})
		s.sees("files changed: 1, left unchanged: 1", "! Files left unchanged", "b.go (it was changed)")
		s.lacks("/w/app/b.go")
	})
}

// Without a provider no key goes into a prompt that nobody sees.
func TestOffers_Keys(t *testing.T) {
	e := sample()
	e.providers = lathe.Providers{All: e.providers.All}
	o := Options{FindSetupOptions: func(context.Context) []SetupOption {
		return []SetupOption{{ID: "login", Title: "Log in", Login: true}, {ID: "demo", Title: "See the demo"}}
	}}
	onStage(t, e, o, func(s *stage) {
		s.typed("hello")
		s.send(tea.PasteMsg{Content: "hello"})
		if got := s.p.drafts.edit.Text(); got != "" {
			t.Errorf("in the hidden prompt: %q", got)
		}
		s.press("esc")
		s.sees("Ask anything", "no model yet: /connect")
		s.typed("hello")
		s.press("enter")
		s.sees("No model yet: connect a provider first", "1. Log in")
		if got := s.p.drafts.edit.Text(); got != "hello" {
			t.Errorf("the prompt is lost: %q", got)
		}
		s.press("1")
		s.sees("Connect a provider")
		s.press("esc", "ctrl+c")
		if !s.quit {
			t.Error("ctrl+c does not leave")
		}
	})
}

// Servers of tools connect while one looks at the first screen, and one that cannot says so without being asked.
func TestServers_LateFailure(t *testing.T) {
	e := sample()
	e.servers = []lathe.ToolServer{{Name: "docs", Status: "disabled"}}
	onStage(t, e, Options{}, func(s *stage) {
		s.lacks("MCP")
		s.engine.servers = []lathe.ToolServer{{Name: "docs", Status: "failed", Error: "there is no program docs"}}
		s.pass(5 * time.Second)
		s.sees("0 MCP, 1 failed")
		s.slash("mcps")
		s.press("space")
		s.did("connect docs true")
		s.sees("Could not connect docs: there is no program docs")
	})
}

// A session that is deleted takes two presses, and gives the place it was pinned to free.
func TestSessions_DeletePinned(t *testing.T) {
	dir := t.TempDir()
	o := inSample()
	o.State = dir
	onStage(t, sample(), o, func(s *stage) {
		s.press("ctrl+x", "l", "down", "ctrl+f")
		s.sees("Pinned", "ctrl+x 1")
		s.press("ctrl+d")
		s.did()
		s.sees("again to delete")
		s.press("ctrl+d")
		s.did("remove ses_2")
		s.lacks("Write a parser")
		s.tell(&lathe.SessionDeleted{Info: lathe.Session{ID: "ses_2"}})
		s.press("esc", "ctrl+x", "1")
		s.sees("No session pinned there")
	})
	if data, err := os.ReadFile(filepath.Join(dir, "session.json")); err != nil || strings.Contains(string(data), "ses_2") {
		t.Errorf("kept: %s %v", data, err)
	}
}

// An archived session leaves the list; the toast says how to get it back. Interrupted sessions are marked.
func TestSessions_Archive(t *testing.T) {
	e := sample()
	e.cut = []lathe.SessionID{"ses_2"}
	onStage(t, e, inSample(), func(s *stage) {
		s.press("ctrl+x", "l")
		s.sees("Write a parser  interrupted", "/w/app · “Mend the greeting.”")
		s.press("down", "ctrl+a")
		s.did("archive ses_2")
		s.lacks("Write a parser")
		s.sees("Archived: lathe session list --archived lists it")
	})
}

// A session is found by its title, renamed where it is listed, and opened.
func TestSessions_SearchRenameOpen(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.press("ctrl+x", "l")
		s.typed("parser")
		s.lacks("日本語の題")
		s.typed("x")
		s.sees("No matches")
		s.press("backspace", "ctrl+r")
		s.typed(" in Go")
		s.press("enter")
		s.did("rename ses_2 Write a parser in Go")
		s.sees("Write a parser in Go", "日本語の題")
		s.typed("parser")
		s.press("enter")
		if s.p.state.Current != "ses_2" {
			t.Errorf("on the screen is %s", s.p.state.Current)
		}
		if got := s.p.View().WindowTitle; got != "lathe | Write a parser in Go" {
			t.Errorf("the window is called %q", got)
		}
	})
}

// longSample is one whose session has many prompts, which are read a few at a time.
func longSample() *canned {
	e := sample()
	talk := sampleTalk(1000)
	var long []lathe.Message
	for i := range 60 {
		m := talk[3*(i%2)] // the two prompts
		m.ID, m.Created = lathe.MessageID(fmt.Sprintf("msg_%03d", i)), lathe.Time(1000*i+1000)
		m.Parts = []lathe.Part{{ID: lathe.PartID(fmt.Sprintf("prt_%03d", i)), Session: sampleID, Message: m.ID, Body: &lathe.Text{Text: fmt.Sprintf("prompt number %d", i)}}}
		long = append(long, m)
	}
	e.messages[sampleID], e.few = long, 20
	return e
}

// The key for the first message goes there, also where that was not read yet; who moves on is left alone.
func TestScroll_First(t *testing.T) {
	onStage(t, longSample(), inSample(), func(s *stage) {
		s.press("ctrl+g")
		s.sees("prompt number 0\n")
		s.lacks("prompt number 59")
	})
	onStage(t, longSample(), inSample(), func(s *stage) {
		s.send(keyPress(t, "ctrl+g"))
		s.send(keyPress(t, "end"))
		s.settle()
		s.sees("prompt number 59")
	})
}

// The timeline and the choice of where to fork reach to the beginning of a session that was not read so far, and what is
// chosen there is on the screen.
func TestTimeline_Whole(t *testing.T) {
	e := longSample()
	onStage(t, e, inSample(), func(s *stage) {
		s.sees("prompt number 59")
		s.lacks("prompt number 0")
		s.press("ctrl+x", "g")
		s.sees("› prompt number 59") // what is under the cursor stays so
		s.press("home")
		s.sees("› prompt number 0 ")
		s.press("enter", "esc")
		s.sees("prompt number 0")
		s.lacks("prompt number 59")
	})
	onStage(t, e, inSample(), func(s *stage) {
		s.slash("fork")
		s.typed("number 0")
		s.press("enter")
		s.did("fork ses_1 msg_000")
	})
}

// A copy that ends before a message has the words of the message in its prompt.
func TestFork_BringsWords(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.click("Thank you")
		s.press("down", "down", "enter")
		s.did("fork ses_1 msg_3")
		if got := s.p.drafts.edit.Text(); got != "Thank you" || s.p.state.Current != "ses_fork" {
			t.Errorf("in the prompt of %s: %q", s.p.state.Current, got)
		}
	})
}

// Names of models are those that people know, also where the session was read before the providers.
func TestNames_ReadLate(t *testing.T) {
	e := sample()
	providers := e.providers
	e.providers = lathe.Providers{}
	onStage(t, e, inSample(), func(s *stage) {
		s.sees("Build · m-1")
		s.engine.providers = providers
		s.tell(&lathe.ModelsRefreshed{})
		s.sees("▣ Build · Model One")
		s.lacks("m-1")
	})
}

// Commands that need a session are not suggested without one, and say so when they are typed all the same.
func TestCommands_WhereTheyFit(t *testing.T) {
	onStage(t, sample(), Options{}, func(s *stage) {
		s.typed("/sha")
		s.lacks("/share")
		s.typed("re")
		s.press("enter")
		s.sees("/share needs a session")
		s.did()
		s.press("ctrl+x", "l", "enter")
		s.typed("/sha")
		s.sees("/share", "Share session")
	})
}

// The help has nothing that does nothing, and no action is among that.
func TestHelp_OnlyWhatThereIs(t *testing.T) {
	onStage(t, sample(), Options{}, func(s *stage) {
		s.slash("help")
		s.typed("plugin")
		s.sees("No matches")
		for _, e := range key.All() {
			if e.Idle && slices.ContainsFunc(s.p.menu.actions, func(a *action) bool { return a.name == e.Name }) {
				t.Errorf("%s does something", e.Name)
			}
		}
	})
}

// A model is chosen with how hard it thinks; both are there after the next start.
func TestModels_Saved(t *testing.T) {
	dir := t.TempDir()
	onStage(t, sample(), Options{State: dir}, func(s *stage) {
		s.slash("models")
		s.typed("two")
		s.press("ctrl+f", "enter")
		s.sees("Build · Model Two · acme")
		s.lacks("Variants") // no dialog opens unasked
		s.slash("variants")
		s.press("end", "enter")
		s.sees("Build · Model Two · acme · high")
	})
	e := sample()
	e.providers.Model = nil
	onStage(t, e, Options{State: dir}, func(s *stage) {
		s.sees("Build · Model Two · acme · high")
		s.slash("models")
		s.sees("Favorites")
	})
}

// What is switched stays so.
func TestToggles_Saved(t *testing.T) {
	dir := t.TempDir()
	o := inSample()
	o.State = dir
	onStage(t, sample(), o, func(s *stage) {
		s.slash("thinking")
		s.slash("timestamps")
		s.press("ctrl+p")
		s.typed("window title")
		s.press("enter")
	})
	onStage(t, sample(), o, func(s *stage) {
		s.resize(80, 60)
		s.sees("I look for it.", "23:55")
		if got := s.p.View().WindowTitle; got != "" {
			t.Errorf("the window is called %q", got)
		}
	})
}

// The column at the right is there by itself where there is room; elsewhere it is only for now, and never over the
// prompt.
func TestSide_Toggle(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.lacks("Context")
		s.press("ctrl+x", "b")
		s.sees("Context", "ctrl+p commands  tab agents")
		s.press("ctrl+x", "b")
		s.lacks("Context")
		s.resize(140, 40)
		s.sees("Context")
		s.press("ctrl+x", "b")
		s.lacks("Context")
		s.press("ctrl+x", "b")
		s.sees("Context")
	})
}

// The bar of the place in a session stands on the ground of the rest.
func TestScrollbar_Ground(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.press("ctrl+p")
		s.typed("toggle scrollbar")
		s.press("enter")
		s.screen()
		for _, sp := range s.p.lines[5].Cut(79, 80) {
			if sp.Text != "┃" && sp.Text != "│" || sp.Attr.BG != s.p.look.theme().Background {
				t.Errorf("at the edge: %+v", sp)
			}
		}
	})
}

func themeFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"mine.json": `{"theme":{"primary":"#ff0000"}}`, "bad.json": `{"theme":{"primary":"#zz0000"}}`, "no.json": `{`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Themes show while they are looked at; one that is broken says what is wrong and is not taken.
func TestThemes_Preview(t *testing.T) {
	state := t.TempDir()
	o := Options{State: state, Look: Look{ThemeDirs: []string{themeFiles(t), "/nowhere"}}}
	red := style.RGB(255, 0, 0)
	onStage(t, sample(), o, func(s *stage) {
		before := s.p.look.theme().Primary
		s.slash("themes")
		s.typed("mine")
		if s.p.look.theme().Primary != red {
			t.Error("it does not show while it is looked at")
		}
		s.press("esc")
		if s.p.look.theme().Primary != before {
			t.Error("it stays without being chosen")
		}
		s.slash("themes")
		s.typed("bad")
		s.sees("#zz0000")
		s.press("enter")
		if s.p.look.theme().Primary != before {
			t.Error("a broken one was taken")
		}
		s.pass(time.Minute)
		s.slash("themes")
		s.typed("mine")
		s.press("enter")
	})
	onStage(t, sample(), o, func(s *stage) {
		if s.p.look.theme().Primary != red {
			t.Error("it was not kept")
		}
	})
}

// A theme that is wanted and cannot be had is told, on each screen, until another is chosen.
func TestThemes_Missing(t *testing.T) {
	o := Options{Look: Look{Theme: "nosuch"}}
	onStage(t, sample(), o, func(s *stage) {
		s.sees(`theme "nosuch" not found`)
		s.slash("themes")
		s.press("enter")
		s.lacks("nosuch")
	})
	o.Start.Session = sampleID
	onStage(t, sample(), o, func(s *stage) { s.sees(`! theme "nosuch" not found`) })
}

// A session is written to a file that was not there, and never over another.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	e := sample()
	e.info = api.Info{Directory: dir, Home: dir, Version: "0.9.0", Trusted: true}
	onStage(t, e, inSample(), func(s *stage) {
		s.press("ctrl+x", "x", "enter")
		s.sees("Saved to ~/mend-the-greeting.md")
		s.press("ctrl+x", "x")
		s.sees("mend-the-greeting-2.md")
		s.press("ctrl+u")
		s.typed("~/mend-the-greeting.md")
		s.press("enter")
		s.sees("already exists: choose another name")
	})
	data, err := os.ReadFile(filepath.Join(dir, "mend-the-greeting.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Mend the greeting\n", "## User\n\nMend the greeting.\nThe test fails.", "## Assistant (Build · Model One · ", "**Tool: bash**"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%q is not in the file:\n%s", want, data)
		}
	}
}

// The transcript and the last answer go to the clipboard.
func TestCopy(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.press("ctrl+x", "y")
		s.slash("copy")
		if len(s.copied) != 2 || !strings.HasPrefix(s.copied[0], "You are welcome.") || !strings.HasPrefix(s.copied[1], "# Mend the greeting\n") {
			t.Errorf("copied: %q", s.copied)
		}
		s.sees("Copied")
	})
}

// Light or dark mode follows the terminal until one is chosen.
func TestThemes_LightAndDark(t *testing.T) {
	onStage(t, sample(), Options{}, func(s *stage) {
		if _, cmd := s.p.Update(uv.LightColorSchemeEvent{}); cmd == nil {
			t.Error("it does not look what the terminal changed to")
		}
		white := tea.BackgroundColorMsg{Color: style.RGB(255, 255, 255).Image()}
		s.send(white)
		if s.p.look.theme().Background == style.Default(true).Background {
			t.Error("it is dark on white")
		}
		s.press("ctrl+p")
		s.typed("switch light and dark")
		s.press("enter")
		s.send(white)
		if s.p.look.theme().Background != style.Default(true).Background {
			t.Error("what was chosen does not stay")
		}
	})
}

// That settings of the project do not count yet is told on the first screen that is seen.
func TestTrust_Reported(t *testing.T) {
	e := sample()
	e.info = api.Info{Directory: "/w/app", Home: "/home/dev"}
	onStage(t, e, Options{}, func(s *stage) { s.sees("not trusted yet: review it, then run lathe") })
	onStage(t, e, inSample(), func(s *stage) { s.sees("! The config of this project") })
	e.info.ConfigProblem = "A settings file of this project is broken and left out: lathe.json:1:2"
	onStage(t, e, Options{}, func(s *stage) { s.sees("is not trusted yet", "is broken and left out") })
	e.info.Trusted = true
	onStage(t, e, Options{}, func(s *stage) { s.sees("is broken and left out"); s.lacks("trust") })
	onStage(t, e, inSample(), func(s *stage) { s.sees("! A settings file of this project") })
	onStage(t, sample(), Options{}, func(s *stage) { s.lacks("trust", "broken") })
}

// An agent or a model that there is not is told, and no other gets the prompt instead.
func TestStart_Wrong(t *testing.T) {
	o := Options{Start: Start{Agent: "explore", Model: "acme/m-9", Prompt: "do it"}}
	onStage(t, sample(), o, func(s *stage) {
		s.sees(`Agent "explore" not found`, `Model "acme/m-9" not found`, "┃ do it", "Build · Model One")
		s.did()
		s.press("enter")
		s.did("create build", "submit ses_new3 do it")
	})
	o.Start.Agent, o.Start.Model = "plan", "acme/m-2"
	onStage(t, sample(), o, func(s *stage) {
		s.lacks("There is no")
		s.did("create plan", "submit ses_new3 do it")
	})
	o.Start.Agent, o.Start.Model = "biuld", "two" // a part of a name is enough, a mistake is not
	onStage(t, sample(), o, func(s *stage) { s.sees(`Agent "biuld" not found, did you mean build?`, "Model Two") })
}

// Who wants to go on where nothing is, is told.
func TestStart_NothingToContinue(t *testing.T) {
	e := sample()
	e.sessions = nil
	onStage(t, e, Options{Start: Start{Continue: true}}, func(s *stage) { s.sees("No session to continue here") })
}

// Changes are those of the session, else of the working tree; where there is no repository, that is said.
func TestReview_Sources(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		s.slash("diff")
		s.sees("this session · 2 files +3 −1")
		s.press("d")
		s.sees("last prompt")
		s.press("d")
		s.sees("uncommitted · 2 files")
		s.press("d")
		s.sees("this branch", "No changes")
		s.press("q")
		s.sees("Thank you")
	})
	e := sample()
	e.info = api.Info{Directory: "/w/app", Home: "/home/dev", Trusted: true}
	e.changes = nil
	onStage(t, e, Options{}, func(s *stage) {
		s.slash("diff")
		s.sees("uncommitted", "not a git repository")
	})
}
