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
	"github.com/lathe-agent/lathe/model/provider"
)

// LoginFlags are the answers that a user gave in advance, so that the login does not ask for them.
type LoginFlags struct {
	Provider, Method, client, server string
	noBrowser, yes                   bool
	noCheck, force                   bool
}

// NewLogin also accepts the address of an organization's server, like OpenCode does.
func NewLogin(a *cli.App) *cobra.Command {
	var f LoginFlags
	cmd := &cobra.Command{
		Use:   "login [PROVIDER | ADDRESS]",
		Short: "Save an API key, or log in to a provider",
		Long: `Save a provider's API key, typed on the terminal with hidden input, or piped in. Without a
provider, lathe asks which one. An existing API key is replaced.

lathe checks the key at once: it asks the provider for its list of models, which costs nothing. A wrong
key is not saved, unless you pass --force. If the account has no credit or the provider cannot be
reached, the key is saved with a warning. --no-check saves it without asking the provider.

Some providers have a login: OpenRouter in the browser, GitHub Copilot with a device code. The latter
needs the client ID of a GitHub OAuth app with device flow (--client-id, or
provider.github-copilot.options.clientId in the config), because lathe has no app of its own. To use the
Copilot or ChatGPT login that you already have with another tool, see ` + "`lathe auth import --help`" + `.
A provider of your own logs in by OAuth if the config has provider.ID.options.oauth.

With the URL of an organization's server, lathe asks the server for its login command, shows the
command and runs it after you confirm. Its output is saved as the token.`,
		Example: `  lathe auth login anthropic
  lathe auth login openai < key.txt
  pass show openrouter | lathe auth login openrouter
  lathe auth login openrouter --method browser
  lathe auth login github-copilot --client-id Iv1.0123456789abcdef`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				if f.Provider != "" && f.Provider != args[0] {
					return cli.Usagef("--provider %s and %s differ; give one", termtext.Quote(f.Provider), termtext.Quote(args[0]))
				}
				f.Provider = args[0]
			}
			if strings.Contains(f.Provider, "://") {
				return loginAt(c.Context(), a, f)
			}
			return LogIn(c.Context(), a, f)
		},
	}
	cmd.Flags().StringVarP(&f.Provider, "provider", "p", "", "`PROVIDER` to log in to, instead of the argument")
	cmd.Flags().StringVarP(&f.Method, "method", "m", "", "login `METHOD`: key, browser or device")
	cmd.Flags().StringVar(&f.client, "client-id", "", "client `ID` of the OAuth app")
	cmd.Flags().StringVar(&f.server, "enterprise-url", "", "`URL` of a GitHub Enterprise server")
	cmd.Flags().BoolVar(&f.noBrowser, "no-browser", false, "print the URL instead of opening a browser")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "run the login command of an organization's server without asking")
	cmd.Flags().BoolVar(&f.noCheck, "no-check", false, "save the key without asking the provider")
	cmd.Flags().BoolVar(&f.force, "force", false, "save the key even if the provider refuses it")
	return a.JSONFlag(cmd)
}

// loginJSON is the output of `lathe auth login --json`.
type loginJSON struct {
	Provider string `json:"provider"`
	Type     string `json:"type,omitempty"`
	Path     string `json:"path"`
	Check    string `json:"check,omitempty"` // the verdict on a key
	Detail   string `json:"detail,omitempty"`
}

// LogIn saves an API key or the result of a login. It asks for the missing values on a terminal.
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
	var checked provider.KeyCheck
	kind := typeKey
	if byKey {
		c, checked, err = readCheckedKey(ctx, a, p, f, name)
	} else {
		c, err = logInBy(ctx, a, how, f)
		if _, ok := c.(auth.OAuth); ok {
			kind = typeLogin
		}
	}
	if err != nil {
		return err
	}
	return saveCredential(ctx, a, p, f.Provider, name, kind, c, checked)
}

// readCheckedKey reads a key and asks its provider about it.
func readCheckedKey(ctx context.Context, a *cli.App, p *harness.Providers, f LoginFlags, name string) (auth.Credential, provider.KeyCheck, error) {
	if page := catalog.KeyPage(f.Provider); page != "" && cli.IsTerminal(a.Stdin) {
		a.Notify("Create a key at %s", page)
	}
	k, err := readKey(ctx, a, name)
	if err != nil || f.noCheck {
		return k, provider.KeyCheck{}, err
	}
	checked := p.CheckKey(ctx, f.Provider, k)
	if err := context.Cause(ctx); err != nil {
		return nil, checked, err
	}
	if checked.Verdict == provider.Refused && !f.force {
		return nil, checked, refusedKey(f.Provider, name, checked)
	}
	return k, checked, nil
}

// saveCredential saves a credential and reports it.
func saveCredential(ctx context.Context, a *cli.App, p *harness.Providers, id, name, kind string, c auth.Credential, checked provider.KeyCheck) error {
	_, had := p.Credentials[id]
	if err := p.File.Set(ctx, id, c); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(loginJSON{id, kind, p.At.Credentials(), string(checked.Verdict), checked.Detail})
	}
	format := "Saved the %s %s to %s\n"
	if had {
		format = "Replaced the %s %s in %s\n"
	}
	a.Printf(format, termtext.Plain(name), map[string]string{typeKey: "API key", typeLogin: "login", typeToken: "token"}[kind], a.DisplayPath(p.At.Credentials()))
	a.Flush()
	noteCheck(a, id, name, checked)
	switch {
	case p.Settings.Config.Providers[id].Options.Text("apiKey") != "":
		a.Notify("Your config also has an API key (provider.%s.options.apiKey), which takes precedence.", termtext.Plain(id))
	case cli.IsTerminal(a.Stderr) && kind != typeToken:
		a.Notify("`lathe models %s` lists the available models.", termtext.Plain(id))
	}
	return nil
}

// providerName returns the name of a provider, or an error if it is unknown.
func providerName(all *catalog.Catalog, id string) (string, error) {
	if p := all.Provider(id); p != nil {
		return p.Name, nil
	}
	if v := catalog.VendorOf(id); v.ID != "" {
		return v.Name, nil
	}
	_, err := all.Model(id, "")
	return "", lathe.Errorf(lathe.NotFound, "%w; add a custom provider to the provider section of your config first", err)
}

// howToLogin chooses between an API key and the provider's login.
func howToLogin(ctx context.Context, a *cli.App, p *harness.Providers, f LoginFlags, name string) (m auth.Method, byKey bool, err error) {
	m, has := auth.MethodOf(a.LoginMethods(p.Settings.Config), f.Provider)
	if f.client != "" {
		m.ClientID = f.client
	}
	if m.ClientID == "" { // a wrong type counts as absent
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
		return m, false, cli.Usagef("--method %s: %s supports %s", termtext.Quote(f.Method), name, strings.Join(ways, " or "))
	case f.Method != "" || has && f.client != "":
		return m, false, nil
	case !has || !cli.IsTerminal(a.Stdin):
		return m, true, nil
	case m.NeedsClientID && m.ClientID == "":
		a.Notify("To log in instead, pass the client ID of an app: see `lathe auth login --help`.")
		return m, true, nil
	}
	c, err := a.Choose(ctx, "How", []cli.Choice{{ID: string(m.Flow), Name: m.Label}, {ID: "key", Name: "Enter an API key"}})
	return m, c.ID == "key", err
}

// readKey reads an API key from the terminal without echo, or from a pipe.
func readKey(ctx context.Context, a *cli.App, name string) (k auth.Key, err error) {
	const most = 64 << 10
	read := func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.Stdin, most)) }
	if cli.IsTerminal(a.Stdin) {
		fd := int(a.Stdin.Fd())
		before, err := term.GetState(fd)
		if err != nil {
			return k, err
		}
		var asked sync.WaitGroup
		asked.Go(func() {
			waitHidden(fd, before) // before echo is off, typed characters would show
			a.Ask("%s API key (input hidden): ", termtext.Plain(name))
		})
		defer func() {
			asked.Wait()
			_ = term.Restore(fd, before) // also if the reader goroutine leaks
			a.Notify("")
		}()
		read = func() ([]byte, error) { return term.ReadPassword(fd) }
	}
	text, err := cli.ReadOrCancel(ctx, read)
	if err != nil && len(text) == 0 && !errors.Is(err, io.EOF) {
		return k, err
	}
	key, err := auth.ParseKey(string(text))
	if err != nil {
		return k, lathe.Errorf(lathe.Invalid, "%w; nothing was changed", err)
	}
	return auth.Key{Key: key}, nil
}

// waitHidden waits up to a second until the terminal's echo is off.
func waitHidden(fd int, before *term.State) {
	for range 1000 {
		if now, err := term.GetState(fd); err != nil || *now != *before {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// logInBy runs the provider's login.
func logInBy(ctx context.Context, a *cli.App, m auth.Method, f LoginFlags) (auth.Credential, error) {
	if m.NeedsClientID && m.ClientID == "" {
		return nil, cli.Usagef("lathe has no OAuth app at %s: pass the client ID of yours with --client-id (see `lathe auth login --help`)", m.Provider)
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

// showPrompt prints the login page, and opens it only where a person is at the terminal.
func showPrompt(a *cli.App, p auth.Prompt, f LoginFlags) {
	if p.Code != "" {
		a.Notify("Open %s and enter this code: %s", termtext.Plain(p.URL), termtext.Plain(p.Code))
	} else {
		a.Notify("Open this page and log in:\n\n  %s\n", termtext.Plain(p.URL))
		if cli.IsTerminal(a.Stdin) {
			a.Notify("If the browser runs on another machine, paste its final URL here.")
		}
	}
	a.Notify("Waiting for the login …")
	if !f.noBrowser && cli.IsTerminal(a.Stdin) && cli.IsTerminal(a.Stderr) {
		if err := a.Browse(p.URL); err != nil {
			a.Log.Debug("could not open a browser", "error", err)
		}
	}
}

// OpenBrowser opens a page in the default browser.
func OpenBrowser(page string) error {
	if !strings.HasPrefix(page, "https://") && !strings.HasPrefix(page, "http://") {
		return lathe.Errorf(lathe.Invalid, "not a web address: %q", page)
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
	return cmd.Process.Release() // it may run as long as the browser
}

// chooseProvider asks for the provider, with popular ones first.
func chooseProvider(ctx context.Context, a *cli.App, all *catalog.Catalog) (string, error) {
	if !cli.IsTerminal(a.Stdin) {
		return "", cli.Usagef("give the provider of the API key: `lathe auth login anthropic < key.txt`")
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
