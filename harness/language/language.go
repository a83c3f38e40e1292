// Package language connects language servers and formatters to the turns of a directory: it reports new errors with the
// result of the edit that made them, and formats the edited lines when a step ends.
//
// An [Observer] belongs to one directory and its config; all share a [State]. Start reading at [Observer.AfterCall].
package language

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace/format"
	"github.com/lathe-agent/lathe/workspace/lsp"
)

// Wait is how long a call waits for the results of language servers.
const Wait = 1500 * time.Millisecond

// State is what all directories of a process share.
type State struct {
	Servers    *lsp.Servers
	Formatters *format.Formatters
	Log        *slog.Logger

	mu    sync.Mutex // guards the fields below
	steps map[lathe.SessionID]*step
	late  map[lathe.SessionID]lateNote
}

// lateNote is what could not be reported with the step that it is about. It comes with the next call, or with the next
// prompt; new errors keep a turn from ending.
type lateNote struct {
	text   string
	errors bool
}

// NewState returns a state without steps.
func NewState(servers *lsp.Servers, formatters *format.Formatters, log *slog.Logger) *State {
	return &State{Servers: servers, Formatters: formatters, Log: log, steps: map[lathe.SessionID]*step{}, late: map[lathe.SessionID]lateNote{}}
}

// Observer looks at the edits of one directory.
type Observer struct {
	State *State
	// Project and FormatProject describe the directory; they are called when the first file changes.
	Project       func() lsp.Project
	FormatProject func() format.Project
	// Seen notes in the metadata of a call that the model knows these contents, by real path.
	Seen func(metadata json.RawMessage, contents map[string][]byte) json.RawMessage
}

var _ engine.EditObserver = (*Observer)(nil)

// step has the texts before the edits of one step of a session.
type step struct {
	message lathe.MessageID
	before  map[string]fileText // when the step began
	calls   map[string]map[string]fileText
	edited  []string // files that tools for edits changed, in their order
	waits   bool     // results of changes were not asked for yet
}

// fileText is a file before a change.
type fileText struct {
	text    string
	known   bool
	existed bool
}

const (
	maxFile  = 2 << 20 // bytes; larger files are left alone
	maxSteps = 1000    // of abandoned sessions
)

// step returns the texts of the running step. The mutex is held.
func (st *State) step(c *tool.Call) *step {
	s := st.steps[c.Session]
	if s != nil && s.message == c.Message {
		return s
	}
	s = &step{message: c.Message, before: map[string]fileText{}, calls: map[string]map[string]fileText{}}
	for id := range st.steps {
		if len(st.steps) < maxSteps {
			break
		}
		delete(st.steps, id)
	}
	st.steps[c.Session] = s
	return s
}

// BeforeEdit remembers the texts of files that are about to change.
func (o *Observer) BeforeEdit(c *tool.Call, paths []string) {
	p, f := o.Project(), o.FormatProject()
	for _, path := range paths {
		if !handles(p, path) && !f.Config.Fits(path) {
			continue
		}
		now := readText(path)
		o.State.mu.Lock()
		s := o.State.step(c)
		if s.calls[c.ID] == nil {
			s.calls[c.ID] = map[string]fileText{}
		}
		if _, ok := s.calls[c.ID][path]; !ok {
			s.calls[c.ID][path] = now
		}
		if _, ok := s.before[path]; !ok {
			s.before[path] = now
		}
		o.State.mu.Unlock()
	}
}

// handles reports whether a server could be for a file. It looks at no file.
func handles(p lsp.Project, path string) bool {
	return slices.ContainsFunc(p.Config.Definitions(), func(d lsp.Definition) bool { return d.Handles(path) })
}

// readText reads a file for a comparison. A missing file is known to be empty.
func readText(path string) fileText {
	info, err := os.Stat(path)
	if err != nil {
		return fileText{known: os.IsNotExist(err)}
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return fileText{existed: true}
	}
	data, err := os.ReadFile(path)
	return fileText{text: string(data), known: err == nil, existed: true}
}

// AfterCall tells language servers about the changes of a call. With the last call of a step come the errors that all
// of its changes brought, and the lines that formatters changed. Errors in between, which the next call may repair, are
// not reported.
func (o *Observer) AfterCall(ctx context.Context, e engine.EndedCall) tool.Result {
	c, r, session := e.Call, e.Result, string(e.Call.Session)
	if changes := o.changes(c, e); len(changes) > 0 && !o.Project().Config.Off {
		o.State.Servers.Change(o.Project(), session, changes)
		o.State.setWaits(c)
	}
	// Results of earlier steps come first, since they are about older changes.
	if !o.State.hasWork(c) {
		return withText(r, o.lateText(c.Session, false))
	}
	r = withText(r, o.State.takeLate(c.Session, false))
	wait, cancel := context.WithTimeout(ctx, Wait)
	defer cancel()
	if !e.IsLast(wait) {
		return r
	}
	r, _ = o.finish(ctx, c, o.State.take(c), r)
	return r
}

// AfterStep does the work that no call of the step could do, since it did not know that it was the last. The model hears
// of it with the next call.
func (o *Observer) AfterStep(ctx context.Context, s engine.EndedStep) {
	if !o.State.hasWork(s.Call) {
		return
	}
	r, hasErrors := o.finish(ctx, s.Call, o.State.take(s.Call), tool.Result{})
	o.State.addLate(s.Session, strings.TrimSpace(r.Output), hasErrors)
}

// Late returns what came after the last call, and waits for results until the context ends.
func (o *Observer) Late(ctx context.Context, id lathe.SessionID, errorsOnly bool) string {
	o.State.Servers.Await(ctx, string(id))
	return o.lateText(id, errorsOnly)
}

// lateText takes the results that have come since they were last asked for.
func (o *Observer) lateText(id lathe.SessionID, errorsOnly bool) string {
	if v := o.State.Servers; v.HasOpen(string(id)) {
		report := v.Late(string(id))
		o.State.addLate(id, report.Text(o.Project().Directory), len(report.New) > 0)
	}
	return o.State.takeLate(id, errorsOnly)
}

// finish formats the files of a step and adds the errors that it brought.
func (o *Observer) finish(ctx context.Context, c *tool.Call, at *step, r tool.Result) (out tool.Result, hasErrors bool) {
	v, session := o.State.Servers, string(c.Session)
	wait, cancel := context.WithTimeout(ctx, Wait)
	defer cancel()
	report := lsp.Report{}
	if at.waits {
		report = v.Results(wait, session)
	}
	// Formatters run after the servers have answered: their lines would otherwise not fit the reported ones.
	r, changed := o.formatAll(ctx, c, at, r)
	if len(changed) > 0 && !o.Project().Config.Off {
		v.Change(o.Project(), session, changed) // layout brings no errors: nobody waits for the results
	}
	return withReport(r, c, report), len(report.New) > 0
}

// hasWork reports whether the step of a call has files to format, or results to report.
func (st *State) hasWork(c *tool.Call) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.steps[c.Session]
	return s != nil && s.message == c.Message && (s.waits || len(s.edited) > 0)
}

// take returns the step of a call and forgets it.
func (st *State) take(c *tool.Call) *step {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.step(c)
	delete(st.steps, c.Session)
	return s
}

// setWaits notes that the step of a call has changes without reported results.
func (st *State) setWaits(c *tool.Call) {
	open := st.Servers.HasOpen(string(c.Session))
	st.mu.Lock()
	defer st.mu.Unlock()
	st.step(c).waits = open
}

// addLate keeps a text for the next call or prompt.
func (st *State) addLate(id lathe.SessionID, text string, hasErrors bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if text != "" && len(st.late) < maxSteps {
		old := st.late[id]
		st.late[id] = lateNote{join(old.text, text), old.errors || hasErrors}
	}
}

// takeLate returns what could not be reported with the step that it is about, and forgets it.
func (st *State) takeLate(id lathe.SessionID, errorsOnly bool) string {
	st.mu.Lock()
	defer st.mu.Unlock()
	note := st.late[id]
	if errorsOnly && !note.errors {
		return ""
	}
	delete(st.late, id)
	return note.text
}

// join joins two paragraphs, of which either may be empty.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// withText adds a paragraph to the output of a call.
func withText(r tool.Result, text string) tool.Result {
	if text != "" {
		r.Output = join(strings.TrimRight(r.Output, "\n"), text)
	}
	return r
}

// changes returns the changed files of a call that servers may want to know of.
func (o *Observer) changes(c *tool.Call, e engine.EndedCall) (out []lsp.Change) {
	o.State.mu.Lock()
	s := o.State.step(c)
	before := s.calls[c.ID]
	for _, path := range e.Paths {
		if _, ok := before[path]; ok && !slices.Contains(s.edited, path) {
			s.edited = append(s.edited, path)
		}
	}
	o.State.mu.Unlock()
	seen := map[string]bool{}
	for _, path := range e.Paths {
		was, ok := before[path]
		if !ok || seen[path] {
			continue
		}
		seen[path] = true
		_, err := os.Lstat(path)
		out = append(out, lsp.Change{Path: path, Before: was.text, Known: was.known, Existed: was.existed, Deleted: err != nil})
	}
	p := o.Project()
	for _, f := range e.Commands {
		if seen[f.Path] {
			continue
		}
		ch := lsp.Change{Path: f.Path, Existed: f.Existed, Deleted: f.Deleted}
		if handles(p, f.Path) {
			ch.Before, ch.Known = f.Before()
		}
		out = append(out, ch)
	}
	slices.SortFunc(out, func(a, b lsp.Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// withReport adds a report to a result, for the model and for clients.
func withReport(r tool.Result, c *tool.Call, report lsp.Report) tool.Result {
	r = withText(r, report.Text(target.RealDir(c.Dir)))
	if len(report.Diagnostics) == 0 {
		return r
	}
	meta := map[string]json.RawMessage{}
	if len(r.Metadata) > 0 && json.Unmarshal(r.Metadata, &meta) != nil {
		return r
	}
	shown := map[string][]lsp.Diagnostic{}
	for path, list := range report.Diagnostics {
		shown[target.Rebase(target.RealDir(c.Dir), c.Dir, path)] = list
	}
	meta["diagnostics"], _ = json.Marshal(shown) // strings and numbers always can be
	if out, err := json.Marshal(meta); err == nil {
		r.Metadata = out
	}
	return r
}

// formatAll runs formatters on the files that a step edited, and tells the model which lines changed.
func (o *Observer) formatAll(ctx context.Context, c *tool.Call, at *step, r tool.Result) (tool.Result, []lsp.Change) {
	p := o.FormatProject()
	var changed []lsp.Change
	var lines []string
	contents := map[string][]byte{}
	for _, path := range at.edited {
		was := at.before[path]
		if ctx.Err() != nil || !was.known || !p.Config.Fits(path) {
			continue
		}
		before := readText(path)
		if !before.known || !before.existed {
			continue
		}
		done, err := c.Host.BeginChange(ctx, path)
		if err != nil {
			continue // without undo there is no change
		}
		res, err := o.State.Formatters.Run(ctx, p, path, was.text)
		done()
		if err != nil || res.Failed != nil {
			o.State.Log.Debug("file not formatted", "path", path, "error", err, "failed", res.Failed)
		}
		if err != nil || res.After == before.text {
			continue
		}
		contents[path] = []byte(res.After)
		lines = append(lines, formatted(target.Relative(target.RealDir(c.Dir), path), res))
		changed = append(changed, lsp.Change{Path: path, Before: before.text, Known: true, Existed: true})
		shown := target.Rebase(target.RealDir(c.Dir), c.Dir, path)
		c.Host.Publish(&lathe.FileEdited{File: shown})
		c.Host.Publish(&lathe.FileWatched{File: shown, Event: "change"})
	}
	if len(contents) > 0 {
		r.Metadata = o.Seen(r.Metadata, contents)
	}
	return withText(r, strings.Join(lines, "\n")), changed
}

// formatted tells a model which lines a formatter changed, with their new text if there are few.
func formatted(name string, res format.Result) string {
	const most = 12
	lines := strings.Split(res.After, "\n")
	var out []string
	for _, s := range res.Changed {
		for n := s.First; n <= s.Last && n <= len(lines); n++ {
			out = append(out, fmt.Sprintf("%d: %s", n, lines[n-1]))
		}
	}
	text := fmt.Sprintf("%s formatted %s", res.Formatter, filepath.ToSlash(name))
	switch {
	case len(out) == 0:
		return text + ": it removed lines. Read it before you quote it."
	case len(out) > most:
		return fmt.Sprintf("%s: %d lines changed. Read it before you quote it.", text, len(out))
	}
	return text + ". These lines now read:\n" + strings.Join(out, "\n")
}
