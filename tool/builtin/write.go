package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/guarded"
)

//go:embed write.md
var writeText string

// WriteConfig configures the write tool.
type WriteConfig struct {
	Tracker *ReadTracker // shared with the tools that read
	// AllowStale allows to write over a file that has changed since the model saw it.
	AllowStale bool
	// Syntax looks at what was written; nil does not. Edits and patches use it too.
	Syntax *SyntaxChecker
	// Guard is the files that are never written without a question. Edits and patches use it too.
	Guard guarded.List
	// Buffers are the unsaved files of an editor; nil has none. Edits and patches use them too.
	Buffers Buffers
}

type writeInput struct {
	FilePath string `json:"filePath" jsonschema:"the file: /repo/src/main.go"`
	Content  string `json:"content" jsonschema:"its whole text"`
}

// Write returns the tool that writes whole files.
func Write(cfg WriteConfig) tool.Tool {
	spec := tool.Spec{Name: "write", Description: strings.TrimSpace(writeText), Permission: "edit"}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in writeInput) (tool.Result, error) {
		t, err := target.Locate(c, in.FilePath)
		if err != nil {
			return tool.Result{}, err
		}
		if err := target.AskExternal(ctx, c, t); err != nil {
			return tool.Result{}, err
		}
		w := writeRun{cfg: cfg, call: c, target: t}
		return w.run(ctx, in.Content)
	})
}

// writeRun is one call of the tool.
type writeRun struct {
	cfg    WriteConfig
	call   *tool.Call
	target target.Target
}

// run creates a file, or overwrites one that the session has read.
func (w writeRun) run(ctx context.Context, content string) (tool.Result, error) {
	files := overlay{w.cfg.Buffers, w.call}
	old, err := files.current(ctx, w.target)
	if err != nil {
		return tool.Result{}, err
	}
	if err := cmp.Or(files.check(w.target, old), w.check(old)); err != nil {
		// A protected file says so first: to read it would not help.
		return tool.Result{}, cmp.Or(target.AskGuarded(ctx, w.call, w.cfg.Guard, []target.Target{w.target}, ""), err)
	}
	after := old.formed(content)
	diff := old.changed(w.target.Shown, after)
	if err := askEdit(ctx, w.call, w.cfg.Guard, w.target, diff.Diff); err != nil {
		return tool.Result{}, err
	}
	unlock := w.cfg.Tracker.lock(w.target.Path)
	defer unlock()
	if err := files.unchanged(ctx, w.target, old); err != nil {
		return tool.Result{}, err
	}
	if err := files.overwrite(ctx, w.target, old, after); err != nil {
		return tool.Result{}, err
	}
	sums := map[string]string{w.target.Path: sumOf([]byte(after))}
	w.cfg.Tracker.note(w.call, sums)
	publishEdited(w.call, w.target, old.exists)
	meta, err := json.Marshal(struct {
		Diagnostics struct{} `json:"diagnostics"` // by file; none are known
		Path        string   `json:"filepath"`
		Exists      bool     `json:"exists"`
		Diff        string   `json:"diff,omitempty"` // of a file that existed; a new one is in the input
	}{Path: w.target.Shown, Exists: old.exists, Diff: w.shownDiff(old, diff)})
	if err != nil {
		return tool.Result{}, err
	}
	res := tool.Result{Title: w.target.Title, Output: w.words(old, content, after), Metadata: withReads(meta, sums)}
	return withSyntax(res, w.cfg.Syntax.look(ctx, w.call, w.target, old.text, after)), nil
}

// shownDiff is the diff that clients show of a file that was overwritten.
func (w writeRun) shownDiff(old content, c change) string {
	if !old.exists || old.large {
		return ""
	}
	return c.Diff
}

// overwrite puts a text into a file, whose former content is saved for an undo.
func (o overlay) overwrite(ctx context.Context, t target.Target, old content, text string) error {
	done, err := beginChange(ctx, o.call, t.Path)
	if err != nil {
		return err
	}
	defer done()
	return o.write(ctx, t, old, text)
}

// beginChange keeps what files are before they are changed. Nothing is changed that could not
// be undone.
func beginChange(ctx context.Context, c *tool.Call, paths ...string) (done func(), err error) {
	if done, err = c.Host.BeginChange(ctx, paths...); err != nil && ctx.Err() == nil {
		err = tool.Failf("The old content could not be saved for undo (%w), so nothing was written. Tell the user; \"snapshot\": false in the config disables undo.", err)
	}
	return done, err
}

// check refuses to write over what the model does not know.
func (w writeRun) check(old content) error {
	if w.cfg.AllowStale || !old.exists {
		return nil
	}
	last := w.cfg.Tracker.last(w.call, w.target.Path)
	empty := !old.large && old.text == ""
	switch {
	case !last.seen && !empty:
		return tool.Failf("%s exists (%s), and you have not read it in this session, so nothing was written. Read it first: call read with {\"filePath\":%s}, then write again with what you want to keep. To change a part of it use edit.",
			w.target.Shown, old.size(), phrase.JSON(w.target.Shown))
	case !last.seen || last.sum == "" || last.sum == old.sum:
		return nil
	}
	who := "something outside of this session changed it"
	if last.command != "" {
		who = fmt.Sprintf("perhaps by your command %q", phrase.Clip(last.command))
	}
	return tool.Failf("%s has changed since you last read or wrote it (%s), so nothing was written. It has %s now. Call read with {\"filePath\":%s}, then write again with what you want to keep.",
		w.target.Shown, who, old.size(), phrase.JSON(w.target.Shown))
}

func (w writeRun) words(old content, given, after string) string {
	done := "Created"
	if old.exists {
		done = "Overwrote"
	}
	text := fmt.Sprintf("%s %s: %s, %s.", done, w.target.Shown, phrase.Count(lineCount(after), "line"), phrase.Count(len(after), "byte"))
	if old.exists && !old.large {
		text = fmt.Sprintf("%s %s: %d → %s, %s.", done, w.target.Shown, lineCount(old.text), phrase.Count(lineCount(after), "line"), phrase.Count(len(after), "byte"))
	}
	if strings.Count(after, "\r\n") > strings.Count(given, "\r\n") {
		text += " Its line ends are CRLF, as before."
	}
	if line := elision().FindString(given); line != "" && lineCount(old.text) > lineCount(after) {
		text += fmt.Sprintf(" Warning: the line %q stands in the file as it is, and what it stands for is gone. Write the file again with those lines if they were to stay.", phrase.Clip(strings.TrimSpace(line)))
	}
	return text
}

// elision matches a line that stands for omitted code.
var elision = phrase.Regexp(`(?im)^[ \t]*(?://|#|/\*|<!--|--|;|\{/\*)?[ \t]*(?:\.\.\.|…)[ \t]*\(?(?:the )?(?:rest|remaining|existing|previous|unchanged|other|same)\b.*$`)

// content is what is in a file before a tool changes it.
type content struct {
	exists bool
	large  bool // more than is looked at: text and sum are unknown
	// unsaved says that the text is the editor's and differs from the file on disk.
	unsaved bool
	bytes   int64
	text    string
	sum     string
}

// current reads what is there, to be written over as a whole.
func (o overlay) current(ctx context.Context, t target.Target) (content, error) {
	c, err := upTo(t, sumLimit)
	if err != nil {
		return c, err
	}
	return o.over(ctx, t, c), nil
}

func upTo(t target.Target, limit int64) (content, error) {
	if t.IsDir() {
		return content{}, tool.Failf("%s is a directory. Name a file in it.", t.Shown)
	}
	data, err := t.ReadAll(limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{}, nil
	case errors.Is(err, workspace.ErrTooLarge):
		c := content{exists: true, large: true}
		if t.Info != nil {
			c.bytes = t.Info.Size()
		}
		return c, nil
	case err != nil:
		return content{}, tool.Failf("Cannot change %s: %w.", t.Shown, err)
	}
	return content{exists: true, bytes: int64(len(data)), text: string(data), sum: sumOf(data)}, nil
}

// unchanged refuses where a file is no longer what it was when the user was asked.
func (o overlay) unchanged(ctx context.Context, t target.Target, old content) error {
	now, err := o.current(ctx, t)
	if err != nil {
		return err
	}
	if now.exists != old.exists || now.sum != old.sum {
		return changedMeanwhile(t.Shown)
	}
	return nil
}

func changedMeanwhile(path string) error {
	return tool.Failf("%s was changed by someone else while you waited for the permission, so nothing was written. Call read with {\"filePath\":%s} and do it again.", path, phrase.JSON(path))
}

// formed gives a new text the form of the old one, which the model was not shown: the mark at
// its beginning, and line ends of CRLF where all were such and the text has none.
func (c content) formed(text string) string {
	if ends := strings.Count(c.text, "\n"); ends > 0 && ends == strings.Count(c.text, "\r\n") && !strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if strings.HasPrefix(c.text, phrase.BOM) && !strings.HasPrefix(text, phrase.BOM) {
		text = phrase.BOM + text
	}
	return text
}

func (c content) changed(path, after string) change {
	if c.large {
		return change{Diff: fmt.Sprintf("Index: %s\nThe old content of %s is too large to be compared.\n", path, phrase.Size(c.bytes))}
	}
	return changeOf(path, c.text, after)
}

func (c content) size() string {
	if c.large {
		return phrase.Size(c.bytes)
	}
	return phrase.Count(lineCount(c.text), "line")
}

// lineCount is how many lines a text has; what follows the last line end is one, if anything.
func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// askEdit asks for the permission to change a file, and shows how.
func askEdit(ctx context.Context, c *tool.Call, guard guarded.List, t target.Target, diff string) error {
	meta, err := json.Marshal(struct {
		Path string `json:"filepath"`
		Diff string `json:"diff"`
	}{t.Shown, diff})
	if err != nil {
		return err
	}
	if err := c.Host.Ask(ctx, tool.Permission{Name: "edit", Patterns: t.Patterns(), Always: []string{"*"}, Metadata: meta}); err != nil {
		return err
	}
	return target.AskGuarded(ctx, c, guard, []target.Target{t}, diff)
}

// publishEdited publishes that a file was written.
func publishEdited(c *tool.Call, t target.Target, existed bool) {
	event := "add"
	if existed {
		event = "change"
	}
	c.Host.Publish(&lathe.FileEdited{File: t.Shown})
	c.Host.Publish(&lathe.FileWatched{File: t.Shown, Event: event})
}
