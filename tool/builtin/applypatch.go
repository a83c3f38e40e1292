package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace/patch"
)

//go:embed applypatch.md
var applyPatchText string

//go:embed applypatch.lark
var applyPatchGrammar string

type applyPatchInput struct {
	PatchText string `json:"patchText" jsonschema:"the whole patch, from *** Begin Patch to *** End Patch"`
}

// ApplyPatch returns the tool that changes files by a patch, all of them or none.
func ApplyPatch(cfg EditConfig) tool.Tool {
	spec := tool.Spec{Name: "apply_patch", Description: strings.TrimSpace(applyPatchText), Permission: "edit"}
	spec.Freeform = &tool.Freeform{Argument: "patchText", Grammar: strings.TrimSpace(applyPatchGrammar)}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in applyPatchInput) (tool.Result, error) {
		p, err := patch.Parse(in.PatchText)
		if err != nil {
			return tool.Result{}, tool.Failf("apply_patch verification failed: %w", err)
		}
		a := patchRun{cfg: cfg, call: c, patch: p, targets: map[string]target.Target{}, unsaved: map[string]bool{}}
		if err := a.locate(ctx); err != nil {
			return tool.Result{}, err
		}
		return a.run(ctx)
	})
}

// patchRun is one call of the tool.
type patchRun struct {
	cfg     EditConfig
	call    *tool.Call
	patch   patch.Patch
	targets map[string]target.Target // by the path that is shown, which the patch has from locate on
	unsaved map[string]bool          // the files that are taken from the editor
}

func (a *patchRun) files() overlay { return overlay{a.cfg.Buffers, a.call} }

// locate finds the files of the patch, and asks about those outside.
func (a *patchRun) locate(ctx context.Context) error {
	for i := range a.patch.Files {
		f := &a.patch.Files[i]
		for _, name := range []*string{&f.Path, &f.MoveTo} {
			if *name == "" {
				continue
			}
			t, err := target.Locate(a.call, *name)
			if err != nil {
				return err
			}
			if _, known := a.targets[t.Shown]; !known {
				if err := target.AskExternal(ctx, a.call, t); err != nil {
					return err
				}
				a.targets[t.Shown] = t
			}
			if goes := f.Kind == patch.Delete || f.MoveTo != "" && name == &f.Path; goes && isLink(t.Name) {
				return tool.Failf("apply_patch verification failed: Line %d of patchText: %s is a symlink to %s, and only files are deleted or moved. "+
					"Nothing was changed. Name the file itself, or remove the link with a command, such as rm.", f.Line, t.Name, t.Shown)
			}
			*name = t.Shown
		}
	}
	return nil
}

// isLink reports whether a name itself is a symlink, wherever its directory lies.
func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// run applies a patch to all of its files, or to none.
func (a *patchRun) run(ctx context.Context) (tool.Result, error) {
	files, err := a.work(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if err := a.ask(ctx, files); err != nil {
		return tool.Result{}, err
	}
	unlock := a.lock()
	defer unlock()
	now, err := a.work(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if err := a.compare(files, now); err != nil {
		return tool.Result{}, err
	}
	if err := a.write(ctx, now); err != nil {
		return tool.Result{}, err
	}
	res, err := a.result(now)
	if err != nil {
		return res, err
	}
	var lines []string
	for _, f := range now {
		if f.Kind != patch.Delete {
			lines = append(lines, a.cfg.Syntax.look(ctx, a.call, f.to, f.Before, f.After))
		}
	}
	return withSyntax(res, lines...), nil
}

// patched is the result of a patch for one file.
type patched struct {
	patch.Change
	change
	from, to target.Target // the same unless it is moved
	files    overlay
	unsaved  bool // it is written by the editor
}

// work applies the patch to what the files are now, and writes nothing.
func (a *patchRun) work(ctx context.Context) ([]patched, error) {
	list, err := a.patch.Apply(func(path string) (string, bool, error) {
		c, err := a.files().load(ctx, a.targets[path])
		if err == nil {
			err = a.files().check(a.targets[path], c)
		}
		a.unsaved[path] = c.unsaved
		return c.text, c.exists, err
	})
	if r, ok := errors.AsType[*patch.Refusal](err); ok {
		return nil, a.explain(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	out := make([]patched, len(list))
	for i, c := range list {
		from, to := a.targets[c.Path], a.targets[c.Path]
		if c.Kind == patch.Move {
			to = a.targets[c.MoveTo]
		}
		out[i] = patched{Change: c, change: changeOf(c.Path, c.Before, c.After), from: from, to: to, files: a.files(), unsaved: a.unsaved[c.Path]}
		if out[i].unsaved && c.Kind != patch.Update { // an editor can only write
			return nil, unsavedRefusal(from)
		}
	}
	return out, nil
}

func (a *patchRun) explain(ctx context.Context, r *patch.Refusal) error {
	const failed = "apply_patch verification failed: "
	t, ok := a.targets[r.Path]
	if !ok {
		return &tool.Failure{Text: failed + r.Error(), Err: r}
	}
	if r.Reason == patch.NoFile {
		return &tool.Failure{Text: failed + r.Text + "\n" + target.NotFound(t, "apply_patch").Error(), Err: r}
	}
	shown, err := a.cfg.Tracker.mayShow(ctx, a.call, t)
	if err != nil {
		return err
	}
	now, err := a.files().load(ctx, t)
	if err != nil {
		return err
	}
	return &tool.Failure{Text: failed + editRefused(t, r, shown) + a.cfg.Tracker.changed(a.call, t, now), Err: r}
}

// fileMeta is a file of a patch as clients show it.
type fileMeta struct {
	Path      string `json:"filePath"`
	Relative  string `json:"relativePath"`
	Type      string `json:"type"`
	Patch     string `json:"patch"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Move      string `json:"movePath,omitempty"`
}

func metas(files []patched) (list []fileMeta, diff string) {
	list = make([]fileMeta, len(files))
	var all strings.Builder
	for i, f := range files {
		list[i] = fileMeta{
			Path: f.Path, Relative: f.to.Rel, Type: string(f.Kind), Patch: f.Diff,
			Additions: f.Additions, Deletions: f.Deletions, Move: f.MoveTo,
		}
		all.WriteString(f.Diff)
		all.WriteString("\n")
	}
	return list, all.String()
}

// ask asks once for everything.
func (a *patchRun) ask(ctx context.Context, files []patched) error {
	var patterns, paths []string
	var targets []target.Target
	for _, f := range files {
		targets, patterns = append(targets, f.from), append(patterns, f.from.Patterns()...)
		paths = append(paths, f.Path)
		if f.Kind == patch.Move {
			targets, patterns = append(targets, f.to), append(patterns, f.to.Patterns()...)
			paths = append(paths, f.MoveTo)
		}
	}
	list, diff := metas(files)
	meta, err := json.Marshal(struct {
		Path  string     `json:"filepath"`
		Diff  string     `json:"diff"`
		Files []fileMeta `json:"files"`
	}{strings.Join(paths, ", "), diff, list})
	if err != nil {
		return err
	}
	if err := a.call.Host.Ask(ctx, tool.Permission{Name: "edit", Patterns: patterns, Always: []string{"*"}, Metadata: meta}); err != nil {
		return err
	}
	return target.AskGuarded(ctx, a.call, a.cfg.Guard, targets, diff)
}

// compare refuses where the patch, after the user was asked, comes to something else than the
// user saw. Where a file that is updated has changed elsewhere it still does the same.
func (a *patchRun) compare(asked, now []patched) error {
	for i, f := range asked {
		if i >= len(now) || now[i].Kind != f.Kind || now[i].Path != f.Path {
			return changedMeanwhile(f.Path)
		}
		same := now[i].Before == f.Before
		if !same && (!a.updated(f.Path) || now[i].Additions != f.Additions || now[i].Deletions != f.Deletions) {
			return changedMeanwhile(f.Path)
		}
	}
	return nil
}

// updated reports whether all sections of a file are hunks, so that nothing goes which they do not
// name.
func (a *patchRun) updated(path string) bool {
	for _, f := range a.patch.Files {
		if f.Path == path && f.Kind != patch.Update {
			return false
		}
	}
	return true
}

func (a *patchRun) result(files []patched) (tool.Result, error) {
	list, diff := metas(files)
	meta, err := json.Marshal(struct {
		Diff        string     `json:"diff"`
		Files       []fileMeta `json:"files"`
		Diagnostics struct{}   `json:"diagnostics"` // by file; none are known
	}{Diff: diff, Files: list})
	if err != nil {
		return tool.Result{}, err
	}
	sums := map[string]string{}
	var out strings.Builder
	fmt.Fprintf(&out, "Applied the patch to %s:", phrase.Count(len(files), "file"))
	for _, f := range files {
		f.publish(a.call)
		letter := map[patch.Kind]string{patch.Add: "A", patch.Update: "M", patch.Move: "M", patch.Delete: "D"}[f.Kind]
		fmt.Fprintf(&out, "\n%s %s (+%d −%d)", letter, f.to.Rel, f.Additions, f.Deletions)
		for _, s := range f.Shifts {
			out.WriteString("\n  " + shiftWords(s))
		}
		if f.Kind != patch.Delete {
			sums[f.to.Path] = sumOf([]byte(f.After))
		}
	}
	a.cfg.Tracker.note(a.call, sums)
	a.call.Host.Progress("", meta)
	return tool.Result{Title: out.String(), Output: out.String(), Metadata: withReads(meta, sums)}, nil
}

// shiftWords says that a hunk was found at another indentation, and what became of its lines.
func shiftWords(s patch.HunkShift) string {
	what := "its + lines were moved to the indentation of the file"
	if !s.Uniform {
		what = "not all of its lines by the same amount, so its + lines were written as given; look whether they stand right"
	}
	return fmt.Sprintf("Hunk %d, line %d: the file has %s where the patch has %s; %s.", s.Hunk, s.Line, indentWords(s.File), indentWords(s.Given), what)
}

// publish publishes what became of a file.
func (f patched) publish(c *tool.Call) {
	watched := func(t target.Target, event string) { c.Host.Publish(&lathe.FileWatched{File: t.Shown, Event: event}) }
	c.Host.Publish(&lathe.FileEdited{File: f.to.Shown})
	switch f.Kind {
	case patch.Add:
		watched(f.to, "add")
	case patch.Update:
		watched(f.to, "change")
	case patch.Delete:
		watched(f.to, "unlink")
	case patch.Move:
		watched(f.from, "unlink")
		watched(f.to, "add")
	}
}
