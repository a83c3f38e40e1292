package harness

import (
	"context"
	"net/url"
	"path/filepath"
	"time"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/lsp"
)

// languageSource is the harness as the routes of language servers see it.
type languageSource struct{ *backend }

// LanguageServersIn lists the language servers of a directory that were started.
func (b languageSource) LanguageServersIn(_ context.Context, at workspace.Place) ([]api.LanguageServer, error) {
	k, err := b.setup.ConfigFor(at)
	if err != nil {
		return nil, err
	}
	p := b.setup.Languages.Project(k, at)
	var out []api.LanguageServer
	for _, s := range b.setup.Languages.State().Servers.Status(p) {
		root, err := filepath.Rel(p.Worktree, s.Root)
		if err != nil || filepath.Dir(p.Worktree) == p.Worktree {
			root, _ = filepath.Rel(p.Directory, s.Root) // both are absolute
		}
		out = append(out, api.LanguageServer{ID: s.ID, Root: filepath.ToSlash(root), State: s.State, Reason: s.Reason, Memory: s.Memory, Errors: s.Errors})
	}
	return out, nil
}

// FormattersIn lists the formatters of a directory.
func (b languageSource) FormattersIn(_ context.Context, at workspace.Place) ([]server.Formatter, error) {
	k, err := b.setup.ConfigFor(at)
	if err != nil {
		return nil, err
	}
	var out []server.Formatter
	for _, f := range b.setup.Languages.State().Formatters.Status(b.setup.Languages.FormatProject(k, at)) {
		out = append(out, server.Formatter{Name: f.Name, Extensions: f.Extensions, Enabled: f.Enabled})
	}
	return out, nil
}

const (
	// symbolLimit is how many symbols a client gets, symbolTime how long it waits for them.
	symbolLimit = 10
	symbolTime  = 3 * time.Second
)

// FindSymbolsIn finds symbols with the servers that run. Without one there are none.
func (b languageSource) FindSymbolsIn(ctx context.Context, at workspace.Place, query string) ([]api.Symbol, error) {
	k, err := b.setup.ConfigFor(at)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, symbolTime)
	defer cancel()
	list, err := b.setup.Languages.State().Servers.Symbols(ctx, b.setup.Languages.Project(k, at), query)
	if err != nil {
		b.app.Log.Debug("symbols not found", "error", err)
	}
	var out []api.Symbol
	for _, s := range list[:min(len(list), symbolLimit)] {
		place := api.SymbolLocation{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(s.Path)}).String(), Range: symbolRange(s.Range)}
		out = append(out, api.Symbol{Name: s.Name, Kind: s.Kind, Location: place})
	}
	return out, nil
}

// symbolRange converts a range for clients.
func symbolRange(r lsp.Range) api.SymbolRange {
	return api.SymbolRange{Start: api.SymbolPosition(r.Start), End: api.SymbolPosition(r.End)}
}

// LanguageServers lists the language servers of a directory that were started.
func (l *Local) LanguageServers(ctx context.Context, dir string) ([]api.LanguageServer, error) {
	at, err := l.place(ctx, dir)
	if err != nil {
		return nil, err
	}
	return languageSource{l.served}.LanguageServersIn(ctx, at)
}

// FindSymbols finds symbols by name with the servers that run.
func (l *Local) FindSymbols(ctx context.Context, dir, query string) ([]api.Symbol, error) {
	at, err := l.place(ctx, dir)
	if err != nil {
		return nil, err
	}
	return languageSource{l.served}.FindSymbolsIn(ctx, at, query)
}
