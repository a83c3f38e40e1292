// Command embed shows how a program uses the engine as a library: it opens a database, begins a
// session, gives it a prompt and prints the answer as it comes. There is no server and no
// command line of lathe; settings, agents, tools and the model are given in Go.
//
// It does not use package harness, which builds the same engine from config files, credentials and the environment
// of a user: a program that wants what `lathe run` would do calls harness.Open instead of engine.Open, and the rest
// of ask stays as it is.
//
//	go run ./examples/embed http://127.0.0.1:11434/v1 "How many days until the end of the year?"
//
// The address is that of any server that speaks the Chat Completions protocol.
//
// Start reading at ask.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/openai"
	"github.com/lathe-agent/lathe/store/sqlite"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, `usage: embed ADDRESS-OF-A-MODEL "PROMPT"`)
		os.Exit(2)
	}
	data, err := os.MkdirTemp("", "embed-")
	if err == nil {
		defer os.RemoveAll(data)
		err = ask(ctx, data, ".", os.Args[1], strings.Join(os.Args[2:], " "), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

// ask gives a prompt to a new session about a directory, and writes the answer.
func ask(ctx context.Context, data, dir, modelAt, words string, to io.Writer) (err error) {
	driver, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(data, "lathe.db")})
	if err != nil {
		return err
	}
	e, err := engine.Open(ctx, engine.Options{Driver: driver, Blobs: filepath.Join(data, "blobs"), Version: "embed", Environment: setup{modelAt}})
	if err != nil {
		return err
	}
	defer func() {
		if closed := e.Close(); err == nil {
			err = closed
		}
	}()
	s, err := e.Create(ctx, dir, lathe.NewSession{Title: "From a program"})
	if err != nil {
		return err
	}
	// Events come first, the prompt second, so that nothing is missed.
	for ev, err := range e.Events(ctx, lathe.Scope{Session: s.ID}, lathe.Opt[lathe.Cursor]{}) {
		if err != nil {
			return err
		}
		switch f := ev.Fact.(type) {
		case *lathe.ServerConnected:
			if _, err := e.Submit(ctx, s.ID, lathe.Prompt{Parts: []lathe.Part{{Body: &lathe.Text{Text: words}}}}); err != nil {
				return err
			}
		case *lathe.PartDelta:
			if _, err := io.WriteString(to, f.Delta); err != nil {
				return err
			}
		case *lathe.PermissionAsked: // a program decides, or asks its user
			if err := e.Reply(ctx, f.ID, lathe.Reject, "Nobody is here to allow it."); err != nil {
				return err
			}
		case *lathe.SessionFailed:
			return lathe.Errorf(lathe.Unavailable, "%s", lathe.FaultMessage(f.Error))
		case *lathe.SessionIdle:
			_, err := io.WriteString(to, "\n")
			return err
		default:
		}
	}
	return context.Cause(ctx)
}

// setup is what the engine may use: one agent, one tool of our own, and one model.
type setup struct{ modelAt string }

// Settings are the same in every directory.
func (setup) Settings(context.Context, workspace.Place) (*engine.StepSettings, error) {
	rules := lathe.Ruleset{
		{Permission: "*", Pattern: "*", Action: lathe.Ask},
		{Permission: "date", Pattern: "*", Action: lathe.Allow},
	}
	return &engine.StepSettings{
		Agents:       []engine.Agent{{Agent: lathe.Agent{Name: "build", Mode: lathe.Primary, Rules: rules}}},
		DefaultModel: lathe.ModelRef{Provider: "own", Model: "m"},
		Tools:        tool.NewSet(date()),
	}, nil
}

// date is a tool of our own: a Go function with a schema made of its input.
func date() tool.Tool {
	type input struct {
		Zone string `json:"zone" jsonschema:"a time zone: Europe/Paris"`
	}
	spec := tool.Spec{Name: "date", Description: "Tells the date and time of a time zone.", Permission: "date"}
	return tool.Define(spec, func(_ context.Context, _ *tool.Call, in input) (tool.Result, error) {
		zone, err := time.LoadLocation(in.Zone)
		if err != nil {
			return tool.Result{}, tool.Failf("there is no time zone %q; give one as in Europe/Paris.", in.Zone)
		}
		return tool.Result{Title: in.Zone, Output: time.Now().In(zone).Format(time.RFC1123)}, nil
	})
}

// Model makes a client of the one model there is.
func (s setup) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	at := model.Endpoint{Provider: ref.Provider, BaseURL: s.modelAt}
	return &engine.Model{
		Ref: ref, Name: ref.Model, Context: 100_000, Output: 4000,
		Target: model.Target{Provider: ref.Provider, Model: ref.Model},
		Client: openai.NewChat(at, lathe.NewIDs(), openai.Dialect{}),
	}, nil
}
