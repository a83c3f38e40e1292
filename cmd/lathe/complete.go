package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/account"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/workspace"
)

// isCompletion reports whether a shell asks for completions.
func isCompletion(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
}

// words lists the completions of one argument or flag. It returns no error, because a shell could not show it.
type words func(ctx context.Context) []cobra.Completion

// registerCompletions adds completions to the commands, only when a shell asks. They read config, catalog and
// database, but start no plugin or server and use no network.
func registerCompletions(a *cli.App, root *cobra.Command) {
	all := completions{a}
	flags := map[string]words{
		"model": all.models, "agent": all.agents, "session": all.sessions, "command": all.commands, "provider": all.providers,
	}
	places := map[string]words{
		"models": all.vendorsAndModels, "auth login": all.providers, "auth logout": all.credentials, "completion": nil,
		"mcp auth": all.servers, "mcp logout": all.servers, "mcp debug": all.servers, "debug agent": all.agents,
	}
	each(root, func(c *cobra.Command) {
		path := strings.TrimPrefix(c.CommandPath(), "lathe ")
		if find, ok := places[path]; ok && find != nil {
			c.ValidArgsFunction = first(find)
		}
		if _, wants, _ := strings.Cut(c.Use, " "); strings.HasPrefix(strings.TrimLeft(wants, "["), "ID") {
			c.ValidArgsFunction = first(all.sessions)
		}
		visit := func(f *pflag.Flag) {
			find := flags[f.Name]
			if list := choicesOf(f); list != nil {
				find = func(context.Context) []cobra.Completion { return list }
			}
			switch {
			case find != nil:
				_ = c.RegisterFlagCompletionFunc(f.Name, anywhere(find)) // fails only when registered twice
			case f.Name == "dir" || f.Name == "path":
				f.Annotations = map[string][]string{cobra.BashCompSubdirsInDir: {}}
			}
		}
		c.PersistentFlags().VisitAll(visit)
		c.LocalNonPersistentFlags().VisitAll(visit)
	})
}

// each calls f for a command and all its subcommands.
func each(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		each(sub, f)
	}
}

// choicesOf returns the values in the help of a flag: "output FORMAT: table or json".
func choicesOf(f *pflag.Flag) []cobra.Completion {
	if !slices.Contains([]string{"format", "log-level", "method", "by"}, f.Name) {
		return nil
	}
	_, list, ok := strings.Cut(f.Usage, ": ")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list, ";")
	return strings.FieldsFunc(strings.ReplaceAll(list, " or ", ","), func(r rune) bool { return r == ',' || r == ' ' })
}

// first completes the first argument of a command, or every argument if the command is variadic.
func first(find words) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && !strings.Contains(c.Use, "...") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return anywhere(find)(c, args, prefix)
	}
}

func anywhere(find words) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		list := slices.DeleteFunc(find(c.Context()), func(w cobra.Completion) bool {
			word, _, _ := strings.Cut(w, "\t")
			return !strings.HasPrefix(word, prefix) || slices.Contains(args, word)
		})
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// described returns a completion with a one-line description.
func described(word, means string) cobra.Completion {
	if means = termtext.OneLine(termtext.Plain(means)); means == "" {
		return termtext.Plain(word)
	}
	return cobra.CompletionWithDesc(termtext.Plain(word), termtext.Clip(means, 60))
}

// completions finds the completions.
type completions struct{ app *cli.App }

// maxSessions is the number of sessions offered, newest first.
const maxSessions = 50

// sessions completes session IDs with titles as descriptions.
func (x completions) sessions(ctx context.Context) (out []cobra.Completion) {
	if x.app.Attach != "" {
		return nil // a remote server may be slow
	}
	_ = x.app.WithSessions(ctx, func(e api.Engine) error {
		q, err := x.app.ProjectQuery(ctx, e)
		if err != nil {
			return err
		}
		q.Limit = maxSessions
		all, err := e.List(ctx, q)
		for _, s := range all {
			out = append(out, described(string(s.ID), layout.FormatAge(s.Updated, x.app.Now())+" · "+s.Title))
		}
		return err
	})
	return out
}

// withConfig calls f with the config of the directory, without plugins.
func (x completions) withConfig(ctx context.Context, f func(*harness.DirConfig)) {
	at, err := datadir.Find(x.app.Env)
	if err != nil {
		return
	}
	s := harness.New(&x.app.Host, at)
	s.Keyless = true // nothing is fetched
	if place, err := workspace.Locate(ctx, x.app.Dir, nil); err == nil {
		if k, err := s.ConfigFor(place); err == nil {
			f(k)
		}
	}
	_ = s.Close() // nothing was started
}

// agents completes the names of visible agents.
func (x completions) agents(ctx context.Context) (out []cobra.Completion) {
	x.withConfig(ctx, func(k *harness.DirConfig) {
		for _, g := range k.Settings.Ordered() {
			if !g.Hidden.On() {
				out = append(out, described(g.Name, g.Description))
			}
		}
	})
	return out
}

func (x completions) commands(ctx context.Context) (out []cobra.Completion) {
	x.withConfig(ctx, func(k *harness.DirConfig) {
		for _, c := range k.Settings.Commands {
			out = append(out, described(c.Name, c.Description))
		}
	})
	return out
}

// usable returns the providers, or nil if they cannot be determined.
func (x completions) usable() *harness.Providers {
	at, err := datadir.Find(x.app.Env)
	if err != nil {
		return nil
	}
	l, err := x.app.Config()
	if err != nil {
		return nil
	}
	p, err := x.app.ProvidersOf(l, at)
	if err != nil {
		return nil
	}
	return p
}

// models completes the models that can be used here.
func (x completions) models(context.Context) (out []cobra.Completion) {
	p := x.usable()
	if p == nil {
		return nil
	}
	for _, one := range p.Active() {
		for _, m := range account.Models(one.Provider) {
			out = append(out, described(m.Ref(), m.Name))
		}
	}
	return out
}

// providers completes all providers of the catalog.
func (x completions) providers(context.Context) (out []cobra.Completion) {
	p := x.usable()
	if p == nil {
		return nil
	}
	for _, one := range p.Catalog.Providers() {
		out = append(out, described(one.ID, one.Name))
	}
	return out
}

func (x completions) vendorsAndModels(ctx context.Context) []cobra.Completion {
	return append(x.providers(ctx), x.models(ctx)...)
}

// credentials completes providers with saved credentials.
func (x completions) credentials(context.Context) (out []cobra.Completion) {
	p := x.usable()
	if p == nil || p.File == nil {
		return nil
	}
	all, err := p.File.All()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all))
}

func (x completions) servers(context.Context) []cobra.Completion {
	l, err := x.app.Config()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(l.Config.MCP))
}
