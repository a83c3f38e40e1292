package account

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
)

// wellKnown is the login description of an organization's server.
type wellKnown struct {
	Auth struct {
		Command []string `json:"command"`
		Env     string   `json:"env"`
	} `json:"auth"`
	Config json.RawMessage `json:"config"`
}

// loginAt runs the login command of an organization's server after the user confirms.
func loginAt(ctx context.Context, a *cli.App, f LoginFlags) error {
	address, err := serverAddress(f.Provider)
	if err != nil {
		return err
	}
	known, err := fetchWellKnown(ctx, a, address)
	if err != nil {
		return err
	}
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	file, err := a.CredentialFile(at)
	if err != nil {
		return err
	}
	a.Notify("%s wants to run this command to log you in:\n\n  %s\n", termtext.Plain(address), termtext.Plain(ShellCommand(known.Auth.Command)))
	if sure, err := agreesToRun(ctx, a, f.yes); err != nil || !sure {
		return err
	}
	token, err := runLogin(ctx, a, known.Auth.Command)
	if err != nil {
		return err
	}
	if err := file.Set(ctx, address, auth.WellKnown{Variable: known.Auth.Env, Token: token}); err != nil {
		return err
	}
	if len(known.Config) > 0 {
		a.Notify("The server also offers a config, which this version does not read.")
	}
	if a.JSON {
		return a.PrintJSON(loginJSON{Provider: address, Type: typeToken, Path: at.Credentials()})
	}
	a.Printf("Saved the token for %s to %s as the value of $%s\n", termtext.Plain(address), a.DisplayPath(at.Credentials()), termtext.Plain(known.Auth.Env))
	return nil
}

// serverAddress checks the URL of a server that provides a command to run.
func serverAddress(text string) (string, error) {
	u, err := url.Parse(text)
	if err == nil && u.Host != "" && u.User == nil {
		u.RawQuery, u.Fragment = "", ""
		if _, err = catalog.CatalogURL(u.String()); err == nil { // the same check as for the catalog
			return strings.TrimRight(u.String(), "/"), nil
		}
	}
	return "", lathe.Errorf(lathe.Invalid, "%s is not a valid login URL; use one like https://lathe.example.com", termtext.Quote(text))
}

// fetchWellKnown gets the login command of a server. It follows no redirects, so that the address the user gave is
// the one that answers.
func fetchWellKnown(parent context.Context, a *cli.App, address string) (known wellKnown, err error) {
	ctx, cancel := context.WithTimeout(parent, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/.well-known/opencode", nil)
	if err != nil {
		return known, err
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		if parent.Err() != nil {
			return known, context.Cause(parent)
		}
		return known, lathe.Errorf(lathe.Unavailable, "cannot get the login command from %s: %w", address, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(body, &known) != nil {
		return known, lathe.Errorf(lathe.NotFound, "%s has no login command (%s)", address, resp.Status)
	}
	if len(known.Auth.Command) == 0 || known.Auth.Command[0] == "" || !harness.IsTokenVariable(known.Auth.Env) {
		return known, lathe.Errorf(lathe.NotFound, "%s has no login command or no variable", address)
	}
	return known, nil
}

// ShellCommand formats a command with shell quoting.
func ShellCommand(args []string) string {
	var out []string
	for _, arg := range args {
		if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$`|&;<>()*?[]#~!{}") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		out = append(out, arg)
	}
	return strings.Join(out, " ")
}

// agreesToRun asks the user to confirm the command.
func agreesToRun(ctx context.Context, a *cli.App, yes bool) (bool, error) {
	if yes {
		return true, nil
	}
	if !cli.IsTerminal(a.Stdin) {
		return false, lathe.Errorf(lathe.Denied, "cannot ask for confirmation without a terminal; pass --yes to confirm")
	}
	sure, err := agrees(ctx, a, "Run it")
	if err == nil && !sure {
		a.Notify("Canceled; the command did not run.")
	}
	return sure, err
}

// runLogin runs the command and returns its output as the token.
func runLogin(ctx context.Context, a *cli.App, args []string) (auth.Secret, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Stdin, &out, a.Stderr
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return auth.Secret{}, context.Cause(ctx)
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("exit code %d", exit.ExitCode())
		}
		return auth.Secret{}, lathe.Errorf(lathe.Unauthorized, "the login command failed: %w; nothing was changed", err)
	}
	token, err := auth.ParseKey(out.String())
	if err != nil {
		return auth.Secret{}, lathe.Errorf(lathe.Unauthorized, "the login command printed no token; nothing was changed")
	}
	return token, nil
}
