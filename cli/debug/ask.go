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

// newAsk tests a provider without the engine, to tell a provider problem from a lathe bug.
func newAsk(a *cli.App) *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "ask [TEXT...]",
		Short: "Send one request to a model and print the answer",
		Long: `Send one request to a model, without a session or tools, and print the answer. The text goes to
standard output. Reasoning, sources, and the final tokens, cost and time go to standard error.
--json prints each event as one line of JSON instead.

Piped input is appended to TEXT. Without -m, the model is the one in the config, else the last used
one, else the best available one.

--record saves the traffic to a file, without API keys, also for a failed request: attach it to bug
reports. --replay answers from such a file, without network or API key; the request must be the same.

Exit codes: 0 complete answer, 1 failure (refused, truncated, filtered, unknown model, no API key),
2 usage error, 130 interrupted.`,
		Example: `  lathe debug ask -m anthropic/claude-haiku-4-5-20251001 "Are you there?"
  git diff | lathe debug ask "What does this change?"
  lathe debug ask -m own/m --json hello | jq -r 'select(.type == "usage")'
  lathe debug ask -m own/m --record call.jsonl hello
  lathe debug ask -m own/m --replay call.jsonl hello`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if f.record != "" && f.replay != "" {
				return cli.Usagef("--record and --replay cannot be combined")
			}
			text, err := promptText(c.Context(), a, args)
			if err != nil {
				return err
			}
			return askModel(c.Context(), a, f, text)
		},
	}
	cmd.Flags().StringVarP(&f.model, "model", "m", "", "`MODEL` to use, as provider/model")
	cmd.Flags().StringVar(&f.variant, "variant", "", "reasoning `LEVEL`; `lathe models PROVIDER/MODEL` lists them")
	cmd.Flags().StringVar(&f.system, "system", "", "system prompt `TEXT` (default none)")
	cmd.Flags().StringVar(&f.record, "record", "", "`FILE` to save the model traffic to")
	cmd.Flags().StringVar(&f.replay, "replay", "", "recorded `FILE` to answer from, without network")
	cmd.Flags().BoolVar(&f.timing, "timing", false, "with --record save, and with --replay repeat, the timing")
	return a.JSONFlag(cmd)
}

// promptText joins the arguments and appends piped input.
func promptText(ctx context.Context, a *cli.App, args []string) (string, error) {
	text, err := a.AppendStdin(ctx, strings.Join(args, " "))
	if err == nil && text == "" {
		err = cli.Usagef("the prompt is empty: run `lathe debug ask \"Are you there?\"`, or pipe it in")
	}
	return text, err
}

// question is a request with its model.
type question struct {
	model   model.Model
	info    provider.Info
	request model.Request
	limit   int // output limit of the model in tokens; 0 is unknown
}

// askModel sends the request over the network, with a recorder, or to a recording.
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

// askedModel returns the selected model, or runs the first-run dialog if there is none.
func askedModel(ctx context.Context, a *cli.App, p *harness.Providers, f askFlags) (*catalog.Model, error) {
	if f.model != "" {
		full, err := p.FullName(ctx, f.model)
		if lathe.CodeOf(err) == lathe.NotFound {
			return nil, cli.WithExit(err, cli.ExitUsage)
		}
		if err == nil {
			f.model = full
		}
	}
	m, err := p.Choose(ctx, f.model)
	if err == nil || f.model != "" || p.Settings.Config.Model != "" || f.replay != "" {
		return m, err
	}
	ref, err := run.FirstRun(ctx, a, p, cli.IsTerminal(a.Stdout.File))
	if err != nil {
		return nil, err
	}
	fresh, err := a.Providers() // a login has changed the available models
	if err != nil {
		return nil, err
	}
	*p = *fresh
	return p.Choose(ctx, ref)
}

// questionFor opens the model and prepares a request without a prompt.
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
	q.request.Cache = model.NoCache // caching would cost without a later request
	if f.system != "" {
		q.request.System = []string{f.system}
	}
	a.Log.Info("asking", "model", m.Ref(), "protocol", q.info.Protocol, "address", harness.RedactURL(q.info.BaseURL), "source", q.info.Source)
	return q, nil
}

// askReplayed answers from a recording.
func askReplayed(a *cli.App, f askFlags, send func(http.RoundTripper) error) error {
	player, err := run.OpenPlayer(f.replay)
	if err != nil {
		return err
	}
	player.Timing = f.timing
	err = send(player)
	if errors.Is(err, record.ErrNotRecorded) {
		return lathe.Errorf(lathe.NotFound, "%w (model, text, --system and --variant must be the same as recorded)", notRecorded(err))
	}
	return err
}

// notRecorded returns the player's error without its wrapping.
func notRecorded(err error) error {
	for err != nil && !strings.HasPrefix(err.Error(), record.ErrNotRecorded.Error()) {
		err = errors.Unwrap(err)
	}
	return err
}

// errNothing reports that no request was sent.
var errNothing = errors.New("nothing to record")

// askRecorded saves the traffic, also of a failure.
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
		err = lathe.Errorf(lathe.Unavailable, "cannot save the traffic: %w", err)
	}
	if size > 0 && !a.JSON {
		a.Notify("Recorded in %s (%s).", termtext.Plain(f.record), termtext.ByteSize(size))
	}
	return err
}
