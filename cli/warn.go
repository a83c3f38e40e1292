package cli

import (
	"strings"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
)

// WarnUntrusted prints once which config of the project is ignored, and how to trust it. Commands call it if trust
// would change their behavior.
func (a *App) WarnUntrusted(l *config.Loaded) {
	if a.warned || l.Untrusted == nil && len(l.Broken) == 0 {
		return
	}
	a.warned = true
	a.WarnBroken(l)
	if l.Untrusted == nil {
		return
	}
	a.Notify("Warning: this project is not trusted. lathe ignores these parts of its config, which can run programs or redirect requests:")
	const most = 5
	for i, r := range l.Untrusted.Risks {
		if i == most {
			a.Notify("  … and %d more (lathe trust --show)", len(l.Untrusted.Risks)-most)
			break
		}
		a.Notify("  %s", termtext.Plain(r.String()))
	}
	a.Notify("Review them, then run `lathe trust` in %s, or pass --trust for this run only.", termtext.Plain(l.Untrusted.Root))
}

// WarnBroken prints which config files of the project are ignored because they are broken.
func (a *App) WarnBroken(l *config.Loaded) {
	for _, e := range l.Broken {
		a.Notify("Warning: %s", BrokenMessage(e))
	}
}

// BrokenMessage says in one line that a config file is ignored, and why.
func BrokenMessage(e *config.Error) string {
	what, _, _ := strings.Cut(e.Error(), "\n")
	return "ignored a broken config file of this project: " + termtext.Plain(strings.TrimSuffix(what, ".")) + ". Run `lathe config check` for details."
}

// WarnConfig prints the config warnings about likely mistakes: a missing file, a mistyped key, an unknown tool.
// `lathe config check` prints all.
func (a *App) WarnConfig(l *config.Loaded) {
	for _, p := range l.Warnings {
		if p.Hint == "" && p.Line > 0 && !p.Important {
			continue
		}
		p.Source = "" // one line is enough here
		a.Notify("Warning: %s", termtext.Plain(p.String()))
	}
}

// WarnCatalog prints errors of reading the model catalog.
func (a *App) WarnCatalog(c *catalog.Catalog) {
	for _, err := range c.Errors() {
		a.Notify("Warning: %s", termtext.OneLine(err.Error()))
	}
}
