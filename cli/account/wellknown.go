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

// wellKnown is what an organisation's server says about logging in to it.
type wellKnown struct {
	Auth struct {
		Command []string `json:"command"`
		Env     string   `json:"env"`
	} `json:"auth"`
	Config json.RawMessage `json:"config"`
}

// loginAt logs in to an organisation's server by the command it names, if the user agrees.
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
	a.Notify("%s wants to run this command on your machine to log you in:\n\n  %s\n", termtext.Plain(address), termtext.Plain(ShellCommand(known.Auth.Command)))
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
		a.Notify("The server also offers settings, which this version does not read yet.")
	}
	if a.JSON {
		return a.PrintJSON(loginJSON{address, typeToken, at.Credentials()})
	}
	a.Printf("Kept the token of %s in %s; it stands for $%s\n", termtext.Plain(address), a.DisplayPath(at.Credentials()), termtext.Plain(known.Auth.Env))
	return nil
}

// serverAddress checks the address of a server whose word is taken for a command to run.
func serverAddress(text string) (string, error) {
	u, err := url.Parse(text)
	if err == nil && u.Host != "" && u.User == nil {
		u.RawQuery, u.Fragment = "", ""
		if _, err = catalog.CatalogURL(u.String()); err == nil { // the same care as for the catalog
			return strings.TrimRight(u.String(), "/"), nil
		}
	}
	return "", lathe.Errorf(lathe.Invalid, "%s is no address to log in at: write it like https://lathe.example.com", termtext.Quote(text))
}

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
		return known, lathe.Errorf(lathe.Unavailable, "%s cannot be asked how to log in: %w", address, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(body, &known) != nil {
		return known, lathe.Errorf(lathe.NotFound, "%s does not say how to log in (%s)", address, resp.Status)
	}
	if len(known.Auth.Command) == 0 || known.Auth.Command[0] == "" || !harness.IsTokenVariable(known.Auth.Env) {
		return known, lathe.Errorf(lathe.NotFound, "%s does not say how to log in: there is no command, or no variable", address)
	}
	return known, nil
}

// ShellCommand shows a command as one would type it.
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

// agreesToRun asks the user whether the command may run.
func agreesToRun(ctx context.Context, a *cli.App, yes bool) (bool, error) {
	if yes {
		return true, nil
	}
	if !cli.IsTerminal(a.Stdin) {
		return false, lathe.Errorf(lathe.Denied, "nobody is here to agree to that; if you do, pass --yes")
	}
	a.Ask("Run it? [y/N] ")
	line, err := a.ReadLine(ctx)
	if err != nil {
		return false, err
	}
	if line = strings.ToLower(line); line != "y" && line != "yes" {
		a.Notify("Nothing was run.")
		return false, nil
	}
	return true, nil
}

// runLogin runs the command and takes what it prints for the token.
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
			err = fmt.Errorf("it ended with code %d", exit.ExitCode())
		}
		return auth.Secret{}, lathe.Errorf(lathe.Unauthorized, "the command did not log you in: %w; nothing was changed", err)
	}
	token, err := auth.ParseKey(out.String())
	if err != nil {
		return auth.Secret{}, lathe.Errorf(lathe.Unauthorized, "the command printed no token; nothing was changed")
	}
	return token, nil
}
