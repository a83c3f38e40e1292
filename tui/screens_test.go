package tui

import (
	"context"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/editor"
)

// Whole screens at the widths that count, as they are read: see testdata.
func TestScreens(t *testing.T) {
	in := func(keys ...string) func(s *stage) { return func(s *stage) { s.press(keys...) } }
	slash := func(name string) func(s *stage) { return func(s *stage) { s.slash(name) } }
	for _, tt := range []struct {
		name string
		home bool
		do   func(s *stage)
	}{
		{"home", true, func(*stage) {}},
		{"home-completion", true, func(s *stage) { s.typed("/se") }},
		{"home-symbols", true, func(s *stage) {
			at := api.SymbolLocation{URI: "file://" + s.p.state.Info.Directory + "/server/server.go"}
			s.engine.symbols = []api.Symbol{{Name: "Server.Start", Kind: 6, Location: at}, {Name: "StartAll", Kind: 12, Location: at}}
			s.p.state.Languages = []api.LanguageServer{{ID: "gopls", State: "running"}}
			s.typed("look at @Start")
		}},
		{"palette", true, in("ctrl+p")},
		{"help", true, slash("help")},
		{"status", true, slash("status")},
		{"mcps", true, slash("mcps")},
		{"models", true, slash("models")},
		{"agents", true, slash("agents")},
		{"providers", true, slash("connect")},
		{"themes", true, slash("themes")},
		{"session", false, func(*stage) {}},
		{"session-side", false, in("ctrl+x", "b")},
		{"sessions", false, in("ctrl+x", "l")},
		{"timeline", false, in("ctrl+x", "g")},
		{"message", false, func(s *stage) { s.click("Thank you") }},
		{"fork", false, slash("fork")},
		{"rename", false, slash("rename")},
		{"export", false, in("ctrl+x", "x")},
		{"share", false, func(s *stage) { s.p.o.Remote = true; s.slash("share") }},
		{"review", false, slash("diff")},
		{"leader", false, in("ctrl+x")},
		{"thinking", false, slash("thinking")},
		{"context", false, slash("context")},
		{"cost", false, slash("cost")},
		{"usage", false, slash("usage")},
		{"search-sessions", false, func(s *stage) {
			s.slash("search")
			s.typed("hello")
		}},
		{"config", false, slash("config")},
		{"doctor", false, slash("doctor")},
		{"memory", false, slash("memory")},
		{"remember", false, func(s *stage) { s.typed("#use tabs") }},
		{"search", false, func(s *stage) {
			s.p.drafts.edit.SetHistory([]editor.Draft{{Input: "Fix the failing test in store"}, {Input: "Write the docs"}})
			s.press("ctrl+r")
			s.typed("TEST")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{}
			if !tt.home {
				o.Start.Session = sampleID
			}
			onStage(t, sample(), o, func(s *stage) {
				tt.do(s)
				s.golden(tt.name)
			})
		})
	}
}

// What somebody sees who has no provider, and while the engine is not there yet.
func TestScreens_First(t *testing.T) {
	e := sample()
	e.providers = lathe.Providers{All: e.providers.All}
	o := Options{FindSetupOptions: func(context.Context) []SetupOption {
		return []SetupOption{{ID: "login", Title: "Log in to a provider, or enter an API key", Login: true}, {ID: "demo", Title: "See the demo", Detail: "without a key"}}
	}}
	onStage(t, e, o, func(s *stage) { s.golden("first") })
	never := Options{Open: func(ctx context.Context) (Engine, error) { <-ctx.Done(); return nil, ctx.Err() }}
	onStage(t, sample(), never, func(s *stage) { s.golden("opening") })
}

// A turn that runs: what moves, what is asked, what waits.
func TestScreens_Busy(t *testing.T) {
	onStage(t, sample(), Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{Type: lathe.Busy}})
		s.golden("busy")
		s.press("esc")
		s.sees("esc again to interrupt")
		s.press("esc")
		s.did("cancel ses_1")
	})
}
