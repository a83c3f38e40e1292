package api

import "context"

// LanguageServer is a language server that was started for a directory.
type LanguageServer struct {
	ID     string `json:"id"`
	Root   string `json:"root"` // from the top of the checkout; "." is the top
	State  string `json:"state" enum:"starting,running,idle,off"`
	Reason string `json:"reason,omitempty"` // why it is off
	Memory int64  `json:"memory,omitempty"` // bytes; 0 is unknown
	Errors int    `json:"errors,omitempty"` // in all files that it knows
}

// Symbol is a named thing in a file of a project.
type Symbol struct {
	Name     string         `json:"name"`
	Kind     int            `json:"kind"` // of the Language Server Protocol
	Location SymbolLocation `json:"location"`
}

// SymbolLocation is the place of a symbol.
type SymbolLocation struct {
	URI   string      `json:"uri"`
	Range SymbolRange `json:"range"`
}

// SymbolRange is the range of a symbol in its file.
type SymbolRange struct {
	Start SymbolPosition `json:"start"`
	End   SymbolPosition `json:"end"`
}

// SymbolPosition is a place in a text. Both numbers count from 0.
type SymbolPosition struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Languages tells about the language servers of a directory. It starts none.
type Languages interface {
	LanguageServers(ctx context.Context, dir string) ([]LanguageServer, error)
	// FindSymbols returns the symbols of a project that match a query, best match first.
	FindSymbols(ctx context.Context, dir, query string) ([]Symbol, error)
}
