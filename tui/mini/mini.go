// Package mini is the inline front end: it prints a conversation into the scrollback of the terminal, with a prompt
// below it, and never takes the whole screen. It works on the same engine, state, prompt editor, requests and pickers
// as the terminal UI (tui/state, tui/editor, tui/ask, tui/dialog) and draws with the live view of `lathe run`
// (tui/inline).
//
// One goroutine owns all state: the loop in loop.go. Calls of the engine run in the background and return a function
// for the loop. Two faces show the conversation: screenFace with live rows below it, and linearFace for screen
// readers, which only ever appends lines.
//
// Start with Run, then program.handle.
package mini

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// Engine is the backend: an engine in this process, or a server.
type Engine interface {
	api.Engine
	api.Host
}

// Options configure Run.
type Options struct {
	Open       func(ctx context.Context) (Engine, error) // called once, after the prompt is drawn
	Dir        string
	Remote     bool // the engine keeps running when the program exits
	Start      Start
	Accessible bool   // print lines only, for screen readers
	Still      bool   // nothing moves
	State      string // directory for state kept between runs; "" saves nothing
	Keys       map[string]json.RawMessage
	// Interrupts returns a channel of interrupts typed on a terminal that is not in raw mode, and a function that ends
	// it.
	Interrupts func() (<-chan os.Signal, func())
	Log        func(format string, args ...any)

	In, Out *os.File
	Size    func() (width, height int)
	Env     []string // TERM, COLORTERM, NO_COLOR and their like
	Now     func() time.Time
}

// Start says which session to open and what to send first.
type Start struct {
	Session  lathe.SessionID // open this session
	Continue bool            // open the last session of the directory
	Fork     bool            // open a fork of it
	Prompt   string          // sent when a model is ready
	Agent    string
	Model    string // as provider/model
	Auto     bool   // approve every permission request
}

// Result says how the program ended.
type Result struct {
	Session         lathe.SessionID
	Title           string
	TurnInterrupted bool // its turn was running and was interrupted
}

// Run shows the conversation until the user leaves or the context ends. It restores the terminal.
func Run(ctx context.Context, o Options) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := newProgram(ctx, o)
	in, err := p.openInput(ctx)
	if err != nil {
		return Result{}, err
	}
	p.face.begin()
	p.open()
	p.run(in.events)
	sender{p}.saveDraft()
	p.face.end()
	in.close()
	result := p.result()
	cancel()
	p.calls.wait(5 * time.Second)
	return result, p.failed
}

func (p *program) result() Result {
	id := p.state.Current
	out := Result{Session: id, TurnInterrupted: id != "" && !p.o.Remote && p.state.Busy(id)}
	if s, ok := p.state.Session(id); ok {
		out.Title = s.Title
	}
	return out
}
