package tui

import (
	"errors"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// browsed is an engine where one logs in with a page.
func browsed(wantsCode bool) *canned {
	e := sample()
	e.methods = map[string][]lathe.LoginMethod{"other": {{Type: "oauth", Label: "In the browser"}, {Label: "With a key"}}}
	e.page = lathe.Authorization{URL: "https://example.com/in", Instructions: "Type ABCD there.", Method: map[bool]string{true: "code", false: "auto"}[wantsCode]}
	return e
}

// A login with a page waits for its end, and the dialog goes with it, whatever the end is.
func TestLogin_Page(t *testing.T) {
	for _, fails := range []error{nil, errors.New("nobody came")} {
		e := browsed(false)
		e.fails = map[string]error{"complete": fails}
		onStage(t, e, Options{}, func(s *stage) {
			s.engine.away = make(chan struct{})
			s.slash("connect")
			s.typed("other")
			s.press("enter", "enter")
			s.sees("https://example.com/in", "ABCD")
			s.did("authorize other 0")
			before := s.screen()
			if s.pass(animationInterval); s.screen() == before {
				t.Error("nothing shows that it is waited for")
			}
			close(s.engine.away)
			s.settle()
			s.did("complete other 0")
			s.lacks("https://example.com/in")
			if fails != nil {
				s.sees("Could not log in: nobody came")
			} else {
				s.sees("Logged in to Other", "Models")
			}
		})
	}
}

// A page may give a code to type, and a key is asked for where that is the way.
func TestLogin_CodeAndKey(t *testing.T) {
	onStage(t, browsed(true), Options{}, func(s *stage) {
		s.engine.away = make(chan struct{})
		close(s.engine.away)
		s.slash("connect")
		s.typed("other")
		s.press("enter", "enter")
		s.typed("C0DE")
		s.press("enter")
		s.did("authorize other 0", "complete other 0 C0DE")
		s.press("esc")
		s.slash("connect")
		s.typed("other")
		s.press("enter", "down", "enter")
		s.sees("OTHER_KEY")
		s.typed("sk-secret")
		s.lacks("sk-secret")
		s.press("enter")
		s.did("check other", "key other")
		s.sees("Logged in to Other")
	})
}

// A key that the provider refuses is not saved. One that may not work now is, with a warning.
func TestLogin_CheckedKey(t *testing.T) {
	for verdict, want := range map[string]string{"refused": "Other refused this key", "no-credit": "The account has no credit", "unreachable": "could not be checked"} {
		onStage(t, sample(), Options{}, func(s *stage) {
			s.engine.keyCheck = api.KeyCheck{Verdict: verdict, Detail: "401: no"}
			s.slash("connect")
			s.typed("other")
			s.press("enter")
			s.typed("sk-secret")
			s.press("enter")
			s.sees(want)
			if verdict == "refused" {
				s.did("check other")
			} else {
				s.did("check other", "key other")
			}
		})
	}
}

// Whoever shows a server without a provider can log in there, too.
func TestOffers_LoginAlways(t *testing.T) {
	e := sample()
	e.providers = lathe.Providers{All: e.providers.All}
	onStage(t, e, Options{}, func(s *stage) {
		s.sees("1. Log in to a provider")
		s.press("enter")
		s.sees("Connect a provider")
	})
}

// Who types a key is told who keeps it: a server elsewhere is another machine.
func TestLogin_Keeper(t *testing.T) {
	for remote, words := range map[bool]string{false: "It is stored on this machine", true: "It is stored on the server"} {
		onStage(t, sample(), Options{Remote: remote}, func(s *stage) {
			s.slash("connect")
			s.typed("other")
			s.press("enter")
			s.sees(words)
		})
	}
}
