package tui

import (
	"context"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/grant"
)

// newcomer is an engine whose user starts lathe for the first time.
func newcomer(confined bool) *canned {
	e := sample()
	e.info = api.Info{
		Directory: "/w/app", Home: "/home/dev", Branch: "main", Version: "0.9.0", Trusted: true,
		Mode: lathe.SandboxMode, Confined: confined, ChooseMode: true,
	}
	return e
}

// The first start asks once for a permission mode. Enter and escape take the default, which is to ask where
// nothing confines commands; a prompt of the command line waits for the answer.
func TestModes_FirstStart(t *testing.T) {
	for _, tt := range []struct {
		name     string
		confined bool
		keys     []string
		want     string
	}{
		{"enter", true, []string{"enter"}, "mode sandbox"},
		{"escape", true, []string{"esc"}, "mode sandbox"},
		{"another", true, []string{"down", "enter"}, "mode read-only"},
		{"stricter", true, []string{"up", "enter"}, "mode ask"},
		{"unconfined", false, []string{"enter"}, "mode ask"},
		{"unconfined escape", false, []string{"esc"}, "mode ask"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onStage(t, newcomer(tt.confined), Options{Start: Start{Prompt: "hello"}}, func(s *stage) {
				s.sees("What can lathe do without asking?", "Ask before edits and commands", "Allow inside the sandbox", "Read only", "recommended")
				s.did()
				s.press(tt.keys...)
				s.did(tt.want, "create build", "submit ses_new3 hello")
			})
		})
	}
	onStage(t, newcomer(true), Options{}, func(s *stage) { s.golden("first-mode") })
}

// Somebody who has used lathe before is not asked.
func TestModes_NotAskedAgain(t *testing.T) {
	e := newcomer(true)
	e.info.ChooseMode = false
	onStage(t, e, Options{Start: Start{Prompt: "hello"}}, func(s *stage) {
		s.did("create build", "submit ses_new3 hello")
		s.lacks("What may lathe do")
	})
}

// What was put off on the home screen stays so when the mode changes.
func TestModes_OffersStayPutOff(t *testing.T) {
	e := newcomer(true)
	e.info.ChooseMode, e.providers = false, lathe.Providers{All: e.providers.All}
	o := Options{FindSetupOptions: func(context.Context) []SetupOption { return []SetupOption{{ID: "login", Title: "Log in", Login: true}} }}
	onStage(t, e, o, func(s *stage) {
		s.sees("1. Log in")
		s.press("esc", "shift+tab")
		s.tell(&lathe.GlobalDisposed{})
		s.lacks("1. Log in")
	})
}

// Shift+Tab goes through the modes, /permissions lists them, and the status line shows the one that counts.
func TestModes_Change(t *testing.T) {
	e := newcomer(true)
	e.info.ChooseMode = false
	onStage(t, e, Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.press("shift+tab")
		s.did("mode read-only")
		s.sees("read only")
		s.sees("Permission mode: Read only") // a change is never silent
		s.press("shift+tab")
		s.did("mode ask")
		s.sees("asks first")
		s.press("shift+tab")
		s.did("allow edit * " + string(sampleID))
		s.sees("accepts edits", "Edits in the project are accepted in this session")
		s.press("shift+tab")
		s.did("revoke edit * "+string(sampleID), "mode sandbox")
		s.lacks("accepts edits")
		s.slash("permissions")
		s.press("up", "enter")
		s.did("mode ask")
		s.sees("asks first")
		e.fails = map[string]error{"allow": lathe.Errorf(lathe.Unavailable, "the disk is full")}
		s.press("shift+tab")
		s.did("allow edit * " + string(sampleID))
		s.sees("disk is full", "asks first")
		e.fails = map[string]error{"mode": lathe.Errorf(lathe.Unavailable, "the disk is full")}
		s.press("shift+tab")
		s.sees("accepts edits")
		s.press("shift+tab")
		s.did("allow edit * "+string(sampleID), "revoke edit * "+string(sampleID), "mode sandbox")
		s.sees("the disk is full", "asks first")
		s.pass(time.Minute) // the notes are gone
		e.fails, e.keeps = nil, lathe.AskMode
		s.press("shift+tab", "shift+tab")
		s.did("allow edit * "+string(sampleID), "revoke edit * "+string(sampleID), "mode sandbox")
		s.sees("it stays Ask before edits and commands", "asks first")
	})
}

// /permissions lists the mode, saved rules and those of the agent, revokes with a key and adds after a preview.
func TestPermissionsDialog(t *testing.T) {
	e := newcomer(true)
	e.info.ChooseMode = false
	e.grants = []grant.Grant{{Permission: "bash", Pattern: "git push *"}, {Permission: "edit", Pattern: "src/*", Session: sampleID}}
	e.agents[0].Rules = lathe.Ruleset{{Permission: "*", Pattern: "*", Action: lathe.Allow}, {Permission: "read", Pattern: "*.env", Action: lathe.Ask}}
	onStage(t, e, Options{Start: Start{Session: sampleID}}, func(s *stage) {
		s.slash("permissions")
		s.golden("permissions")
		s.typed("src")
		s.press("ctrl+d")
		s.sees("again to revoke")
		s.did()
		s.press("ctrl+d")
		s.did("revoke edit src/* " + string(sampleID))
		s.press("ctrl+u")
		s.lacks("src/*")
		s.typed("for this session")
		s.press("enter")
		s.typed("sandbox *")
		s.press("enter")
		s.sees("the permission sandbox is never saved")
		s.did()
		s.press("ctrl+u")
		s.typed("bash make *")
		s.press("enter")
		s.sees("make with any arguments", "in this session and")
		s.typed("yes")
		s.press("enter") // at Cancel: letters choose nothing
		s.did()
		s.typed("for this session")
		s.press("enter")
		s.typed("bash make *")
		s.press("enter", "left", "enter")
		s.did("allow bash make * " + string(sampleID))
		s.sees("bash  make *")
	})
}
