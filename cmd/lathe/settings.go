package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/workspace"
)

// settingsOptions says where settings are looked for.
func (a *hostEnv) settingsOptions() (config.Options, error) {
	directory, top, err := workspace.Top(a.dir)
	if err != nil {
		return config.Options{}, err
	}
	trust, err := a.trustStore()
	if err != nil {
		return config.Options{}, err
	}
	o := config.Options{
		Directory: directory, Worktree: top, Home: a.home(), UserDir: a.userDir(),
		Env:     a.settingsEnv(),
		Trusted: trust.Trusts,
	}
	if workspace.Inside(top, directory) || top == filepath.Dir(top) {
		return a.trusting(o), nil
	}
	// The directory was reached through a link: settings are those of where it really is.
	if real, err := filepath.EvalSymlinks(directory); err == nil {
		o.Directory = real
	}
	return a.trusting(o), nil
}

// settingsEnv is the environment as settings see it: with the tokens of organisations for
// variables that are not set. Their file is read when the first one is missing.
func (a *hostEnv) settingsEnv() func(string) (string, bool) {
	tokens := sync.OnceValue(func() func(string) string {
		at, err := datadir.Find(a.env)
		if err != nil || !fileExists(at.Credentials()) && a.variable("AUTH_CONTENT") == "" {
			return a.env
		}
		all, err := auth.Open(auth.Source{Path: at.Credentials(), Content: a.variable("AUTH_CONTENT")}).All()
		if err != nil { // who needs them says so
			return a.env
		}
		return a.withTokens(all)
	})
	return func(name string) (string, bool) {
		v := a.env(name)
		if v == "" && isTokenVariable(name) {
			v = tokens()(name)
		}
		return v, v != ""
	}
}

// trusting lets everything count that the user has said counts, for this run.
func (a *hostEnv) trusting(o config.Options) config.Options {
	if v := a.env("LATHE_TRUST"); a.trust || v == "1" || v == "true" {
		o.Trusted = func(string, string) bool { return true }
	}
	return o
}

// settings loads the settings of the directory.
func (a *hostEnv) settings() (*config.Loaded, error) {
	o, err := a.settingsOptions()
	if err != nil {
		return nil, err
	}
	return config.Load(o)
}

// trustStore is where decisions to trust a project are kept.
func (a *hostEnv) trustStore() (*workspace.Trust, error) {
	at, err := datadir.Find(a.env)
	if err != nil {
		return nil, err
	}
	return workspace.NewTrust(filepath.Join(at.Data, "trust")), nil
}

func (a *hostEnv) home() string {
	if runtime.GOOS == "windows" {
		return a.env("USERPROFILE")
	}
	return a.env("HOME")
}

// userDir holds the user's settings, below it opencode and lathe.
func (a *hostEnv) userDir() string {
	if dir := a.env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if home := a.home(); home != "" {
		return filepath.Join(home, ".config")
	}
	return ""
}

// warnDistrust tells once what of a project does not count, and how to let it. It is for commands that would do
// something else if the project were trusted.
func (a *app) warnDistrust(l *config.Loaded) {
	if a.warned || l.Distrust == nil && len(l.Broken) == 0 {
		return
	}
	a.warned = true
	a.warnBroken(l)
	if l.Distrust == nil {
		return
	}
	a.remark("Warning: this project wants to run or redirect things; until you trust it, these of its settings do not count:")
	const most = 5
	for i, r := range l.Distrust.Risks {
		if i == most {
			a.remark("  … and %d more (lathe trust --show)", len(l.Distrust.Risks)-most)
			break
		}
		a.remark("  %s", termtext.Plain(r.String()))
	}
	a.remark("Look at them, then run `lathe trust` in %s, or pass --trust once.", termtext.Plain(l.Distrust.Root))
}

// warnBroken tells which files of the project are wrong and do not count.
func (a *app) warnBroken(l *config.Loaded) {
	for _, e := range l.Broken {
		a.remark("Warning: %s", brokenWords(e))
	}
}

// brokenWords says that a file is left out, and why, in one line.
func brokenWords(e *config.Error) string {
	what, _, _ := strings.Cut(e.Error(), "\n")
	return "a settings file of this project is broken and left out: " + termtext.Plain(strings.TrimSuffix(what, ".")) + ". `lathe config check` tells more."
}

// warnMeant tells what of the settings was meant to count and does not: a file that is named and
// not there, a key that is mistyped, a tool that nobody knows. The rest is for whoever looks: `lathe config check`.
func (a *app) warnMeant(l *config.Loaded) {
	for _, p := range l.Warnings {
		if p.Hint == "" && p.Line > 0 && !p.Meant {
			continue
		}
		p.Source = "" // one line is enough here
		a.remark("Warning: %s", termtext.Plain(p.String()))
	}
}

// fileExists reports whether there is a file of that name.
func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
