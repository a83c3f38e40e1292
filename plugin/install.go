package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/internal/filelock"
	"github.com/lathe-agent/lathe/internal/jsonrpc"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
)

// packageSpec is name or name@version. Addresses, folders and aliases of npm are no packages here.
var packageSpec = phrase.Regexp(`^((?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)(?:@([A-Za-z0-9^~<>=*|. +-]+))?$`)

// supportSpecs are the packages that the JavaScript host may need for plugins that do not bring them.
// Their versions are the ones the host was tried with.
func supportSpecs() map[string]string {
	return map[string]string{"zod": "zod@4.1.8", "@opencode-ai/sdk": "@opencode-ai/sdk@1.18.33", "sucrase": "sucrase@3.35.0"}
}

// missing is the package that a plugin could not be loaded without, "" where that is not what the host says.
func missing(err error) string {
	var e *jsonrpc.Error
	var p struct {
		Package string `json:"package"`
	}
	if !errors.As(err, &e) || e.Code != codeMissing || json.Unmarshal(e.Data, &p) != nil || supportSpecs()[p.Package] == "" {
		return ""
	}
	return p.Package
}

// codeMissing is the code of the error by which the JavaScript host asks for a package; see host/support.mjs.
const codeMissing = -32011

// errAgain says that the host should be started again, since it has what was missing.
var errAgain = errors.New("the JavaScript host must be restarted")

// provide installs a package for the host, if that was not tried, and reports whether it was not.
func (c *Hub) provide(ctx context.Context, name string) bool {
	c.mu.Lock()
	_, tried := c.support[name]
	c.mu.Unlock()
	if tried {
		return false
	}
	dir, err := c.install(ctx, supportSpecs()[name])
	c.mu.Lock()
	defer c.mu.Unlock()
	c.support[name] = fetched{dir, err}
	return true
}

// provided lists the packages for the host: a folder for each, or why there is none.
func (c *Hub) provided() (json.RawMessage, error) {
	type entry struct {
		Path  string `json:"path,omitempty"`
		Error string `json:"error,omitempty"`
	}
	out := map[string]entry{}
	for name, spec := range supportSpecs() {
		if home := c.home(spec); exists(filepath.Join(home, markName)) { // by an earlier process
			out[name] = entry{Path: filepath.Join(home, "node_modules", filepath.FromSlash(name))}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, f := range c.support {
		if f.err != nil {
			out[name] = entry{Error: f.err.Error()}
		}
	}
	return json.Marshal(out)
}

// install brings a package of the npm registry into the cache and returns its folder. One that
// is there is taken as it is, also where no version was named; to get a newer one, name its
// version.
func (c *Hub) install(ctx context.Context, spec string) (string, error) {
	parts := packageSpec().FindStringSubmatch(spec)
	if parts == nil {
		return "", fmt.Errorf("%q is neither a path nor a package: paths begin with ./ or /, packages are name@version", cut(spec, 200))
	}
	if c.opt.Cache == "" {
		return "", fmt.Errorf("%s cannot be installed: no cache directory for packages", spec)
	}
	ctx, cancel := context.WithTimeout(ctx, c.opt.Timeouts.Install)
	defer cancel()
	home := c.home(spec)
	target := filepath.Join(home, "node_modules", filepath.FromSlash(parts[1]))
	mark := filepath.Join(home, markName)
	if exists(mark) {
		return target, nil
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", err
	}
	release, err := filelock.Lock(ctx, filepath.Join(home, ".lock"))
	if err != nil {
		return "", err
	}
	defer release()
	if exists(mark) { // another process did it while we waited
		return target, nil
	}
	if err := c.fetchPackage(ctx, home, spec); err != nil {
		return "", err
	}
	if !exists(filepath.Join(target, "package.json")) {
		return "", fmt.Errorf("%s was installed, but %s has no package.json", spec, target)
	}
	return target, os.WriteFile(mark, nil, 0o600)
}

// markName is the file that says that a package is there whole.
const markName = ".installed"

func (c *Hub) home(spec string) string {
	return filepath.Join(c.opt.Cache, "packages", folderName(spec))
}

// fetchPackage runs npm or bun. No script of any package runs.
func (c *Hub) fetchPackage(ctx context.Context, home, spec string) error {
	manifest := filepath.Join(home, "package.json")
	if err := os.WriteFile(manifest, []byte("{\"private\":true}\n"), 0o600); err != nil {
		return err
	}
	path, err := lookPath(home, c.opt.Env, "npm")
	// Peers are left out: most plugins name the plugin package of OpenCode there, of which the host has
	// the part that plugins use, and which would bring tens of megabytes.
	args := []string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev", "--omit=peer", "--loglevel=error", spec}
	if err != nil {
		if path, err = lookPath(home, c.opt.Env, "bun"); err != nil {
			return fmt.Errorf("%s cannot be installed: install npm (it comes with Node.js) or bun", spec)
		}
		args = []string{"add", "--ignore-scripts", "--omit=peer", spec}
	}
	c.opt.Log.Info("installing a package for plugins", "package", spec, "folder", home)
	c.opt.Publish(&lathe.TUIToast{Title: "Plugins", Message: "Installing " + spec + " for plugins …", Variant: "info", Duration: 5000})
	var out []byte
	res, err := c.opt.Runner.Run(ctx, sandbox.Command{Path: path, Args: args, Dir: home, Env: c.opt.Env, Leftovers: sandbox.EndLeftovers}, func(b []byte) {
		out = append(out, b[:min(len(b), max(0, installOutput-len(out)))]...)
	})
	switch {
	case err != nil:
		return fmt.Errorf("install %s: %w", spec, err)
	case res.Canceled || res.TimedOut:
		return fmt.Errorf("install %s: %w", spec, errors.Join(context.Cause(ctx), errors.New("it took too long")))
	case res.Exit != 0:
		return fmt.Errorf("install %s: %s failed: %s", spec, filepath.Base(path), withoutSecrets(strings.TrimSpace(string(out))))
	}
	c.opt.Log.Info("installed a package for plugins", "package", spec, "took", res.Took.String())
	return nil
}

// installOutput limits the npm output in an error message.
const installOutput = 2 << 10

// userInURL finds the credentials that an address of a registry may carry.
var userInURL = phrase.Regexp(`://[^/\s@]+@`)

func withoutSecrets(s string) string { return userInURL().ReplaceAllString(s, "://…@") }

// folderName is a folder for a spec: readable, and different for different ones.
func folderName(spec string) string {
	sum := sha256.Sum256([]byte(spec))
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, spec)
	return strings.TrimLeft(cutName(plain), ".") + "-" + hex.EncodeToString(sum[:4])
}

func cutName(s string) string { return s[:min(len(s), 60)] }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// hostFiles writes the files of the host into the cache, under a name that changes with what is in them,
// and returns the one to start.
func (c *Hub) hostFiles() (string, error) {
	if c.opt.Cache == "" {
		return "", errors.New("the JavaScript host has no cache directory for its files")
	}
	names, files, err := embedded()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range names {
		_, _ = fmt.Fprintf(sum, "%s %d\n", name, len(files[name])) // a hash takes everything
		_, _ = sum.Write(files[name])
	}
	dir := filepath.Join(c.opt.Cache, "host-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if have, err := os.ReadFile(path); err == nil && slices.Equal(have, files[name]) {
			continue
		}
		if err := atomicfile.Write(path, files[name]); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "host.mjs"), nil
}
