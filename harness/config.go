package harness

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// ConfigOptions returns where to look for config files.
func (a *Host) ConfigOptions() (config.Options, error) {
	directory, top, err := workspace.CheckoutTop(a.Dir)
	if err != nil {
		return config.Options{}, err
	}
	trust, err := a.TrustStore()
	if err != nil {
		return config.Options{}, err
	}
	o := config.Options{
		Directory: directory, Worktree: top, Home: a.Home(), UserDir: a.UserDir(),
		Env:     a.configEnv(),
		Trusted: trust.Trusts,
	}
	if workspace.IsolatedTop(directory) != "" {
		if at, err := datadir.Find(a.Env); err == nil {
			if t := (worktree.Root{Dir: at.Worktrees()}).Of(directory); t != nil {
				o.TrustAs = t.Origin
			}
		}
	}
	if workspace.Inside(top, directory) || top == filepath.Dir(top) {
		return a.trustAll(o), nil
	}
	// The directory was reached through a symlink. The config of its real path counts.
	if real, err := filepath.EvalSymlinks(directory); err == nil {
		o.Directory = real
	}
	return a.trustAll(o), nil
}

// configEnv returns the environment for config files. Tokens of organizations stand in for variables that are not set.
// It reads the credential file only when a variable is missing.
func (a *Host) configEnv() func(string) (string, bool) {
	tokens := sync.OnceValue(func() func(string) string {
		at, err := datadir.Find(a.Env)
		if err != nil || !FileExists(at.Credentials()) && a.Variable("AUTH_CONTENT") == "" {
			return a.Env
		}
		all, err := auth.Open(auth.Source{Path: at.Credentials(), Content: a.Variable("AUTH_CONTENT")}).All()
		if err != nil { // the provider that needs a token reports the error
			return a.Env
		}
		return a.withTokens(all)
	})
	return func(name string) (string, bool) {
		v := a.Env(name)
		if v == "" && IsTokenVariable(name) {
			v = tokens()(name)
		}
		return v, v != ""
	}
}

// trustAll applies --trust and LATHE_TRUST, which trust the project for this run.
func (a *Host) trustAll(o config.Options) config.Options {
	if v := a.Env("LATHE_TRUST"); a.Trust || v == "1" || v == "true" {
		o.Trusted = func(string, string) bool { return true }
	}
	return o
}

// Config loads the config of the directory.
func (a *Host) Config() (*config.Loaded, error) {
	o, err := a.ConfigOptions()
	if err != nil {
		return nil, err
	}
	return config.Load(o)
}

// SearchEnabled reports whether sessions are indexed for a search. An invalid config does not switch it off: the
// command that needs the config reports it.
func (a *Host) SearchEnabled() bool {
	l, err := a.Config()
	return err != nil || l.Config.Search == nil || *l.Config.Search
}

// TrustStore returns the store of trusted projects.
func (a *Host) TrustStore() (*workspace.Trust, error) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return nil, err
	}
	return workspace.NewTrust(filepath.Join(at.Data, "trust")), nil
}

func (a *Host) Home() string {
	if runtime.GOOS == "windows" {
		return a.Env("USERPROFILE")
	}
	return a.Env("HOME")
}

// UserDir returns the folder that holds the user's config folders lathe and opencode.
func (a *Host) UserDir() string {
	if dir := a.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if home := a.Home(); home != "" {
		return filepath.Join(home, ".config")
	}
	return ""
}

// FileExists reports whether the file exists.
func FileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
