package account

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
)

type LoginFlags struct {
	Provider, Method, client, server string
	noBrowser, yes                   bool
}

func newAuthLogin(a *cli.App) *cobra.Command {
	var f LoginFlags
	cmd := &cobra.Command{
		Use:   "login [PROVIDER | ADDRESS]",
		Short: "Give lathe a key, or log in",
		Long: `Keeps the key of a provider. It is typed on the terminal, where it is not shown, or piped in.
Without a name it asks which provider. What was kept for it before is replaced.

Some providers let you log in without a key: OpenRouter in the browser; GitHub Copilot with a
code, for which you need the client id of a GitHub OAuth app with device flow (--client-id, or
provider.github-copilot.options.clientId in your settings), since lathe has none of its own.

With the address of an organisation's server it asks that server which command logs you in,
shows it to you, and runs it only if you say so. What the command prints is kept as a token.`,
		Example: `  lathe auth login anthropic
  lathe auth login openai < key.txt
  pass show openrouter | lathe auth login openrouter
  lathe auth login openrouter --method browser
  lathe auth login github-copilot --client-id Iv1.0123456789abcdef`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				if f.Provider != "" && f.Provider != args[0] {
					return cli.Usagef("--provider %s and %s are two; name one", termtext.Quote(f.Provider), termtext.Quote(args[0]))
				}
				f.Provider = args[0]
			}
			if strings.Contains(f.Provider, "://") {
				return loginAt(c.Context(), a, f)
			}
			return LogIn(c.Context(), a, f)
		},
	}
	cmd.Flags().StringVarP(&f.Provider, "provider", "p", "", "the `PROVIDER`, if it is not the argument")
	cmd.Flags().StringVarP(&f.Method, "method", "m", "", "`HOW`: key, browser or device")
	cmd.Flags().StringVar(&f.client, "client-id", "", "the `ID` of the app to log in with")
	cmd.Flags().StringVar(&f.server, "enterprise-url", "", "the `ADDRESS` of your company's own server")
	cmd.Flags().BoolVar(&f.noBrowser, "no-browser", false, "do not open a browser, only print the address")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "run the command of an organisation's server without asking")
	return a.JSONFlag(cmd)
}

type loginJSON struct {
	Provider string `json:"provider"`
	Type     string `json:"type,omitempty"`
	Path     string `json:"path"`
}

func LogIn(ctx context.Context, a *cli.App, f LoginFlags) error {
	p, err := a.Providers()
	if err != nil {
		return err
	}
	all := p.With(catalog.Filter{Experimental: true})
	if f.Provider == "" {
		if f.Provider, err = chooseProvider(ctx, a, all); err != nil {
			return err
		}
	}
	name, err := providerName(all, f.Provider)
	if err != nil {
		return err
	}
	how, byKey, err := howToLogin(ctx, a, p, f, name)
	if err != nil {
		return err
	}
	var c auth.Credential
	kind := typeKey
	if byKey {
		c, err = readKey(ctx, a, name)
	} else {
		c, err = logInBy(ctx, a, how, f)
		if _, ok := c.(auth.OAuth); ok {
			kind = typeLogin
		}
	}
	if err != nil {
		return err
	}
	return keepCredential(ctx, a, p, f.Provider, name, kind, c)
}

// keepCredential writes a credential down and says so.
func keepCredential(ctx context.Context, a *cli.App, p *harness.Providers, id, name, kind string, c auth.Credential) error {
	_, had := p.Credentials[id]
	if err := p.File.Set(ctx, id, c); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(loginJSON{id, kind, p.At.Credentials()})
	}
	word := "Kept"
	if had {
		word = "Replaced"
	}
	a.Printf("%s the %s of %s in %s\n", word, map[string]string{typeKey: "key", typeLogin: "login", typeToken: "token"}[kind], termtext.Plain(name), a.DisplayPath(p.At.Credentials()))
	a.Flush()
	switch {
	case p.Settings.Config.Providers[id].Options.Text("apiKey") != "":
		a.Notify("Your settings have a key of their own (provider.%s.options.apiKey), which counts before it.", termtext.Plain(id))
	case cli.IsTerminal(a.Stderr) && kind != typeToken:
		a.Notify("`lathe models %s` lists what you can use now.", termtext.Plain(id))
	}
	return nil
}

// providerName returns how a provider is called; one that nobody knows is a mistake.
func providerName(all *catalog.Catalog, id string) (string, error) {
	if p := all.Provider(id); p != nil {
		return p.Name, nil
	}
	if v := catalog.VendorOf(id); v.ID != "" {
		return v.Name, nil
	}
	_, err := all.Model(id, "")
	return "", lathe.Errorf(lathe.NotFound, "%w; one of your own must be in the provider section of your settings first", err)
}

// howToLogin decides between a key and the provider's own login.
func howToLogin(ctx context.Context, a *cli.App, p *harness.Providers, f LoginFlags, name string) (m auth.Method, byKey bool, err error) {
	m, has := auth.MethodOf(a.Logins, f.Provider)
	if f.client != "" {
		m.ClientID = f.client
	}
	if m.ClientID == "" { // a wrong type is as if it were absent
		m.ClientID = p.Settings.Config.Providers[f.Provider].Options.Text("clientId")
	}
	switch {
	case f.Method == "key":
		return m, true, nil
	case f.Method != "" && (!has || f.Method != string(m.Flow)):
		ways := []string{"key"}
		if has {
			ways = append(ways, string(m.Flow))
		}
		return m, false, cli.Usagef("--method %s: %s can be logged in to by %s", termtext.Quote(f.Method), name, strings.Join(ways, " or "))
	case f.Method != "" || has && f.client != "":
		return m, false, nil
	case !has || !cli.IsTerminal(a.Stdin):
		return m, true, nil
	case m.NeedsClientID && m.ClientID == "":
		a.Notify("To log in instead, give the client id of an app: see `lathe auth login --help`.")
		return m, true, nil
	}
	c, err := a.Choose(ctx, "How", []cli.Choice{{ID: string(m.Flow), Name: m.Label}, {ID: "key", Name: "Type a key"}})
	return m, c.ID == "key", err
}

// readKey reads a key from the terminal, unseen, or from a pipe.
func readKey(ctx context.Context, a *cli.App, name string) (auth.Credential, error) {
	const most = 64 << 10
	read := func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.Stdin, most)) }
	if cli.IsTerminal(a.Stdin) {
		fd := int(a.Stdin.Fd())
		before, err := term.GetState(fd)
		if err != nil {
			return nil, err
		}
		var asked sync.WaitGroup
		asked.Go(func() {
			waitHidden(fd, before) // or a fast hand would be seen
			a.Ask("Key of %s (it is not shown): ", termtext.Plain(name))
		})
		defer func() {
			asked.Wait()
			_ = term.Restore(fd, before) // also when the reader is left behind
			a.Notify("")
		}()
		read = func() ([]byte, error) { return term.ReadPassword(fd) }
	}
	text, err := cli.ReadOrCancel(ctx, read)
	if err != nil && len(text) == 0 && !errors.Is(err, io.EOF) {
		return nil, err
	}
	key, err := auth.ParseKey(string(text))
	if err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "%w; nothing was changed", err)
	}
	return auth.Key{Key: key}, nil
}

// waitHidden waits until a terminal no longer shows what is typed, a second at most.
func waitHidden(fd int, before *term.State) {
	for range 1000 {
		if now, err := term.GetState(fd); err != nil || *now != *before {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// logInBy lets the user log in with the provider.
func logInBy(ctx context.Context, a *cli.App, m auth.Method, f LoginFlags) (auth.Credential, error) {
	if m.NeedsClientID && m.ClientID == "" {
		return nil, cli.Usagef("lathe has no app of its own with %s: give the client id of one with --client-id (`lathe auth login --help` says more)", m.Provider)
	}
	at, err := m.ForHost(f.server)
	if err != nil {
		return nil, err
	}
	talk := auth.LoginUI{Show: func(p auth.Prompt) { showPrompt(a, p, f) }}
	if cli.IsTerminal(a.Stdin) && m.Flow == auth.Browser {
		talk.Paste = func(ctx context.Context) (string, error) { return a.ReadLine(ctx) }
	}
	c, err := a.AuthClient().Login(ctx, at, talk)
	if token, ok := c.(auth.OAuth); ok && f.server != "" {
		token.EnterpriseURL = f.server
		return token, err
	}
	return c, err
}

func showPrompt(a *cli.App, p auth.Prompt, f LoginFlags) {
	if p.Code != "" {
		a.Notify("Open %s and type this code there: %s", termtext.Plain(p.URL), termtext.Plain(p.Code))
	} else {
		a.Notify("Open this page and log in:\n\n  %s\n", termtext.Plain(p.URL))
		if cli.IsTerminal(a.Stdin) {
			a.Notify("If the browser runs on another machine, paste the address it ends at here.")
		}
	}
	a.Notify("Waiting for you …")
	if !f.noBrowser && cli.IsTerminal(a.Stdin) && cli.IsTerminal(a.Stderr) {
		if err := a.Browse(p.URL); err != nil {
			a.Log.Debug("no browser was opened", "error", err)
		}
	}
}

// OpenBrowser opens a page with the program that the system has for it.
func OpenBrowser(page string) error {
	if !strings.HasPrefix(page, "https://") && !strings.HasPrefix(page, "http://") {
		return lathe.Errorf(lathe.Invalid, "not a page: %q", page)
	}
	args := []string{"xdg-open", page}
	switch runtime.GOOS {
	case "darwin":
		args[0] = "open"
	case "windows":
		args = []string{"rundll32", "url.dll,FileProtocolHandler", page}
	}
	cmd := exec.Command(args[0], args[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release() // it may stay as long as the browser
}

// chooseProvider asks which provider, those that many use first.
func chooseProvider(ctx context.Context, a *cli.App, all *catalog.Catalog) (string, error) {
	if !cli.IsTerminal(a.Stdin) {
		return "", cli.Usagef("name the provider whose key this is: `lathe auth login anthropic < key.txt`")
	}
	usual := []string{"anthropic", "openai", "google", "openrouter", "github-copilot", "opencode", "deepseek", "xai"}
	var choices []cli.Choice
	for _, p := range all.Providers() {
		if !harness.IsLocal(p.ID) {
			choices = append(choices, cli.Choice{ID: p.ID, Name: p.Name})
		}
	}
	at := func(c cli.Choice) int {
		if i := slices.Index(usual, c.ID); i >= 0 {
			return i
		}
		return len(usual)
	}
	slices.SortStableFunc(choices, func(a, b cli.Choice) int { return at(a) - at(b) })
	c, err := a.Choose(ctx, "Provider", choices)
	return c.ID, err
}
