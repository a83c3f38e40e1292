package cli

import (
	"strings"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/catalog"
)

// WarnUntrusted tells once what of a project does not count, and how to let it. It is for commands that would do
// something else if the project were trusted.
func (a *App) WarnUntrusted(l *config.Loaded) {
	if a.warned || l.Untrusted == nil && len(l.Broken) == 0 {
		return
	}
	a.warned = true
	a.WarnBroken(l)
	if l.Untrusted == nil {
		return
	}
	a.Notify("Warning: this project wants to run or redirect things; until you trust it, these of its settings do not count:")
	const most = 5
	for i, r := range l.Untrusted.Risks {
		if i == most {
			a.Notify("  … and %d more (lathe trust --show)", len(l.Untrusted.Risks)-most)
			break
		}
		a.Notify("  %s", termtext.Plain(r.String()))
	}
	a.Notify("Look at them, then run `lathe trust` in %s, or pass --trust once.", termtext.Plain(l.Untrusted.Root))
}

// WarnBroken tells which files of the project are wrong and do not count.
func (a *App) WarnBroken(l *config.Loaded) {
	for _, e := range l.Broken {
		a.Notify("Warning: %s", BrokenMessage(e))
	}
}

// BrokenMessage says that a file is left out, and why, in one line.
func BrokenMessage(e *config.Error) string {
	what, _, _ := strings.Cut(e.Error(), "\n")
	return "a settings file of this project is broken and left out: " + termtext.Plain(strings.TrimSuffix(what, ".")) + ". `lathe config check` tells more."
}

// WarnConfig tells what of the settings was meant to count and does not: a file that is named and
// not there, a key that is mistyped, a tool that nobody knows. The rest is for whoever looks: `lathe config check`.
func (a *App) WarnConfig(l *config.Loaded) {
	for _, p := range l.Warnings {
		if p.Hint == "" && p.Line > 0 && !p.Important {
			continue
		}
		p.Source = "" // one line is enough here
		a.Notify("Warning: %s", termtext.Plain(p.String()))
	}
}

// WarnCatalog tells what of the catalogue could not be read.
func (a *App) WarnCatalog(c *catalog.Catalog) {
	for _, err := range c.Errors() {
		a.Notify("Warning: %s", termtext.OneLine(err.Error()))
	}
}
