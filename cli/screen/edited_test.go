package screen

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/tui"
)

// askScript is turns of one call that must be asked about, and an answer.
const askScript = `call write {"filePath":"a.txt","content":"a"}
finish tool-calls
--
text "One."
finish stop
--
call write {"filePath":"b.txt","content":"b"}
finish tool-calls
--
text "Two."
finish stop
`

// editedTurn is a session whose config is edited while a turn waits for a permission.
type editedTurn struct {
	*testing.T
	host   tui.Engine
	model  *modeltest.Server
	id     lathe.SessionID
	config string
	toasts []string
}

// turn runs one to its end; edit is called while it waits.
func (e *editedTurn) turn(words string, edit func()) {
	e.Helper()
	ok := func(err error) {
		e.Helper()
		if err != nil {
			e.Fatal(err)
		}
	}
	rested := rests(e.id)
	hears(e.T, e.host, func() { _, err := e.host.Submit(e.Context(), e.id, lathe.Prompt{Parts: wrote(words)}); ok(err) }, func(ev lathe.Event) bool {
		switch f := ev.Fact.(type) {
		case *lathe.PermissionAsked:
			edit()
			ok(e.host.Reply(e.Context(), f.ID, lathe.Once, ""))
		case *lathe.TUIToast:
			e.toasts = append(e.toasts, f.Message)
		}
		return rested(ev)
	})
}

func (e *editedTurn) set(change string) {
	e.Helper()
	if err := config.Edit(e.config, json.RawMessage(change)); err != nil {
		e.Fatal(err)
	}
}

// heats are the temperatures of the requests since the last time it was called.
func (e *editedTurn) heats(from int) (out []float64) {
	e.Helper()
	for _, r := range e.model.Requests()[from:] {
		var body struct{ Temperature float64 }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			e.Fatal(err)
		}
		out = append(out, body.Temperature)
	}
	return out
}

// A config that is edited while a turn runs counts from the next turn on. One that is broken is told,
// ends no turn, and refuses the next prompt with its reason until it is mended.
func TestTurn_ConfigEdited(t *testing.T) {
	a, m := tuiHome(t, askScript+"--\ntext \"Three.\"\nfinish stop\n")
	e := &editedTurn{T: t, model: m, config: filepath.Join(a.Env("HOME"), ".config", "lathe", "lathe.json")}
	e.set(`{"permission": {"edit": "ask"}, "agent": {"build": {"temperature": 0.25}}, "provider": {"script": {"models": {"script": {"temperature": true}}}}}`)
	e.host = opened(t, a)
	s, err := e.host.Create(t.Context(), a.Dir, lathe.NewSession{Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	e.id = s.ID

	e.turn("first", func() { e.set(`{"agent": {"build": {"temperature": 0.75}}}`) })
	if got := e.heats(0); !slices.Equal(got, []float64{0.25, 0.25}) {
		t.Errorf("edited in the turn: temperatures %v", got)
	}

	good, err := os.ReadFile(e.config)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(e.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e.turn("second", func() { write(`{"agent": {"build": `) })
	if got := e.heats(2); !slices.Equal(got, []float64{0.75, 0.75}) {
		t.Errorf("broken in the turn: temperatures %v", got)
	}
	if len(e.toasts) != 1 || !strings.Contains(e.toasts[0], "lathe.json") || !strings.Contains(e.toasts[0], "keeps the config it started with") {
		t.Errorf("told: %q", e.toasts)
	}
	if _, err := e.host.Submit(t.Context(), e.id, lathe.Prompt{Parts: wrote("third")}); err == nil || !strings.Contains(err.Error(), "lathe.json") {
		t.Errorf("a prompt while it is broken: %v", err)
	}
	write(string(good))
	e.turn("third", func() {})
	if got := e.heats(4); !slices.Equal(got, []float64{0.75}) {
		t.Errorf("mended: temperatures %v", got)
	}
}
