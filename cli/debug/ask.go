package debug

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/run"
	"github.com/lathe-agent/lathe/cli/session"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
	"github.com/lathe-agent/lathe/model/record"
)

type askFlags struct {
	model, variant, system, record, replay string
	timing                                 bool
}

func newAsk(a *cli.App) *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "ask [TEXT...]",
		Short: "Send one request to a model and print what comes back",
		Long: `Sends one request to a model, without a session and without tools, and prints the answer as
it comes: text on standard output; what the model thought, sources, and at last tokens, cost
and time on standard error. --json prints each event as a line of JSON instead.

What is piped in is the prompt, below the TEXT if there is one. Without -m it is the model of
your settings, else the one used last, else the best you can use.

--record keeps the traffic in a file, without keys, also when the request fails: for bug
reports. --replay answers from such a file instead of the network and needs no key; the
request must be the same.

Exit codes: 0 the answer came to its end, 1 it did not (refused, broken off, filtered, no such
model, no key), 2 wrong usage, 130 interrupted; the connection is closed then.`,
		Example: `  lathe debug ask -m anthropic/claude-haiku-4-5-20251001 "Are you there?"
  git diff | lathe debug ask "What does this change?"
  lathe debug ask -m own/m --json hello | jq -r 'select(.type == "usage")'
  lathe debug ask -m own/m --record call.jsonl hello
  lathe debug ask -m own/m --replay call.jsonl hello`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if f.record != "" && f.replay != "" {
				return cli.Usagef("--record and --replay do not go together")
			}
			text, err := promptText(c.Context(), a, args)
			if err != nil {
				return err
			}
			return askModel(c.Context(), a, f, text)
		},
	}
	cmd.Flags().StringVarP(&f.model, "model", "m", "", "the `MODEL`, as provider/model")
	cmd.Flags().StringVar(&f.variant, "variant", "", "the `LEVEL` of reasoning; `lathe models PROVIDER/MODEL` lists them")
	cmd.Flags().StringVar(&f.system, "system", "", "the system prompt; there is none otherwise")
	cmd.Flags().StringVar(&f.record, "record", "", "keep the traffic in this `FILE`")
	cmd.Flags().StringVar(&f.replay, "replay", "", "answer from this `FILE`, without a network")
	cmd.Flags().BoolVar(&f.timing, "timing", false, "with --record keep, and with --replay repeat, when each piece came")
	return a.JSONFlag(cmd)
}

// promptText is what was typed, and below it what was piped in.
func promptText(ctx context.Context, a *cli.App, args []string) (string, error) {
	text, err := a.AppendStdin(ctx, strings.Join(args, " "))
	if err == nil && text == "" {
		err = cli.Usagef("there is nothing to ask: `lathe debug ask \"Are you there?\"`, or pipe it in")
	}
	return text, err
}

// question is a request and who answers it.
type question struct {
	model   model.Model
	info    provider.Info
	request model.Request
	limit   int // of the model's answers in tokens; 0 is not known
}

func askModel(ctx context.Context, a *cli.App, f askFlags, text string) error {
	p, err := a.Providers()
	if err != nil {
		return err
	}
	a.WarnUntrusted(p.Settings)
	m, err := askedModel(ctx, a, p, f)
	if err != nil {
		return err
	}
	options, ok := m.Variant(f.variant)
	if !ok {
		return run.NoVariant(m, f.variant)
	}
	send := func(t http.RoundTripper) error {
		q, err := questionFor(a, p, m, f, t)
		if err != nil {
			return err
		}
		q.request.Messages = []model.Message{{Role: model.UserRole, Content: []model.Content{model.TextContent{Text: text}}}}
		q.limit = int(m.Limit.Output)
		maps.Copy(q.request.Options, options)
		return printAnswer(ctx, a, q)
	}
	switch {
	case f.replay != "":
		return askReplayed(a, f, send)
	case f.record != "":
		return askRecorded(a, f, send)
	default:
		return send(http.DefaultTransport)
	}
}

// askedModel is the model that is meant; who has none gets help with it.
func askedModel(ctx context.Context, a *cli.App, p *harness.Providers, f askFlags) (*catalog.Model, error) {
	m, err := p.Choose(ctx, f.model)
	if err == nil || f.model != "" || p.Settings.Config.Model != "" || f.replay != "" {
		return m, err
	}
	ref, err := run.FirstRun(ctx, a, p, cli.IsTerminal(a.Stdout.File))
	if err != nil {
		return nil, err
	}
	fresh, err := a.Providers() // a login has changed what can be used
	if err != nil {
		return nil, err
	}
	*p = *fresh
	return p.Choose(ctx, ref)
}

// questionFor opens the model, with a request that asks nothing yet.
func questionFor(a *cli.App, p *harness.Providers, m *catalog.Model, f askFlags, t http.RoundTripper) (q question, err error) {
	deps, vendor := p.Deps, p.Catalog.Provider(m.Provider)
	deps.Client = &http.Client{Transport: t}
	if f.replay != "" {
		deps = harness.WithoutKeys(vendor, m, deps)
	}
	if q.model, q.info, err = provider.Open(vendor, m, deps); err != nil {
		return q, err
	}
	q.request = q.info.Defaults("")
	q.request.MaxOutput = m.MaxOutput(a.OutputLimit())
	q.request.Cache = model.NoCache // it costs, and nothing follows
	if f.system != "" {
		q.request.System = []string{f.system}
	}
	a.Log.Info("asking", "model", m.Ref(), "protocol", q.info.Protocol, "address", harness.RedactURL(q.info.BaseURL), "source", q.info.Source)
	return q, nil
}

// askReplayed answers from a file.
func askReplayed(a *cli.App, f askFlags, send func(http.RoundTripper) error) error {
	player, err := run.OpenPlayer(f.replay)
	if err != nil {
		return err
	}
	player.Timing = f.timing
	err = send(player)
	if errors.Is(err, record.ErrNotRecorded) {
		return lathe.Errorf(lathe.NotFound, "%w (model, text, --system and --variant must be as they were)", notRecorded(err))
	}
	return err
}

// notRecorded is the player's own error, without what was put around it.
func notRecorded(err error) error {
	for err != nil && !strings.HasPrefix(err.Error(), record.ErrNotRecorded.Error()) {
		err = errors.Unwrap(err)
	}
	return err
}

// errNothing says that no request was sent.
var errNothing = errors.New("nothing to record")

// askRecorded keeps the traffic, of a failure too.
func askRecorded(a *cli.App, f askFlags, send func(http.RoundTripper) error) error {
	var asked error
	size, err := session.WriteFile(f.record, func(w *cli.CountingFile) error {
		r := record.NewRecorder(w, nil)
		r.Timing = f.timing
		asked = send(r)
		if err := r.Close(); err != nil {
			return err
		}
		if w.Written == 0 {
			return errNothing
		}
		return nil
	})
	switch {
	case asked != nil && (err == nil || errors.Is(err, errNothing)):
		err = asked
	case err != nil:
		err = lathe.Errorf(lathe.Unavailable, "the traffic could not be kept: %w", err)
	}
	if size > 0 && !a.JSON {
		a.Notify("Recorded in %s (%s).", termtext.Plain(f.record), termtext.ByteSize(size))
	}
	return err
}
