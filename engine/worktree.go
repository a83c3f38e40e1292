package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/check"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/undo"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/snapshot"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// Trees are the worktrees of an engine and what sessions have to do with them.
type Trees struct{ *Engine }

// Trees returns the worktrees of the engine.
func (e *Engine) Trees() Trees { return Trees{e} }

// Root is where the trees are.
func (e Trees) Root() worktree.Root { return e.files.trees }

// Create makes an isolated tree of a directory's checkout, after it has repaired what killed processes left.
// The caller has its lease until it calls release.
func (e Trees) Create(ctx context.Context, at workspace.Place, o worktree.Options) (*worktree.Tree, func(), error) {
	if e.files.trees.Dir == "" || e.env == nil {
		return nil, nil, lathe.Errorf(lathe.Unavailable, "this engine has no folder for worktrees")
	}
	if err := e.Recover(ctx, at); err != nil {
		e.log.Warn("worktrees not repaired", "directory", at.Directory, "error", err)
	}
	settings, err := e.env.Settings(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	o.Links = settings.Worktree.Links
	return e.files.trees.Create(ctx, at, o)
}

// SetUp runs the setup command of the checkout's config in a new tree, and a further one, in the sandbox. It
// tells clients that the tree is ready, or why it is not.
func (e Trees) SetUp(ctx context.Context, t *worktree.Tree, further string) error {
	inst, err := e.Instance(ctx, t.Directory)
	if err == nil {
		err = e.runSetup(ctx, t, inst.Place, startCommand(inst.Project), further)
	}
	var fact lathe.Fact = &lathe.WorktreeReady{Name: t.Name, Branch: t.Branch}
	if err != nil {
		fact = &lathe.WorktreeFailed{Message: err.Error()}
	}
	e.bus.Publish(lathe.Event{Directory: t.Directory, Project: inst.Project.ID, Fact: fact})
	return err
}

// SetUpLater is SetUpWorktree in the background; release is called at its end.
func (e Trees) SetUpLater(t *worktree.Tree, further string, release func()) {
	e.work.Go(func() {
		defer release()
		if err := e.SetUp(e.ctx, t, further); err != nil {
			e.log.Warn("worktree not set up", "worktree", t.Name, "error", err)
		}
	})
}

// runSetup runs the commands. The first that fails is the last.
func (e Trees) runSetup(ctx context.Context, t *worktree.Tree, at workspace.Place, further ...string) error {
	from, err := e.Locate(ctx, t.Origin)
	if err != nil {
		return err
	}
	origin, err := e.env.Settings(ctx, from)
	if err != nil {
		return err
	}
	for _, command := range append([]string{origin.Worktree.Setup}, further...) {
		if strings.TrimSpace(command) == "" {
			continue
		}
		code, output, err := e.runInTree(ctx, t, at, command)
		if err == nil && code != 0 {
			err = lathe.Errorf(lathe.Unavailable, "the setup command %.100q failed with exit code %d: %s", command, code, phrase.Shorten(strings.TrimSpace(output), 500))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// startCommand is the command that the user has set for new worktrees of a project, over HTTP.
func startCommand(p lathe.Project) string {
	var commands struct{ Start string }
	_ = json.Unmarshal(p.Commands, &commands) // it has none, or those of another program
	return commands.Start
}

// runInTree runs a command in the sandbox of a tree.
func (e Trees) runInTree(ctx context.Context, t *worktree.Tree, at workspace.Place, command string) (code int, output string, err error) {
	settings, err := e.env.Settings(ctx, at)
	if err != nil {
		return 0, "", err
	}
	return settings.RunCommand(ctx, bash.UserCommand{Session: t.Session, Agent: settings.DefaultAgent, Dir: at.Directory, Root: at.Worktree, Command: command})
}

// RunCommand runs a command of the user in the sandbox of its session, without a trace in the history. The code is -1 if
// the command did not end by itself.
func (s *StepSettings) RunCommand(ctx context.Context, in bash.UserCommand) (code int, output string, err error) {
	if s.Shell == nil {
		return 0, "", lathe.Errorf(lathe.Unavailable, "this engine has no shell configured")
	}
	res, err := s.Shell.Run(ctx, in, func(json.RawMessage) {})
	if err == nil {
		err = context.Cause(ctx) // the result of a command that was ended says nothing
	}
	if err != nil {
		return 0, "", err
	}
	var meta struct{ Exit *int }
	if json.Unmarshal(res.Metadata, &meta) != nil || meta.Exit == nil {
		return -1, res.Output, nil
	}
	return *meta.Exit, res.Output, nil
}

// Recover completes or reverts what killed processes left in the trees of a place. It deletes no tree that a
// session has used.
func (e Trees) Recover(ctx context.Context, at workspace.Place) error {
	merging, err := e.files.trees.Recover(ctx, at)
	if err != nil {
		return err
	}
	all, err := e.files.trees.List(at)
	if err != nil {
		return err
	}
	for _, t := range all {
		if err := e.rewindUndone(ctx, t); err != nil {
			return err
		}
	}
	for _, t := range merging {
		release, err := t.Hold()
		if lathe.CodeOf(err) == lathe.Conflict {
			continue
		}
		if err == nil {
			err = e.settleMerge(ctx, t)
			release()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rewindUndone lets a tree be merged again if its last merge was undone.
func (e Trees) rewindUndone(ctx context.Context, t *worktree.Tree) error {
	m := t.Last
	if m == nil || t.State != worktree.Ready {
		return nil
	}
	s, err := e.store.Session(ctx, m.Session)
	if lathe.CodeOf(err) == lathe.NotFound {
		return nil // the merge stays, only its record is gone
	}
	if err != nil || s.Revert == nil {
		return err
	}
	page, err := e.store.History(ctx, m.Session, lathe.Position{}, 0)
	if err != nil {
		return err
	}
	index := func(id lathe.MessageID) int {
		return slices.IndexFunc(page.Messages, func(x lathe.Message) bool { return x.ID == id })
	}
	if point, merged := index(s.Revert.Message), index(m.Message); point >= 0 && point <= merged {
		return t.Rewind(ctx)
	}
	return nil
}

// settleMerge ends a merge that was cut off: it counts if its message was stored, else its files are restored.
func (e Trees) settleMerge(ctx context.Context, t *worktree.Tree) error {
	m := t.Merge
	if m == nil {
		return t.EndMerge(ctx, false)
	}
	w, err := e.treeSnapshots(ctx, t.Origin)
	if err != nil {
		return err
	}
	_, err = e.store.Message(ctx, m.Session, m.Message)
	counts := err == nil
	if err != nil && lathe.CodeOf(err) != lathe.NotFound {
		return err
	}
	if !counts {
		plan, err := w.Redo(ctx, m.Key)
		if err == nil && len(plan.Changes) > 0 {
			_, err = w.Apply(ctx, m.Key, plan)
		}
		if err != nil {
			return err
		}
	}
	if err := w.Finalize(ctx, m.Key); err != nil {
		return err
	}
	return t.EndMerge(ctx, counts)
}

// treeSnapshots is the snapshot store of the checkout that a tree is merged into.
func (e Trees) treeSnapshots(ctx context.Context, dir string) (*snapshot.Worktree, error) {
	at, err := e.Locate(ctx, dir)
	if err != nil {
		return nil, err
	}
	if w := e.files.undoable(at, &StepSettings{}); w != nil {
		return w, nil
	}
	return nil, lathe.Errorf(lathe.Unavailable, "this engine stores no snapshots, so former files are not known")
}

// FilesBefore reads the files that messages of a session changed, with their subagents, as they were before. Those whose
// content is not stored are in unknown.
func (e Trees) FilesBefore(ctx context.Context, s lathe.Session, since []lathe.Message) (files []snapshot.Former, unknown []string, err error) {
	w, err := e.treeSnapshots(ctx, s.Directory)
	if err != nil {
		return nil, nil, err
	}
	messages, err := undo.WithSubagents(ctx, e.store, s.ID, since)
	if err != nil {
		return nil, nil, err
	}
	return w.Before(ctx, undo.ChangedSteps(messages))
}

// Report says what a tree changed and what its merge does or did.
func (e Trees) Report(ctx context.Context, t *worktree.Tree) (worktree.Report, error) {
	plan, err := t.Plan(ctx, t.Origin)
	if err != nil {
		return worktree.Report{}, err
	}
	r := worktree.NewReport(t, plan)
	at, err := e.Locate(ctx, t.Origin)
	if err != nil {
		return r, err
	}
	all, err := e.files.trees.List(at)
	if err != nil {
		return r, err
	}
	for _, other := range all {
		if other.Name == t.Name || other.State != worktree.Ready {
			continue
		}
		if changes, err := other.Changes(ctx); err == nil {
			r.AddSibling(other.Name, changes)
		}
	}
	tests, err := e.testsIn(ctx, t.Session)
	r.Tests = append(r.Tests, tests...)
	if c := t.Test; c != nil {
		r.Tests = append(r.Tests, worktree.TestRun{Command: c.Command, Exit: &c.Exit})
	}
	return r, err
}

// testsIn lists the test commands that a session ran.
func (e Trees) testsIn(ctx context.Context, id lathe.SessionID) ([]worktree.TestRun, error) {
	if id == "" {
		return nil, nil
	}
	page, err := e.store.History(ctx, id, lathe.Position{}, 0)
	if lathe.CodeOf(err) == lathe.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []worktree.TestRun
	for _, m := range page.Messages {
		for _, p := range m.Parts {
			c, ok := p.Body.(*lathe.ToolCall)
			if !ok || c.Tool != "bash" {
				continue
			}
			var in struct{ Command string }
			var meta struct{ Exit *int }
			if json.Unmarshal(history.InputOf(c.State), &in) != nil || !check.RunsTests(in.Command) {
				continue
			}
			_ = json.Unmarshal(history.MetadataOf(c.State), &meta) // a call without an exit code did not end
			out = append(out, worktree.TestRun{Command: in.Command, Exit: meta.Exit})
		}
	}
	return out, nil
}

// Merge applies the changes of a tree to its checkout as one step of a session there, which an undo reverts.
// Conflicts are written with markers or left alone, and reported. A session that is at work refuses it.
func (e Trees) Merge(ctx context.Context, id lathe.SessionID, t *worktree.Tree) (worktree.Report, error) {
	release, err := t.Hold()
	if err != nil {
		return worktree.Report{}, err
	}
	defer release()
	return whenIdle(ctx, e.Engine, id, func(ctx context.Context, r *runner) (worktree.Report, error) { return mergeTree(ctx, r, t) })
}

// mergeTree merges as the writer of an idle session. What it is about to do is written down first, and a failure
// reverts it, so that a merge is there as a whole or not at all.
func mergeTree(ctx context.Context, r *runner, t *worktree.Tree) (worktree.Report, error) {
	s, err := r.load(ctx)
	if err != nil {
		return worktree.Report{}, err
	}
	if s.session.Revert != nil {
		if err := r.finalizeRevert(ctx, s); err != nil {
			return worktree.Report{}, err
		}
	}
	e := r.engine.Trees()
	w, err := e.treeSnapshots(ctx, t.Origin)
	if err != nil {
		return worktree.Report{}, err
	}
	report, err := e.Report(ctx, t)
	if err != nil || len(report.Files) == 0 {
		return report, err
	}
	report.Session = r.log.lease.Session
	user, answer := e.ids.Message(), e.ids.Message()
	record := worktree.MergeRecord{Key: "merge-" + string(answer), Session: r.log.lease.Session, Message: answer}
	if err := t.Advance(report.Files); err != nil {
		return report, err
	}
	if err := t.BeginMerge(ctx, record); err != nil {
		return report, err
	}
	patch, err := applyMerge(ctx, w, t, record, &report)
	if err == nil {
		ctx, cancel := settleContext(ctx) // the files are there, so the facts must be too
		defer cancel()
		err = r.log.write(ctx, mergeFacts(r, user, answer, t, report, patch)...)
	}
	if err != nil {
		return report, fmt.Errorf("merge worktree %s: %w", t.Name, joinErrors(err, e.settleMerge(context.WithoutCancel(ctx), t)))
	}
	if err := w.Finalize(ctx, record.Key); err != nil {
		e.log.Warn("merge not finalized", "worktree", t.Name, "error", err)
	}
	r.jobs.changed = true
	return report, t.EndMerge(ctx, true)
}

// joinErrors adds the second error if there is one.
func joinErrors(err, more error) error {
	if more == nil {
		return err
	}
	return fmt.Errorf("%w; %w", err, more)
}

// applyMerge writes the files as one step. All are replaced or none.
func applyMerge(ctx context.Context, w *snapshot.Worktree, t *worktree.Tree, record worktree.MergeRecord, report *worktree.Report) (snapshot.Patch, error) {
	var files []snapshot.NewContent
	var paths []string
	for _, m := range report.Files {
		if m.Writes() {
			path := filepath.Join(t.Origin, filepath.FromSlash(m.Path))
			files = append(files, snapshot.NewContent{Path: path, Was: m.Our, Mode: m.Mode, Data: m.Data})
			paths = append(paths, path)
		}
	}
	plan, err := w.Write(ctx, files)
	if err != nil {
		return snapshot.Patch{}, err
	}
	for _, c := range plan.Changes {
		if c.Conflict != "" {
			return snapshot.Patch{}, lathe.Errorf(lathe.Conflict, "nothing was merged: %s: %s; run the merge again", c.Path, c.Conflict)
		}
	}
	step := w.Step(string(record.Message))
	if err := step.Capture(ctx, paths...); err != nil {
		return snapshot.Patch{}, err
	}
	done, err := w.Apply(ctx, record.Key, plan)
	for _, c := range done.Changes {
		if err == nil && c.Conflict != "" {
			err = lathe.Errorf(lathe.Conflict, "nothing was merged: %s: %s; run the merge again", c.Path, c.Conflict)
		}
	}
	patch, ended := step.End(ctx)
	if err != nil {
		return patch, err
	}
	return patch, ended
}

// mergeFacts records the merge as a prompt of the user's and a command that answers it, so that the model knows of it
// and an undo finds it.
func mergeFacts(r *runner, user, answer lathe.MessageID, t *worktree.Tree, report worktree.Report, patch snapshot.Patch) []lathe.Fact {
	now, id := r.engine.now(), r.log.lease.Session
	model := lathe.ModelRef{Provider: "lathe", Model: "worktree"}
	agent := "build"
	if s := r.log.mem.Session; s.Model != nil {
		model = lathe.ModelRef{Provider: s.Model.Provider, Model: s.Model.ID}
		if s.Agent != "" {
			agent = s.Agent
		}
	}
	input, _ := json.Marshal(map[string]string{"command": "lathe worktree merge " + t.Name, "description": "Merge worktree " + t.Name})
	u := lathe.Message{ID: user, Session: id, Created: now, Data: &lathe.User{Agent: agent, Model: model}}
	words := lathe.Part{ID: r.engine.ids.Part(), Session: id, Message: user, Body: &lathe.Text{Text: "Merge worktree " + t.Name}}
	m := lathe.Message{ID: answer, Session: id, Created: now, Data: &lathe.Assistant{
		Parent: user, Agent: agent, Mode: agent, Model: model, Completed: now, Finish: "stop", Path: lathe.Paths{Cwd: r.config.place.Directory, Root: r.config.place.Worktree},
	}}
	call := &lathe.ToolCall{CallID: r.engine.ids.CallID(), Tool: "bash", State: &lathe.Running{Input: input, Start: now}}
	if done, err := call.Complete(lathe.Completed{Title: "Merge worktree " + t.Name, Output: report.Text(), Metadata: json.RawMessage(`{}`), End: now}); err == nil {
		call = done
	}
	facts := []lathe.Fact{
		&lathe.MessageChanged{Info: u}, &lathe.PartChanged{Part: words, Time: now}, &lathe.MessageChanged{Info: m},
		&lathe.PartChanged{Part: lathe.Part{ID: r.engine.ids.Part(), Session: id, Message: answer, Body: call}, Time: now},
	}
	if len(patch.Files) > 0 {
		facts = append(facts, &lathe.PartChanged{Time: now, Part: lathe.Part{ID: r.engine.ids.Part(), Session: id, Message: answer, Body: &lathe.Patch{Hash: patch.Before, Files: patch.Files}}})
	}
	return facts
}

// Diff is the difference of a tree to its base as one text.
func (e Trees) Diff(ctx context.Context, t *worktree.Tree) ([]lathe.FileDiff, error) {
	diffs, err := t.Diff(ctx)
	slices.SortFunc(diffs, func(a, b lathe.FileDiff) int { return strings.Compare(a.File, b.File) })
	return diffs, err
}
