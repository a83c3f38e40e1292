package server

import (
	"context"

	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/workspace"
)

// Languages has the language servers and formatters of a directory.
type Languages interface {
	LanguageServersIn(ctx context.Context, at workspace.Place) ([]api.LanguageServer, error)
	FormattersIn(ctx context.Context, at workspace.Place) ([]Formatter, error)
	FindSymbolsIn(ctx context.Context, at workspace.Place, query string) ([]api.Symbol, error)
}

// Formatter is a code formatter.
type Formatter struct {
	Name       string   `json:"name"`
	Extensions []string `json:"extensions"`
	Enabled    bool     `json:"enabled"` // it is installed, and the project uses it
}

func (Formatter) schemaName() string { return "FormatterStatus" }

// languageStatus is a language server in OpenCode's shape, which knows two states.
type languageStatus struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Root   string `json:"root"`
	Status string `json:"status" enum:"connected,error"`
}

func (languageStatus) schemaName() string { return "LSPStatus" }

type symbolQuery struct {
	Query string `query:"query"`
}

// languageAPI serves language servers and formatters. A backend without them has none.
type languageAPI struct{ languages Languages }

// routes has three routes in OpenCode's shapes, and one of ours with more members.
func (a languageAPI) routes() []row {
	bad := []failure{failsBad}
	return []row{
		answer(route("GET /lsp", "lsp.status", "instance", mayRead, "List the language servers that were started", bad), inPlace(a.status)),
		answer(route("GET /formatter", "formatter.status", "instance", mayRead, "List the formatters", bad), inPlace(a.formatters)),
		answer(route("GET /find/symbol", "find.symbols", "file", mayAll, "Find symbols by name with the running language servers", bad), inPlace(a.symbols)),
		answer(route("GET /lathe/lsp", "lathe.lsp", "lathe", mayRead, "List the language servers with state, memory and number of errors", bad), inPlace(a.servers)),
	}
}

// servers is the list that the other routes are made of.
func (a languageAPI) servers(c *call, at workspace.Place, _, _ none) ([]api.LanguageServer, error) {
	if a.languages == nil {
		return nil, nil
	}
	return a.languages.LanguageServersIn(c.Context(), at)
}

// status leaves out idle servers: OpenCode knows only those that run.
func (a languageAPI) status(c *call, at workspace.Place, _, _ none) ([]languageStatus, error) {
	all, err := a.servers(c, at, none{}, none{})
	var out []languageStatus
	for _, s := range all {
		status := "connected"
		switch s.State {
		case "off":
			status = "error"
		case "idle": // it does not run
			continue
		}
		out = append(out, languageStatus{s.ID, s.ID, s.Root, status})
	}
	return out, err
}

// formatters lists those of the config, whether they are used or not.
func (a languageAPI) formatters(c *call, at workspace.Place, _, _ none) ([]Formatter, error) {
	if a.languages == nil {
		return nil, nil
	}
	return a.languages.FormattersIn(c.Context(), at)
}

// symbols starts no server: a client asks with every key press.
func (a languageAPI) symbols(c *call, at workspace.Place, q symbolQuery, _ none) ([]api.Symbol, error) {
	if a.languages == nil {
		return nil, nil
	}
	return a.languages.FindSymbolsIn(c.Context(), at, q.Query)
}
