package insight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace"
)

// Time limits of checks.
const (
	checkTimeout   = 15 * time.Second
	networkTimeout = 5 * time.Second
	serverTimeout  = 10 * time.Second
)

// Names of checks; providers and MCP servers add their own.
const (
	checkConfig   = "Config"
	checkGit      = "Git"
	checkSandbox  = "Sandbox"
	checkDisk     = "Disk"
	checkDatabase = "Database"
	checkLSP      = "Language servers"
	checkHooks    = "Hooks"
	providerCheck = "Provider "
	serverCheck   = "MCP "
)

// Checks names the health checks of a directory. A config that cannot be read leaves those that need it out.
func (r *Reports) Checks(ctx context.Context, dir string) ([]string, error) {
	at, _, err := r.Source.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	out := []string{checkConfig}
	endpoints, _ := r.Source.Endpoints(at) // Config says why it cannot be read
	for _, e := range endpoints {
		out = append(out, providerCheck+e.Name)
	}
	if len(endpoints) == 0 {
		out = append(out, strings.TrimSpace(providerCheck))
	}
	servers, _ := r.Source.ToolServers(ctx, dir)
	for _, s := range servers {
		out = append(out, serverCheck+s.Name)
	}
	if loaded, err := r.Source.Config(ctx, at); err == nil && (len(loaded.Config.Hooks) > 0 || hasUntrustedHooks(loaded)) {
		out = append(out, checkHooks)
	}
	return append(out, checkSandbox, checkGit, checkLSP, checkDisk, checkDatabase), nil
}

// Check runs one health check.
func (r *Reports) Check(ctx context.Context, dir, name string) (api.Check, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	at, _, err := r.Source.Open(ctx, dir)
	if err != nil {
		return api.Check{}, err
	}
	var out api.Check
	switch provider, isProvider := strings.CutPrefix(name, providerCheck); {
	case isProvider:
		out, err = r.checkProvider(ctx, at, provider)
	case strings.HasPrefix(name, serverCheck):
		out, err = r.checkServer(ctx, dir, strings.TrimPrefix(name, serverCheck))
	default:
		out, err = r.checkLocal(ctx, at, name)
	}
	out.Name = name
	return out, err
}

// checkLocal runs a check whose name is fixed. None of them needs the network.
func (r *Reports) checkLocal(ctx context.Context, at workspace.Place, name string) (api.Check, error) {
	switch name {
	case strings.TrimSpace(providerCheck):
		return warn("no provider is connected", "Log in with /connect or `lathe auth login`."), nil
	case checkConfig:
		return r.checkConfig(ctx, at), nil
	case checkSandbox:
		return r.checkSandbox(), nil
	case checkHooks:
		return r.checkHooks(ctx, at), nil
	case checkGit:
		return r.checkGit(ctx, at), nil
	case checkLSP:
		return r.checkLanguages(at), nil
	case checkDisk:
		return r.checkDisk(at), nil
	case checkDatabase:
		return r.checkDatabase(ctx), nil
	}
	return api.Check{}, lathe.Errorf(lathe.NotFound, "check %q not found", name[:min(len(name), 100)])
}

// ok is a check that found no problem.
func ok(detail string) api.Check { return api.Check{Status: api.CheckOK, Detail: detail} }

// off is a check of something that is not in use.
func off(detail string) api.Check { return api.Check{Status: api.CheckOff, Detail: detail} }

// warn is a problem that leaves lathe usable.
func warn(detail, fix string) api.Check {
	return api.Check{Status: api.CheckWarn, Detail: detail, Fix: fix}
}

// fail is a problem that stops some of the work.
func fail(detail, fix string) api.Check {
	return api.Check{Status: api.CheckFail, Detail: detail, Fix: fix}
}

// LanguageServer is a language server that is installed.
type LanguageServer struct {
	ID     string
	State  string // "" if it was not started
	Reason string // why it does not start in this project; "" if it does
}

// checkLanguages names the installed language servers, and those that do not start here.
func (r *Reports) checkLanguages(at workspace.Place) api.Check {
	all, err := r.Source.LanguageServers(at)
	if err != nil {
		return fail(err.Error(), "")
	}
	var usable, refused []string
	for _, s := range all {
		switch {
		case s.State == "off":
			return warn(s.ID+" "+s.Reason, "Run `lathe debug lsp diagnostics FILE` to see why, or set lsp."+s.ID+".disabled.")
		case s.Reason != "":
			refused = append(refused, s.ID)
		case s.State != "":
			usable = append(usable, s.ID+" ("+s.State+")")
		default:
			usable = append(usable, s.ID)
		}
	}
	detail := strings.Join(usable, ", ")
	if len(refused) > 0 {
		detail = strings.TrimPrefix(detail+"; need trust: "+strings.Join(refused, ", "), "; ")
	}
	if detail == "" {
		return off("none is installed, or lsp is false; `lathe debug lsp` lists them")
	}
	return ok(detail)
}

// checkConfig reports the worst problem of the config. `lathe config check` has the whole list.
func (r *Reports) checkConfig(ctx context.Context, at workspace.Place) api.Check {
	loaded, err := r.Source.Config(ctx, at)
	switch {
	case err != nil:
		return fail(err.Error(), "Fix the file, then run `lathe config check`.")
	case len(loaded.Broken) > 0:
		return warn("an invalid config file of the project is ignored", "`lathe config check` says what is wrong.")
	case loaded.Untrusted != nil:
		return warn("the config of this project is not trusted, so a part of it is ignored", "Read it, then run `lathe trust`.")
	case len(loaded.Warnings) > 0:
		return warn(phrase.Count(len(loaded.Warnings), "warning"), "`lathe config check` lists them.")
	}
	return ok(phrase.Count(len(loaded.Sources), "source"))
}

// checkSandbox names the level. It asks the kernel only, because a probe with a command takes too long for an overview.
func (r *Reports) checkSandbox() api.Check {
	k := r.Source.Kernel()
	return sandboxLevel(k.Available(false), k.Available(true), runtime.GOOS != "linux" || sandbox.CanMount())
}

// sandboxLevel names the level by why commands cannot be confined at all, or not in full, and by whether they
// can have mounts of their own.
func sandboxLevel(none, partial error, mounts bool) api.Check {
	switch {
	case none != nil:
		return warn("level none: "+none.Error(), "Without a sandbox, lathe asks before each command. `lathe debug sandbox` has details.")
	case partial != nil:
		return warn("level basic: this kernel lacks a part of it", "`lathe debug sandbox` lists the missing parts.")
	case !mounts:
		return warn("level basic: Landlock confines commands, without mounts of their own",
			"Containers without privileges have this level. Allow user namespaces for the level full. `lathe debug sandbox` lists the missing parts.")
	}
	return ok("level full: commands are confined")
}

// checkGit starts git once: a program that is installed may still be broken, as on macOS without developer tools.
func (r *Reports) checkGit(ctx context.Context, at workspace.Place) api.Check {
	git, err := lookUp("git", r.Path)
	if err != nil {
		return warn("git is not installed", "Install git to see branches and changes. Undo works without it.")
	}
	said, err := exec.CommandContext(ctx, git, "--version").Output()
	if err != nil {
		return fail("git does not start: "+err.Error(), "Run `git --version` in a shell.")
	}
	text := strings.TrimPrefix(strings.TrimSpace(string(said)), "git version ")
	if _, err := os.Lstat(filepath.Join(at.Worktree, ".git")); err != nil {
		return ok(text + ", outside a repository")
	}
	return ok(text + ", repository " + r.tilde(at.Worktree))
}

// lookUp finds a program in a PATH, which may differ from that of this process. Relative folders do not count.
func lookUp(name, path string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

// checkProvider asks for any answer of the provider's address. It sends no credential.
func (r *Reports) checkProvider(ctx context.Context, at workspace.Place, name string) (api.Check, error) {
	all, err := r.Source.Endpoints(at)
	if err != nil {
		return api.Check{}, err
	}
	i := slices.IndexFunc(all, func(e Endpoint) bool { return e.Name == name })
	if i < 0 {
		return api.Check{}, lathe.Errorf(lathe.NotFound, "provider %q not found", name[:min(len(name), 100)])
	}
	e := all[i]
	if e.Err != nil {
		return fail(e.Err.Error(), "Log in with /connect or `lathe auth login`."), nil
	}
	return probe(ctx, e.URL), nil
}

// probe asks an address for any answer. Redirects are not followed, and the answer is not read.
func probe(ctx context.Context, address string) api.Check {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ok("its address depends on the model")
	}
	u.User, u.RawQuery = nil, ""
	ctx, cancel := context.WithTimeout(ctx, networkTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, u.String(), nil)
	if err != nil {
		return fail("its address is invalid", "Check the provider's baseURL in your config.")
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	start := time.Now()
	res, err := client.Do(req)
	if err != nil {
		why := err
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			why = inner.Err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			why = fmt.Errorf("no answer in %s", networkTimeout)
		}
		return fail("cannot reach "+u.Host+": "+why.Error(), "Check your network, HTTPS_PROXY and the provider's baseURL.")
	}
	_ = res.Body.Close() // it is not read
	took := time.Since(start).Round(time.Millisecond)
	if res.StatusCode >= 500 {
		return warn(fmt.Sprintf("%s answers with status %d", u.Host, res.StatusCode), "The provider has a problem. Try again later, or choose another model.")
	}
	return ok(fmt.Sprintf("%s answers in %s", u.Host, took))
}

// checkServer reports the state of a connection. Asking for it starts servers that were not used yet.
func (r *Reports) checkServer(ctx context.Context, dir, name string) (api.Check, error) {
	patience, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	r.Source.WaitServers(patience, dir)
	all, err := r.Source.ToolServers(ctx, dir)
	if err != nil {
		return api.Check{}, err
	}
	i := slices.IndexFunc(all, func(s lathe.ToolServer) bool { return s.Name == name })
	if i < 0 {
		return api.Check{}, lathe.Errorf(lathe.NotFound, "MCP server %q not found", name[:min(len(name), 100)])
	}
	switch s := all[i]; s.Status {
	case "connected":
		return ok("connected"), nil
	case "disabled":
		return off("disabled"), nil
	case "connecting":
		return warn("still connecting", "Wait, then run the check again."), nil
	case "needs_auth", "needs_client_registration":
		return warn("needs a login", "Run `lathe mcp auth "+name+"`."), nil
	default:
		return fail(cmp.Or(s.Error, s.Status), "Check its command or address with /mcps, or `lathe mcp list`."), nil
	}
}

// Limits of free space, in bytes.
const (
	diskLow   = 1 << 30
	diskEmpty = 100 << 20
)

// checkDisk looks at the disks of the database and of the project, which may be different.
func (r *Reports) checkDisk(at workspace.Place) api.Check {
	out := api.Check{Status: api.CheckOK}
	for _, dir := range []string{r.DataDir, at.Directory} {
		free, err := freeSpace(dir)
		if err != nil {
			continue
		}
		text := phrase.Size(free) + " free in " + r.tilde(dir)
		switch {
		case free < diskEmpty:
			return fail(text, "Free some space. lathe cannot save sessions on a full disk.")
		case free < diskLow:
			return warn(text, "Free some space soon.")
		case out.Detail == "":
			out.Detail = text
		case !strings.HasPrefix(out.Detail, phrase.Size(free)+" "): // another disk
			out.Detail += ", " + text
		}
	}
	out.Detail = cmp.Or(out.Detail, "free space is not known on this system")
	return out
}

// checkDatabase reads the size only. A search for damage reads the whole file, so it is a command of its own.
func (r *Reports) checkDatabase(ctx context.Context) api.Check {
	st, err := r.Engine.Store().Stats(ctx)
	if err != nil {
		return fail(err.Error(), "Run `lathe db check`.")
	}
	return ok(phrase.Size(st.Bytes) + " in " + cmp.Or(r.Server, r.tilde(r.DataDir)))
}
