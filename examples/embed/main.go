// Command embed shows how to use the engine as a library: open a database, create a session, send a prompt and print
// the answer as it streams. It needs neither a server nor the lathe command. Settings, agents, tools and the model
// are defined in Go.
//
// It does not use package harness, which builds the same engine from config files, credentials and the environment.
// For the behavior of `lathe run`, call harness.Open instead of engine.Open; the rest of ask stays the same.
//
//	go run ./examples/embed http://127.0.0.1:11434/v1 "How many days until the end of the year?"
//
// The address is any server that implements the Chat Completions protocol.
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
		fmt.Fprintln(os.Stderr, `usage: embed MODEL-URL "PROMPT"`)
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

// ask sends a prompt to a new session in a directory and writes the answer.
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
	// Subscribe before the prompt is sent, so that no event is missed.
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
		case *lathe.PermissionAsked: // decide here, or ask the user
			if err := e.Reply(ctx, f.ID, lathe.Reject, "No user is available to allow this."); err != nil {
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

// setup configures the engine: one agent, one custom tool and one model.
type setup struct{ modelAt string }

// Settings returns the same settings for every directory.
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

// date is a custom tool: a Go function whose schema is generated from its input type.
func date() tool.Tool {
	type input struct {
		Zone string `json:"zone" jsonschema:"a time zone: Europe/Paris"`
	}
	spec := tool.Spec{Name: "date", Description: "Returns the date and time in a time zone.", Permission: "date"}
	return tool.Define(spec, func(_ context.Context, _ *tool.Call, in input) (tool.Result, error) {
		zone, err := time.LoadLocation(in.Zone)
		if err != nil {
			return tool.Result{}, tool.Failf("unknown time zone %q; use a name like Europe/Paris.", in.Zone)
		}
		return tool.Result{Title: in.Zone, Output: time.Now().In(zone).Format(time.RFC1123)}, nil
	})
}

// Model returns a client for the only model.
func (s setup) Model(_ context.Context, _ workspace.Place, ref lathe.ModelRef) (*engine.Model, error) {
	at := model.Endpoint{Provider: ref.Provider, BaseURL: s.modelAt}
	return &engine.Model{
		Ref: ref, Name: ref.Model, Context: 100_000, Output: 4000,
		Target: model.Target{Provider: ref.Provider, Model: ref.Model},
		Client: openai.NewChat(at, lathe.NewIDs(), openai.Dialect{}),
	}, nil
}
