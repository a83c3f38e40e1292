package account

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/auth/othertool"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
)

// importFlags are the flags of `lathe auth import`.
type importFlags struct {
	provider, file                      string
	yes, copies, refers, replace, force bool
	noCheck                             bool
}

// newAuthImport needs a TOOL to import: what other tools have may be listed at once, but each tool is a
// decision of its own.
func newAuthImport(a *cli.App) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:       "import [TOOL]",
		ValidArgs: othertool.IDs(),
		Short:     "Use credentials of other coding tools",
		Long: `Find API keys and logins that another tool keeps on this machine, show them masked, and use them after
you confirm. TOOL is ` + strings.Join(othertool.IDs(), ", ") + `. Without a TOOL, lathe lists what all
of them have and imports nothing.

API keys and lasting logins are copied to lathe's credentials file. A login that expires is referenced:
lathe reads the tool's file on each use and never renews the login, because renewing would log you out
of the tool. When it has expired, lathe names the command of the tool that renews it. With --copy, only
the current token is copied; it ends when it expires.

Some vendors do not allow their login in other programs. lathe says so and names the page for API keys.

lathe reads only regular files that belong to you and that other users cannot read.`,
		Example: `  lathe auth import
  lathe auth import codex
  lathe auth import copilot --yes
  lathe auth import opencode --provider openrouter
  lathe auth import claude --json`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.copies && f.refers:
				return cli.Usagef("--copy and --reference exclude each other; give one")
			case len(args) == 0 && (f.yes || f.file != ""):
				return cli.Usagef("give the tool to import from: %s", strings.Join(othertool.IDs(), ", "))
			case len(args) == 0:
				return listImports(a)
			}
			return importFrom(c.Context(), a, args[0], f)
		},
	}
	cmd.Flags().StringVarP(&f.provider, "provider", "p", "", "import the credential of this `PROVIDER` only")
	cmd.Flags().StringVar(&f.file, "file", "", "read this `FILE` instead of the tool's usual ones")
	cmd.Flags().BoolVar(&f.copies, "copy", false, "copy the credentials, expiring logins too")
	cmd.Flags().BoolVar(&f.refers, "reference", false, "refer to the tool's file, for API keys too")
	cmd.Flags().BoolVar(&f.replace, "replace", false, "replace saved credentials of the same provider")
	cmd.Flags().BoolVar(&f.force, "force", false, "import API keys that their provider refuses")
	cmd.Flags().BoolVar(&f.noCheck, "no-check", false, "import API keys without asking their provider")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "import without asking")
	return a.JSONFlag(cmd)
}

// importJSON is a credential in the output of `lathe auth import --json`.
type importJSON struct {
	Tool     string     `json:"tool"`
	Provider string     `json:"provider"`
	Type     string     `json:"type"`
	Masked   string     `json:"masked,omitempty"`
	From     string     `json:"from"`
	Account  string     `json:"account,omitempty"`
	Expires  *time.Time `json:"expires,omitempty"`
	How      string     `json:"how"`              // copy, reference or refused
	Reason   string     `json:"reason,omitempty"` // of a refusal
	Saved    bool       `json:"saved"`
	Check    string     `json:"check,omitempty"`
}

// problemJSON is a file that lathe did not read.
type problemJSON struct {
	Tool  string `json:"tool"`
	Path  string `json:"path"`
	Error string `json:"error"`
}

// importsJSON is the output of `lathe auth import --json`.
type importsJSON struct {
	Credentials []importJSON  `json:"credentials"`
	Problems    []problemJSON `json:"problems,omitempty"`
}

// The ways to import a credential.
const (
	howCopy      = "copy"
	howReference = "reference"
	howRefused   = "refused"
)

// how is the way in which a login is imported.
func (f importFlags) how(l othertool.Login) string {
	_, canRefer := l.Reference()
	switch {
	case l.Refused != "":
		return howRefused
	case canRefer && (f.refers || l.CanExpire() && !f.copies):
		return howReference
	}
	return howCopy
}

// listImports shows what all tools have.
func listImports(a *cli.App) error {
	p, err := a.Providers()
	if err != nil {
		return err
	}
	m := a.OtherTools(p.With(catalog.Filter{Experimental: true}))
	var all []othertool.Login
	var problems []othertool.Problem
	for _, id := range othertool.IDs() {
		found, wrong, err := m.Find(id)
		if err != nil {
			return err
		}
		all, problems = append(all, found...), append(problems, wrong...)
	}
	if a.JSON {
		return a.PrintJSON(asJSON(a, all, problems, importFlags{}))
	}
	if len(all) == 0 && len(problems) == 0 {
		a.Notify("No credentials of other tools found. Add one with `lathe auth login`.")
		return nil
	}
	if err := showLogins(a, all, problems, importFlags{}); err != nil {
		return err
	}
	if len(all) > 0 {
		a.Notify("Import with `lathe auth import TOOL`.")
	}
	return nil
}

// asJSON lists logins without their secrets.
func asJSON(a *cli.App, all []othertool.Login, problems []othertool.Problem, f importFlags) importsJSON {
	out := importsJSON{Credentials: []importJSON{}}
	for _, l := range all {
		one := importJSON{
			Tool: l.Tool, Provider: l.Provider, Type: kindOf(l), Masked: l.Masked(), From: sourceOf(l), Account: l.Account, How: f.how(l), Reason: l.Refused,
		}
		if !l.Expires.IsZero() {
			at := l.Expires.UTC()
			one.Expires = &at
		}
		out.Credentials = append(out.Credentials, one)
	}
	for _, w := range problems {
		out.Problems = append(out.Problems, problemJSON{w.Tool, w.Path, w.Err.Error()})
	}
	return out
}

// kindOf is the type of a login, in the words of the credentials file.
func kindOf(l othertool.Login) string {
	if _, ok := l.Credential.(auth.Key); ok {
		return typeKey
	}
	return typeLogin
}

// sourceOf is where scripts find a login: its file, or its variable with a dollar sign.
func sourceOf(l othertool.Login) string {
	if l.Path == "" {
		return "$" + l.Variable
	}
	return l.Path
}

// showLogins prints a table of masked logins, then refusals and problems.
func showLogins(a *cli.App, all []othertool.Login, problems []othertool.Problem, f importFlags) error {
	t := layout.Table{Head: []string{"Tool", "Provider", "Type", "Secret", "From", "Import"}, Flexible: []int{4}, Paths: 4}
	var refused []string
	for _, l := range all {
		from := "$" + l.Variable
		if l.Path != "" {
			from = a.DisplayPath(l.Path)
		}
		kind := map[string]string{typeKey: "key", typeLogin: "login"}[kindOf(l)]
		how := f.how(l)
		switch {
		case how == howRefused:
			how = "not allowed"
			refused = append(refused, l.ToolName+": "+l.Refused)
		case !l.Expires.IsZero() && l.Expires.Before(a.Now()):
			how += " (expired)"
		}
		t.Rows = append(t.Rows, []string{l.Tool, termtext.Plain(l.Provider), kind, termtext.Plain(l.Masked()), termtext.Plain(from), how})
	}
	if len(all) > 0 {
		if err := t.Write(a.Out, a.Width()); err != nil {
			return err
		}
	}
	a.Flush()
	slices.Sort(refused)
	for _, text := range slices.Compact(refused) {
		a.Notify("%s.", text)
	}
	for _, w := range problems {
		a.Notify("Skipped: %s.", termtext.Plain(w.Err.Error()))
	}
	return nil
}

// importFrom shows the logins of a tool and imports those that the user agrees to.
func importFrom(ctx context.Context, a *cli.App, tool string, f importFlags) error {
	p, err := a.Providers()
	if err != nil {
		return err
	}
	found, problems, err := findIn(a, p, tool, f)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		if len(problems) > 0 {
			return problems[0].Err
		}
		return a.OtherTools(nil).Missing(tool)
	}
	list := asJSON(a, found, problems, f)
	if !a.JSON {
		if err := showLogins(a, found, problems, f); err != nil {
			return err
		}
	}
	usable := slices.ContainsFunc(found, func(l othertool.Login) bool { return l.Refused == "" })
	switch {
	case a.JSON && !f.yes:
		return a.PrintJSON(list)
	case !usable:
		return cli.Reported{Code: 1} // the reason was printed
	case !f.yes && !cli.IsTerminal(a.Stdin):
		return lathe.Errorf(lathe.Denied, "cannot ask for confirmation without a terminal; pass --yes to import")
	}
	run := &importing{app: a, providers: p, flags: f, taken: map[string]bool{}}
	for i, l := range found {
		if l.Refused != "" {
			continue
		}
		if list.Credentials[i].Saved, list.Credentials[i].Check, err = run.one(ctx, l); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(list)
	}
	return nil
}

// findIn looks in the tool's usual files, or in the one that the user names.
func findIn(a *cli.App, p *harness.Providers, tool string, f importFlags) (found []othertool.Login, problems []othertool.Problem, err error) {
	m := a.OtherTools(p.With(catalog.Filter{Experimental: true}))
	if f.file != "" {
		path, err := filepath.Abs(f.file)
		if err != nil {
			return nil, nil, err
		}
		found, err = m.FindIn(tool, path)
		if err != nil {
			return nil, nil, err
		}
	} else if found, problems, err = m.Find(tool); err != nil {
		return nil, nil, cli.WithExit(err, cli.ExitUsage)
	}
	if f.provider != "" {
		found = slices.DeleteFunc(found, func(l othertool.Login) bool { return l.Provider != f.provider })
	}
	return found, problems, nil
}

// importing is a run of the command.
type importing struct {
	app       *cli.App
	providers *harness.Providers
	flags     importFlags
	taken     map[string]bool // providers that got a credential in this run
}

// one imports a login if the user agrees, and reports whether it is saved.
func (r *importing) one(ctx context.Context, l othertool.Login) (saved bool, check string, err error) {
	a, f := r.app, r.flags
	c := credentialOf(l, f.how(l))
	name := providerLabel(r.providers, l.Provider)
	if r.taken[l.Provider] {
		r.note("Skipped a second credential for %s; choose with --file.", name)
		return false, "", nil
	}
	if r.has(l.Provider, c) {
		r.taken[l.Provider] = true
		r.note("%s is already imported from %s.", name, l.ToolName)
		return true, "", nil
	}
	old := r.providers.Credentials[l.Provider]
	if old != nil && !f.replace && f.yes {
		r.note("The saved credential for %s stays; pass --replace to replace it.", name)
		return false, "", nil
	}
	if !f.yes {
		question := "Import the " + l.ToolName + " " + map[string]string{typeKey: "API key", typeLogin: "login"}[kindOf(l)] + " for " + name
		if old != nil {
			question += ", replacing the saved credential"
		}
		if sure, err := agrees(ctx, a, question); err != nil || !sure {
			return false, "", err
		}
	}
	checked := provider.KeyCheck{}
	if k, ok := l.Credential.(auth.Key); ok && !f.noCheck {
		checked = r.providers.CheckKey(ctx, l.Provider, k)
		if checked.Verdict == provider.Refused && !f.force {
			r.note("Not imported: %s refuses this key (%s). Pass --force to import it anyway.", name, checked.Detail)
			return false, string(checked.Verdict), nil
		}
	}
	if err := context.Cause(ctx); err != nil {
		return false, "", err
	}
	if err := r.providers.File.Set(ctx, l.Provider, c); err != nil {
		return false, "", err
	}
	r.taken[l.Provider] = true
	r.report(l, name, checked)
	return true, string(checked.Verdict), nil
}

// has reports whether a credential is already saved as it is.
func (r *importing) has(id string, c auth.Credential) bool {
	if ref, ok := c.(auth.Reference); ok {
		was, is := r.providers.File.References()[id]
		was.Short, was.Expires, was.For = auth.Secret{}, time.Time{}, ""
		return is && reflect.DeepEqual(was, ref)
	}
	if _, refers := r.providers.File.References()[id]; refers {
		return false
	}
	return reflect.DeepEqual(r.providers.Credentials[id], c)
}

// note prints a line for people. Names in it may come from files of other tools, so they are made safe for a
// terminal.
func (r *importing) note(format string, args ...any) {
	for i := range args {
		if text, ok := args[i].(string); ok {
			args[i] = termtext.Plain(text)
		}
	}
	r.app.Notify(format, args...)
}

// report tells what was saved and what follows from it.
func (r *importing) report(l othertool.Login, name string, checked provider.KeyCheck) {
	a := r.app
	if a.JSON {
		return
	}
	if r.flags.how(l) == howReference {
		a.Printf("lathe now reads the %s login for %s from %s\n", l.ToolName, termtext.Plain(name), a.DisplayPath(l.Path))
	} else {
		a.Printf("Copied the %s credential for %s to %s\n", l.ToolName, termtext.Plain(name), a.DisplayPath(r.providers.At.Credentials()))
	}
	a.Flush()
	noteCheck(a, l.Provider, name, checked)
	switch {
	case !l.Expires.IsZero() && l.Expires.Before(a.Now()):
		r.note("Warning: this login has expired: run `%s` to renew it.", l.Renew)
	case l.CanExpire() && r.flags.how(l) == howCopy && !l.Expires.IsZero():
		r.note("The copied token expires on %s and is not renewed.", l.Expires.Local().Format("2006-01-02 15:04"))
	}
}

// credentialOf is a login in the form in which it is saved.
func credentialOf(l othertool.Login, how string) auth.Credential {
	if ref, ok := l.Reference(); ok && how == howReference {
		return ref
	}
	return l.Credential
}

// providerLabel is the name of a provider, or its ID.
func providerLabel(p *harness.Providers, id string) string {
	name, err := providerName(p.With(catalog.Filter{Experimental: true}), id)
	if err != nil {
		return id
	}
	return name
}

// agrees asks a question with no as the default.
func agrees(ctx context.Context, a *cli.App, question string) (bool, error) {
	a.Ask("%s? [y/N] ", termtext.Plain(question))
	line, err := a.ReadLine(ctx)
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes", err
}
