package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/guarded"
	"github.com/lathe-agent/lathe/workspace/patch"
)

//go:embed edit.md
var editText string

// EditConfig configures the tools that change parts of files.
type EditConfig struct {
	Tracker *ReadTracker   // shared with the tools that read and write
	Syntax  *SyntaxChecker // looks at what was written; nil does not
	Guard   guarded.List   // the files that are never written without a question
	Buffers Buffers        // the unsaved files of an editor; nil has none
}

// editLimit is the size in bytes of the largest file whose parts can be changed.
const editLimit = 64 << 20

type editInput struct {
	FilePath   string `json:"filePath" jsonschema:"the file: /repo/src/main.go"`
	OldString  string `json:"oldString" jsonschema:"the text to replace, as it stands in the file"`
	NewString  string `json:"newString" jsonschema:"the text to put there instead"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"whether to replace every occurrence: false"`
}

// Edit returns the tool that replaces a passage of a file.
func Edit(cfg EditConfig) tool.Tool {
	spec := tool.Spec{Name: "edit", Description: strings.TrimSpace(editText), Permission: "edit"}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in editInput) (tool.Result, error) {
		if strings.TrimSpace(in.FilePath) == "" {
			return tool.Result{}, tool.Failf("filePath is empty. Give the file to change, as in {\"filePath\":%s}.", phrase.JSON(filepath.Join(c.Dir, "main.go")))
		}
		t, err := target.Locate(c, in.FilePath)
		if err != nil {
			return tool.Result{}, err
		}
		e := editRun{cfg: cfg, call: c, target: t, in: in}
		if in.OldString == in.NewString {
			return tool.Result{}, e.same()
		}
		if err := target.AskExternal(ctx, c, t); err != nil {
			return tool.Result{}, err
		}
		return e.run(ctx)
	})
}

// editRun is one call of the tool.
type editRun struct {
	cfg    EditConfig
	call   *tool.Call
	target target.Target
	in     editInput
}

// same says that there is nothing to do, and where the text is if that may be looked at.
func (e editRun) same() error {
	text := ""
	if e.target.Inside {
		if old, err := (overlay{}).load(context.Background(), e.target); err == nil {
			text = old.text
		}
	}
	_, err := patch.Replace(text, e.in.OldString, e.in.NewString, e.in.ReplaceAll)
	return tool.Failf("%s: %w", e.target.Shown, err)
}

// run replaces the text in one file and reports the diff.
func (e editRun) run(ctx context.Context) (tool.Result, error) {
	files := overlay{e.cfg.Buffers, e.call}
	old, err := files.load(ctx, e.target)
	if err != nil {
		return tool.Result{}, err
	}
	if err := files.check(e.target, old); err != nil {
		return tool.Result{}, err
	}
	done, err := e.replace(ctx, old)
	if err != nil {
		return tool.Result{}, err
	}
	diff := changeOf(e.target.Shown, old.text, done.Content)
	if err := askEdit(ctx, e.call, e.cfg.Guard, e.target, diff.Diff); err != nil {
		return tool.Result{}, err
	}
	unlock := e.cfg.Tracker.lock(e.target.Path)
	defer unlock()
	now, err := files.load(ctx, e.target)
	if err != nil {
		return tool.Result{}, err
	}
	if now.exists != old.exists || now.sum != old.sum {
		if done, err = e.again(ctx, now, done); err != nil {
			return tool.Result{}, err
		}
		diff = changeOf(e.target.Shown, now.text, done.Content)
	}
	if err := files.overwrite(ctx, e.target, now, done.Content); err != nil {
		return tool.Result{}, err
	}
	publishEdited(e.call, e.target, old.exists)
	res, err := e.result(old, done, diff)
	if err != nil {
		return res, err
	}
	return withSyntax(res, e.cfg.Syntax.look(ctx, e.call, e.target, old.text, done.Content)), nil
}

// replace works out the new content.
func (e editRun) replace(ctx context.Context, old content) (patch.Replacement, error) {
	if e.in.OldString == "" {
		if old.exists {
			return patch.Replacement{}, tool.Failf("oldString is empty, and %s exists (%s). To change a part of it give the lines to replace in oldString; to replace all of it call write.",
				e.target.Shown, old.size())
		}
		return patch.Replacement{Content: e.in.NewString, Matcher: patch.Exact, First: 1, Last: lineCount(e.in.NewString)}, nil
	}
	if !old.exists {
		return patch.Replacement{}, target.NotFound(e.target, "edit")
	}
	done, err := patch.Replace(old.text, e.in.OldString, e.in.NewString, e.in.ReplaceAll)
	if r, ok := errors.AsType[*patch.Refusal](err); ok {
		return done, e.explain(ctx, old, r)
	}
	if done.Shift != nil && !done.Shift.Uniform && patch.IndentationMatters(e.target.Path) {
		return done, tool.Failf("%s: oldString stands at another indentation than the file, and not all of its lines by the same amount: the file has %s where oldString has %s. In this kind of file that changes the meaning, so nothing was changed. "+
			"Send oldString and newString with the indentation of the file. Lines of the file as they are now:\n%s",
			e.target.Shown, indentWords(done.Shift.File), indentWords(done.Shift.Given), numberLines(done.Passages[0]))
	}
	return done, err
}

// again does the edit once more on a file that changed while the user was asked, as another edit
// of the same step does. It must come to the same: what the user saw is what is done.
func (e editRun) again(ctx context.Context, now content, first patch.Replacement) (patch.Replacement, error) {
	done, err := e.replace(ctx, now)
	if err != nil {
		return done, err
	}
	same := slices.EqualFunc(first.Passages, done.Passages, func(a, b patch.Passage) bool { return a.Old == b.Old })
	if done.Count != first.Count || done.Matcher != first.Matcher || !same {
		return done, changedMeanwhile(e.target.Shown)
	}
	return done, nil
}

func (e editRun) result(old content, done patch.Replacement, diff change) (tool.Result, error) {
	type fileDiff struct {
		File      string `json:"file"`
		Patch     string `json:"patch"`
		Additions int    `json:"additions"`
		Deletions int    `json:"deletions"`
	}
	meta, err := json.Marshal(struct {
		Diff        string   `json:"diff"`
		FileDiff    fileDiff `json:"filediff"`
		Diagnostics struct{} `json:"diagnostics"` // by file; none are known
	}{Diff: diff.Diff, FileDiff: fileDiff{e.target.Shown, diff.Diff, diff.Additions, diff.Deletions}})
	if err != nil {
		return tool.Result{}, err
	}
	sums := map[string]string{e.target.Path: sumOf([]byte(done.Content))}
	e.cfg.Tracker.note(e.call, sums)
	e.call.Host.Progress("", meta)
	return tool.Result{Title: e.target.Title, Output: e.words(old, done, diff), Metadata: withReads(meta, sums)}, nil
}

func (e editRun) words(old content, done patch.Replacement, diff change) string {
	if !old.exists {
		return fmt.Sprintf("Created %s: %s.", e.target.Shown, phrase.Count(lineCount(done.Content), "line"))
	}
	places := ""
	if done.Count > 1 {
		places = fmt.Sprintf("%d places, ", done.Count)
	}
	lines := fmt.Sprintf("lines %d–%d", done.First, done.Last)
	if done.First == done.Last {
		lines = fmt.Sprintf("line %d", done.First)
	}
	text := fmt.Sprintf("Edited %s: %s+%d −%d, %s.", e.target.Shown, places, diff.Additions, diff.Deletions, lines)
	if done.Matcher == patch.Exact {
		return text
	}
	text += fmt.Sprintf(" oldString was not in the file to the letter, but one passage was found by another way (%s). What was replaced:\n%s", done.Matcher, numberLines(done.Passages[0]))
	if done.Shift != nil {
		text += fmt.Sprintf("\nAdjusted: the file has %s where oldString has %s, so newString was moved to the indentation of the file.",
			indentWords(done.Shift.File), indentWords(done.Shift.Given))
	}
	return text
}

// numberLines shows a passage as it was, at most 20 lines of it.
func numberLines(p patch.Passage) string {
	const most = 20
	lines := strings.Split(strings.TrimSuffix(strings.ToValidUTF8(p.Old, "\ufffd"), "\n"), "\n")
	var out []string
	for i, line := range lines[:min(len(lines), most)] {
		out = append(out, fmt.Sprintf("%d: %s", p.Line+i, line))
	}
	if len(lines) > most {
		out = append(out, fmt.Sprintf("… and %d more", len(lines)-most))
	}
	return strings.Join(out, "\n")
}

func indentWords(in string) string {
	tabs, spaces := strings.Count(in, "\t"), strings.Count(in, " ")
	switch {
	case tabs == 0 && spaces == 0:
		return "no indentation"
	case spaces == 0:
		return phrase.Count(tabs, "tab")
	case tabs == 0:
		return phrase.Count(spaces, "space")
	}
	return phrase.Count(tabs, "tab") + " and " + phrase.Count(spaces, "space")
}

// load reads a file for editing. One that does not exist is no error.
func (o overlay) load(ctx context.Context, t target.Target) (content, error) {
	c, err := upTo(t, editLimit)
	switch {
	case err != nil:
		return c, err
	case c.large:
		return c, tool.Failf("Cannot change %s: %w. Change it with a command, such as sed.", t.Shown, workspace.ErrTooLarge)
	}
	return o.over(ctx, t, c), nil
}
