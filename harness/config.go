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
)

// ConfigOptions says where settings are looked for.
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
	if workspace.Inside(top, directory) || top == filepath.Dir(top) {
		return a.trustAll(o), nil
	}
	// The directory was reached through a link: settings are those of where it really is.
	if real, err := filepath.EvalSymlinks(directory); err == nil {
		o.Directory = real
	}
	return a.trustAll(o), nil
}

// configEnv is the environment as settings see it: with the tokens of organisations for
// variables that are not set. Their file is read when the first one is missing.
func (a *Host) configEnv() func(string) (string, bool) {
	tokens := sync.OnceValue(func() func(string) string {
		at, err := datadir.Find(a.Env)
		if err != nil || !FileExists(at.Credentials()) && a.Variable("AUTH_CONTENT") == "" {
			return a.Env
		}
		all, err := auth.Open(auth.Source{Path: at.Credentials(), Content: a.Variable("AUTH_CONTENT")}).All()
		if err != nil { // who needs them says so
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

// trustAll lets everything count that the user has said counts, for this run.
func (a *Host) trustAll(o config.Options) config.Options {
	if v := a.Env("LATHE_TRUST"); a.Trust || v == "1" || v == "true" {
		o.Trusted = func(string, string) bool { return true }
	}
	return o
}

// Config loads the settings of the directory.
func (a *Host) Config() (*config.Loaded, error) {
	o, err := a.ConfigOptions()
	if err != nil {
		return nil, err
	}
	return config.Load(o)
}

// TrustStore is where decisions to trust a project are kept.
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

// UserDir holds the user's settings, below it opencode and lathe.
func (a *Host) UserDir() string {
	if dir := a.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if home := a.Home(); home != "" {
		return filepath.Join(home, ".config")
	}
	return ""
}

// FileExists reports whether there is a file of that name.
func FileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
