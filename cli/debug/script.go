package debug

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// newScript lets users reproduce a bug without a provider.
func newScript(a *cli.App) *cobra.Command {
	to := ""
	cmd := &cobra.Command{
		Use:   "model SCRIPT",
		Short: "Run a model server that follows a script",
		Long: `Run a local model server that answers from a script, in the protocols of Anthropic, OpenAI (Chat
Completions and Responses) and Gemini. Print a config that uses it, and log requests to standard
error. Ctrl-C stops it. Use it to experiment without API key, and to reproduce bugs. Requests for a
title are answered separately.

A script has one step per line, and a line of -- between answers:

  text "Push" "ing."                     one delta each
  reasoning "let me see"
  call read {"path":"notes"}             and NAME {…} for a parallel call
  usage 100 20 cache-read=80
  finish tool-calls
  pause 50ms · stall · cut · cut reset   status 429 retry-after=2 "body"
  error overloaded_error "Overloaded"    when "a title"   for requests with this text`,
		Example: `  printf 'text "Hello."\nfinish stop\n' > hello.script
  lathe debug model hello.script -o lathe.json &
  lathe run --trust "hi"`,
		Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return playScript(c.Context(), a, args[0], to) },
	}
	cmd.Flags().StringVarP(&to, "output", "o", "", "`FILE` to write the config to")
	return cmd
}

// ScriptConfig is a config with the scripted model at an address.
const ScriptConfig = `{
  "model": "script/script",
  "provider": {
    "script": {
      "npm": "@ai-sdk/openai-compatible",
      "options": {"baseURL": "%s/v1", "apiKey": "none"},
      "models": {"script": {"cost": {"input": 1, "output": 2}}}
    }
  }
}
`

// playScript serves the model until the context ends.
func playScript(ctx context.Context, a *cli.App, name, to string) error {
	src, err := readScript(a, name)
	if err != nil {
		return err
	}
	script, err := modeltest.Parse(string(src))
	if err != nil {
		return lathe.Errorf(lathe.Invalid, "%s: %w", termtext.Plain(name), err)
	}
	s, err := modeltest.Listen(script)
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "cannot listen: %w", err)
	}
	defer s.Close()
	titled := bytes.Contains(src, []byte(engine.TitleRequest)) // the script answers that too
	s.Respond(func(r modeltest.Request) modeltest.Answer {
		a.Notify("request %d: %s %s, %d bytes", r.N, r.Method, termtext.Plain(r.Path), len(r.Body))
		if !titled && bytes.Contains(r.Body, []byte(engine.TitleRequest)) {
			return modeltest.Answer{modeltest.Text{"From a script"}, modeltest.Finish("stop")}
		}
		return nil // the script answers
	})
	if to == "" {
		a.Printf(ScriptConfig, s.URL)
		err = a.Out.Flush()
	} else {
		_, err = session.WriteFile(to, func(w *cli.CountingFile) error {
			_, err := fmt.Fprintf(w, ScriptConfig, s.URL)
			return err
		})
	}
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// readScript reads a script from a file, or from standard input for "-".
func readScript(a *cli.App, name string) ([]byte, error) {
	const most = 64 << 20
	var from io.ReadCloser = a.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, lathe.Errorf(lathe.NotFound, "cannot read the script: %w", err)
		}
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, most))
	return data, cli.CloseAfter(from, err)
}
