package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace/lsp"
	"github.com/lathe-agent/lathe/workspace/patch"
)

//go:embed lsp.md
var lspText string

// LSPConfig configures the tool that asks language servers.
type LSPConfig struct {
	Servers *lsp.Servers
	Project func() lsp.Project // of the directory
	Edit    EditConfig         // for a rename, which is an edit
}

type lspInput struct {
	Operation string `json:"operation" jsonschema:"definition, references, hover, symbols, callers, callees, rename or diagnostics"`
	Symbol    string `json:"symbol,omitempty" jsonschema:"its name: Start or Server.Start"`
	FilePath  string `json:"filePath,omitempty" jsonschema:"a file that has it: /repo/src/main.go"`
	Line      int    `json:"line,omitempty" jsonschema:"the line it stands in, if the file has several"`
	NewName   string `json:"newName,omitempty" jsonschema:"its new name, for rename"`
}

const (
	lspTime    = 30 * time.Second // for an answer, also of a server that must start first
	lspSymbols = 200              // lines of an answer
)

// operations are the names of OpenCode's operations, and ours for them.
func operations() map[string]string {
	return map[string]string{
		"gotodefinition": "definition", "gotoimplementation": "definition", "findreferences": "references", "documentsymbol": "symbols", "workspacesymbol": "symbols",
		"preparecallhierarchy": "callers", "incomingcalls": "callers", "outgoingcalls": "callees", "document_symbols": "symbols", "workspace_symbols": "symbols",
	}
}

// LSP returns the tool that asks language servers about symbols.
func LSP(cfg LSPConfig) tool.Tool {
	spec := tool.Spec{Name: "lsp", Description: strings.TrimSpace(lspText)}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in lspInput) (tool.Result, error) {
		in.Operation = strings.ToLower(strings.TrimSpace(in.Operation))
		if ours, ok := operations()[in.Operation]; ok {
			if in.Operation == "workspacesymbol" || in.Operation == "workspace_symbols" {
				in.FilePath = ""
			}
			in.Operation = ours
		}
		r := lspRun{cfg: cfg, call: c, in: in, project: cfg.Project()}
		if in.FilePath != "" {
			t, err := target.Locate(c, in.FilePath)
			if err != nil {
				return tool.Result{}, err
			}
			if !t.Inside || t.Info == nil || t.IsDir() {
				return tool.Result{}, tool.Failf("%s is not a file of this project. Name one of its files.", t.Shown)
			}
			r.target = t
		}
		meta, err := json.Marshal(map[string]string{"operation": in.Operation, "filePath": in.FilePath})
		if err != nil {
			return tool.Result{}, err
		}
		if err := c.Host.Ask(ctx, tool.Permission{Name: "lsp", Patterns: []string{"*"}, Always: []string{"*"}, Metadata: meta}); err != nil {
			return tool.Result{}, err
		}
		return r.run(ctx)
	})
}

// lspRun is one call of the tool.
type lspRun struct {
	cfg     LSPConfig
	call    *tool.Call
	in      lspInput
	project lsp.Project
	target  target.Target // zero without a file
}

// query is the question of the call.
func (r *lspRun) query() lsp.Query {
	return lsp.Query{Path: r.target.Path, Symbol: r.in.Symbol, Line: r.in.Line}
}

// run asks the server, with a time limit of its own: a language server may have to load the project first.
func (r *lspRun) run(ctx context.Context) (tool.Result, error) {
	asked, cancel := context.WithTimeout(ctx, lspTime)
	defer cancel()
	var lines []string
	var err error
	v := r.cfg.Servers
	switch r.in.Operation {
	case "definition":
		var places []lsp.Place
		places, err = v.Definition(asked, r.project, r.query())
		lines = r.places(places)
	case "references":
		var places []lsp.Place
		places, err = v.References(asked, r.project, r.query())
		lines = r.places(places)
	case "hover":
		var text string
		text, err = v.Hover(asked, r.project, r.query())
		lines = strings.Split(text, "\n")
	case "callers", "callees":
		lines, err = r.calls(asked)
	case "symbols":
		lines, err = r.symbols(asked)
	case "diagnostics":
		lines, err = r.diagnostics(asked)
	case "rename":
		return r.rename(ctx, asked)
	default:
		return tool.Result{}, tool.Failf("operation is %q. Use definition, references, hover, symbols, callers, callees, rename or diagnostics.", phrase.Clip(r.in.Operation))
	}
	if err != nil {
		return tool.Result{}, r.failure(ctx, err)
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	if text == "" {
		text = "No results for " + r.in.Operation + "."
	}
	return tool.Result{Title: r.title(), Output: text}, nil
}

// failure is an error that the model can act on.
func (r *lspRun) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return tool.Failf("The language server has not answered within %s. It may still be loading: try again later, or use grep.", lspTime)
	}
	return tool.Failf("%w", err)
}

// title names the call for people.
func (r *lspRun) title() string {
	return strings.TrimSpace(r.in.Operation + " " + strings.TrimSpace(r.in.Symbol+" "+r.target.Title))
}

// name is a path for the model: from the directory of the session, where it lies there.
func (r *lspRun) name(path string) string { return target.Relative(target.RealDir(r.call.Dir), path) }

// places prints locations as path:line: text, which a model can pass on to read.
func (r *lspRun) places(list []lsp.Place) (out []string) {
	for _, p := range list {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s:%d: %s", r.name(p.Path), p.Line, p.Text)))
	}
	return out
}

// calls prints callers or callees.
func (r *lspRun) calls(ctx context.Context) (out []string, err error) {
	list, err := r.cfg.Servers.Calls(ctx, r.project, r.query(), r.in.Operation == "callers")
	for _, c := range list {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s:%d: %s: %s", r.name(c.Path), c.Line, c.Name, c.Text)))
	}
	return out, err
}

// symbols prints the symbols of a file, or of the project.
func (r *lspRun) symbols(ctx context.Context) (out []string, err error) {
	var list []lsp.Symbol
	if r.target.Path != "" {
		list, err = r.cfg.Servers.FileSymbols(ctx, r.project, r.target.Path)
	} else {
		list, err = r.cfg.Servers.Symbols(ctx, r.project, r.in.Symbol)
	}
	for i, s := range list {
		if i == lspSymbols {
			out = append(out, fmt.Sprintf("… and %d more", len(list)-i))
			break
		}
		name := s.Name
		if s.Container != "" && !strings.Contains(name, ".") {
			name += " in " + s.Container
		}
		out = append(out, fmt.Sprintf("%s:%d: %s %s", r.name(s.Path), s.Range.Start.Line+1, lsp.KindName(s.Kind), name))
	}
	return out, err
}

// diagnostics prints warnings too, which no result of an edit has.
func (r *lspRun) diagnostics(ctx context.Context) (out []string, err error) {
	if r.target.Path == "" {
		return nil, errors.New("name the file in filePath")
	}
	list, err := r.cfg.Servers.Diagnostics(ctx, r.project, r.target.Path)
	for i, d := range list {
		if i == lspSymbols {
			out = append(out, fmt.Sprintf("… and %d more", len(list)-i))
			break
		}
		kind := map[int]string{1: "error", 2: "warning", 3: "info", 4: "hint"}[d.Severity]
		out = append(out, fmt.Sprintf("%s:%d: %s: %s", r.name(r.target.Path), d.Range.Start.Line+1, kind, d.Message))
	}
	return out, err
}

// rename changes all files as apply_patch does: one question for all of them, all or none, with undo.
func (r *lspRun) rename(ctx, asked context.Context) (tool.Result, error) {
	edits, err := r.cfg.Servers.Rename(asked, r.project, r.query(), r.in.NewName)
	if err != nil {
		return tool.Result{}, r.failure(ctx, err)
	}
	if len(edits) == 0 {
		return tool.Result{}, tool.Failf("The language server found nothing to rename. Nothing was changed.")
	}
	// From here on a rename is a patch: the same question, the same locks, the same undo.
	a := patchRun{cfg: r.cfg.Edit, call: r.call, targets: map[string]target.Target{}}
	files := make([]patched, len(edits))
	for i, e := range edits {
		t, err := target.Locate(r.call, e.Path)
		if err != nil {
			return tool.Result{}, err
		}
		if !t.Inside {
			return tool.Result{}, tool.Failf("%s is outside of the project. Nothing was changed.", t.Shown)
		}
		a.targets[t.Shown] = t
		files[i] = patched{
			Change: patch.Change{Kind: patch.Update, Path: t.Shown, Before: e.Before, After: e.After},
			change: changeOf(t.Shown, e.Before, e.After), from: t, to: t, files: a.files(),
		}
	}
	if err := a.ask(ctx, files); err != nil {
		return tool.Result{}, err
	}
	unlock := a.lock()
	defer unlock()
	for _, f := range files {
		if now, err := a.files().load(ctx, f.to); err != nil || now.text != f.Before {
			return tool.Result{}, changedMeanwhile(f.Path)
		}
	}
	if err := a.write(ctx, files); err != nil {
		return tool.Result{}, err
	}
	res, err := a.result(files)
	res.Title = r.title()
	res.Output = strings.Replace(res.Output, "Applied the patch to ", fmt.Sprintf("Renamed %s to %s in ", phrase.Clip(r.in.Symbol), phrase.Clip(r.in.NewName)), 1)
	return res, err
}
