package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxSymbols limits the symbols of an answer, maxDepth how deep they may be nested.
const (
	maxSymbols = 500
	maxDepth   = 20
)

// KindName returns the name of a kind of symbols.
func KindName(kind int) string {
	names := strings.Fields(`file module namespace package class method property field constructor enum interface function variable constant string
		number boolean array object key null enum-member struct event operator type-parameter`)
	if kind < 1 || kind > len(names) {
		return "symbol"
	}
	return names[kind-1]
}

// FileSymbols returns the symbols that a file declares.
func (v *Servers) FileSymbols(ctx context.Context, p Project, path string) ([]Symbol, error) {
	o, err := v.open(ctx, p, path, func(c serverCapabilities) json.RawMessage { return c.DocumentSymbol })
	if err != nil {
		return nil, err
	}
	return o.symbols(ctx)
}

// symbols asks for the symbols of the file that is open.
func (o opened) symbols(ctx context.Context) ([]Symbol, error) {
	var list []symbol
	if err := o.call(ctx, "textDocument/documentSymbol", documentParams{textDocument{uriOf(o.path)}}, &list); err != nil {
		return nil, err
	}
	var out []Symbol
	flatten(list, "", o.path, 0, &out)
	return out, nil
}

// flatten lists a tree of symbols.
func flatten(list []symbol, container, path string, depth int, out *[]Symbol) {
	for _, s := range list {
		if len(*out) >= maxSymbols || depth > maxDepth {
			return
		}
		at := s.SelectionRange
		if s.Location.URI != "" {
			at = s.Location.Range
		}
		name := clean(s.Name, 120)
		*out = append(*out, Symbol{Name: name, Container: clean(cmp.Or(container, s.ContainerName), 120), Kind: s.Kind, Path: path, Range: at})
		flatten(s.Children, name, path, depth+1, out)
	}
}

// Symbols returns the symbols of the project that match a query, from the servers that run. It starts none.
func (v *Servers) Symbols(ctx context.Context, p Project, query string) ([]Symbol, error) {
	var out []Symbol
	err := errors.New("no language server runs for this project; it starts with the first edit, or name a file")
	for _, s := range v.running(p) {
		c := s.current()
		if c == nil || !offers(c.caps.WorkspaceSymbol) {
			continue
		}
		var list []symbol
		if failed := c.call(ctx, "workspace/symbol", map[string]string{"query": query}, &list); failed != nil {
			err = failed
			continue
		}
		err = nil
		for _, one := range list {
			path, ok := pathOf(one.Location.URI)
			if !ok || !p.contains(path) || len(out) >= maxSymbols {
				continue
			}
			out = append(out, Symbol{Name: clean(one.Name, 120), Container: clean(one.ContainerName, 120), Kind: one.Kind, Path: path, Range: one.Location.Range})
		}
	}
	if len(out) > 0 {
		err = nil
	}
	slices.SortStableFunc(out, func(a, b Symbol) int { // exact names first
		return cmp.Compare(matchRank(a, query), matchRank(b, query))
	})
	return out, err
}

// matchRank puts exact names before beginnings, and those before all others.
func matchRank(s Symbol, query string) int {
	switch name := lastName(s.Name); {
	case name == query:
		return 0
	case strings.HasPrefix(strings.ToLower(name), strings.ToLower(query)):
		return 1
	default:
		return 2
	}
}

// Call is a caller or a callee of a function.
type Call struct {
	Name string
	Place
}

// Calls returns the callers of a function, or the functions that it calls.
func (v *Servers) Calls(ctx context.Context, p Project, q Query, incoming bool) ([]Call, error) {
	o, at, err := v.locate(ctx, p, q, func(c serverCapabilities) json.RawMessage { return c.CallHierarchy })
	if err != nil {
		return nil, err
	}
	var items []callItem
	if err := o.call(ctx, "textDocument/prepareCallHierarchy", at, &items); err != nil {
		return nil, err
	}
	method := "callHierarchy/outgoingCalls"
	if incoming {
		method = "callHierarchy/incomingCalls"
	}
	var out []Call
	for _, item := range items[:min(len(items), maxItems)] {
		var list []call
		if err := o.call(ctx, method, map[string]any{"item": item}, &list); err != nil {
			return nil, err
		}
		for _, c := range list {
			other := c.To
			if incoming {
				other = c.From
			}
			if other == nil || len(out) >= maxPlaces {
				continue
			}
			place := location{URI: other.URI, Range: other.SelectionRange}
			if incoming && len(c.FromRanges) > 0 { // the call itself says more than its function
				place.Range = c.FromRanges[0]
			}
			for _, found := range o.read([]location{place}) {
				out = append(out, Call{Name: clean(other.Name, 120), Place: found})
			}
		}
	}
	return out, nil
}

// Edit is the new content of a file.
type Edit struct {
	Path          string // real
	Before, After string
}

// maxRename limits the files and the bytes of a rename.
const (
	maxRenameFiles = 1000
	maxRenameBytes = 64 << 20
)

// Rename returns the contents of all files after a symbol got another name. It writes nothing.
func (v *Servers) Rename(ctx context.Context, p Project, q Query, name string) ([]Edit, error) {
	if strings.TrimSpace(name) == "" || len(name) > 500 || clean(name, 500) != name {
		return nil, errors.New("the new name is empty or has characters that no name has")
	}
	o, at, err := v.locate(ctx, p, q, func(c serverCapabilities) json.RawMessage { return c.Rename })
	if err != nil {
		return nil, err
	}
	var got workspaceEdit
	if err := o.call(ctx, "textDocument/rename", renameParams{at, name}, &got); err != nil {
		return nil, err
	}
	return o.edits(got)
}

// edits applies the edits of a server to the files as they are on disk. One that it may not touch refuses all.
func (o opened) edits(w workspaceEdit) ([]Edit, error) {
	byPath := map[string][]textEdit{}
	add := func(uri string, edits []textEdit) error {
		path, ok := pathOf(uri)
		if !ok || !o.project.contains(realPath(path)) || !fileExists(path) {
			return fmt.Errorf("%s wants to change %s, which is not a file of this project; nothing was changed", o.launch.ID, clean(uri, 120))
		}
		path = realPath(path)
		byPath[path] = append(byPath[path], edits...)
		return nil
	}
	for _, d := range w.DocumentChanges {
		if d.Kind != "" {
			return nil, fmt.Errorf("%s wants to %s a file, which a rename does not do here; nothing was changed", o.launch.ID, clean(d.Kind, 20))
		}
		if err := add(d.TextDocument.URI, d.Edits); err != nil {
			return nil, err
		}
	}
	if len(w.DocumentChanges) == 0 {
		for uri, edits := range w.Changes {
			if err := add(uri, edits); err != nil {
				return nil, err
			}
		}
	}
	if len(byPath) > maxRenameFiles {
		return nil, fmt.Errorf("%s wants to change %d files, more than %d", o.launch.ID, len(byPath), maxRenameFiles)
	}
	var out []Edit
	total := 0
	for path, edits := range byPath {
		data, err := readLimited(path, maxFile)
		if err != nil {
			return nil, err
		}
		after, err := o.enc.apply(string(data), edits)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.project.rel(path), err)
		}
		if total += len(after); total > maxRenameBytes {
			return nil, errors.New("the rename changes more text than is allowed at once")
		}
		if after != string(data) {
			out = append(out, Edit{Path: path, Before: string(data), After: after})
		}
	}
	slices.SortFunc(out, func(a, b Edit) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// apply makes edits that do not overlap.
func (e encoding) apply(text string, edits []textEdit) (string, error) {
	type span struct {
		from, to int
		text     string
	}
	starts := lines(text)
	spans := make([]span, 0, len(edits))
	for _, ed := range edits {
		from, to := e.offset(text, starts, ed.Range.Start), e.offset(text, starts, ed.Range.End)
		if to < from {
			return "", errors.New("the server sent an edit that ends before it begins")
		}
		spans = append(spans, span{from, to, ed.NewText})
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	spans = slices.Compact(spans)
	var out strings.Builder
	at := 0
	for _, s := range spans {
		if s.from < at {
			return "", errors.New("the server sent edits that overlap")
		}
		out.WriteString(text[at:s.from])
		out.WriteString(s.text)
		at = s.to
	}
	out.WriteString(text[at:])
	return out.String(), nil
}

// Diagnostics returns all that servers say about a file, errors first, and waits for it until the context ends.
func (v *Servers) Diagnostics(ctx context.Context, p Project, path string) ([]Diagnostic, error) {
	var out []Diagnostic
	servers := v.serversFor(p, path)
	if len(servers) == 0 {
		return nil, errNoServer
	}
	for _, s := range servers {
		o, err := s.show(ctx, p, path)
		if err != nil {
			return out, fmt.Errorf("%s %w", s.launch.ID, err)
		}
		if o.pulls() {
			if err := o.ask(ctx, path); err != nil {
				return out, err
			}
		}
		if !o.await(ctx, 0, map[string]int{path: 1}) {
			return out, fmt.Errorf("diagnostics not known yet: %s has not answered", s.launch.ID)
		}
		o.mu.Lock()
		if f := o.files[path]; f != nil {
			out = append(out, f.list...)
		}
		o.mu.Unlock()
	}
	return out, nil
}
