// Package rerun runs the recorded calls of a session again, with the present tools, in a scratch copy of the project.
// Package engine/replay compares the results.
//
// It owns the scratch copy, which it removes. Start at Run.
package rerun

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/replay"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/snapshot"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// Options say what to run again, and with what.
type Options struct {
	From, To string // steps, by number or message; "" is the first and the last
	// Settings returns the settings whose tools run the calls, with commands that reach no network.
	Settings func(at workspace.Place) (*engine.StepSettings, error)
	// Close ends the processes and removes the temporary files of a session.
	Close func(id lathe.SessionID)
	// Show gets each result as it comes; it may be nil.
	Show func(replay.CallReport)
}

// Run runs the recorded calls of a session with the present tools, in a scratch copy of the project as it was at the
// first step. The copy is removed at the end. The session and the project stay as they are.
func Run(ctx context.Context, e *engine.Engine, id lathe.SessionID, o Options) (_ replay.Report, failed error) {
	s, err := e.Get(ctx, id)
	if err != nil {
		return replay.Report{}, err
	}
	page, err := e.Messages(ctx, id, lathe.Position{}, 0)
	if err != nil {
		return replay.Report{}, err
	}
	all := replay.Steps(page.Messages)
	steps, err := replay.Range(all, o.From, o.To)
	if err != nil {
		return replay.Report{}, err
	}
	at, err := e.Locate(ctx, s.Directory)
	if err != nil {
		return replay.Report{}, err
	}
	tree, release, err := e.Trees().Create(ctx, at, worktree.Options{Parent: id})
	if err != nil {
		return replay.Report{}, err
	}
	defer func() {
		release()
		if _, err := tree.Drop(context.WithoutCancel(ctx), true); err != nil {
			failed = cmp.Or(failed, fmt.Errorf("remove the scratch copy: %w; run `lathe worktree drop --force %s`", err, tree.Name))
		}
	}()
	r := &replaying{engine: e, id: lathe.NewIDs().Session(), session: s, at: at, tree: tree, show: o.Show}
	defer o.Close(r.id)
	r.report = replay.Report{Session: id, From: steps[0].Number, To: steps[len(steps)-1].Number, Calls: []replay.CallReport{}}
	if err := r.rewind(ctx, page.Messages[steps[0].Index:]); err != nil {
		return r.report, err
	}
	if r.place, err = e.Locate(ctx, tree.Directory); err != nil {
		return r.report, err
	}
	if r.settings, err = o.Settings(r.place); err != nil {
		return r.report, err
	}
	r.remember(ctx, all[:steps[0].Number-1])
	for _, step := range steps {
		for _, c := range step.Calls {
			if err := r.run(ctx, step, c); err != nil {
				return r.report, err
			}
		}
	}
	return r.report, nil
}

// replaying is a replay at work.
type replaying struct {
	engine   *engine.Engine
	id       lathe.SessionID // of the calls, for what tools store by session
	session  lathe.Session
	at       workspace.Place // of the project
	place    workspace.Place // of the scratch copy
	tree     *worktree.Tree
	settings *engine.StepSettings
	show     func(replay.CallReport)
	report   replay.Report
}

// rewind gives the scratch copy the files that the project had before some messages, of subagents too.
func (r *replaying) rewind(ctx context.Context, since []lathe.Message) error {
	files, unknown, err := r.engine.Trees().FilesBefore(ctx, r.session, since)
	if err != nil {
		return err
	}
	r.report.Unknown = unknown
	root, err := os.OpenRoot(r.tree.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		rel, err := filepath.Rel(r.tree.Origin, f.Path)
		if err != nil || !filepath.IsLocal(rel) {
			r.report.Unknown = append(r.report.Unknown, f.Path)
			continue
		}
		if err := putFormer(root, rel, f); err != nil {
			return lathe.Errorf(lathe.Unavailable, "restore %s in the scratch copy: %w", rel, err)
		}
	}
	return nil
}

// putFormer writes a file below a folder, which no link leads out of.
func putFormer(root *os.Root, rel string, f snapshot.Former) error {
	if err := root.RemoveAll(rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if f.Mode == 0 {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return err
	}
	if f.Mode&os.ModeSymlink != 0 {
		return root.Symlink(string(f.Data), rel)
	}
	return root.WriteFile(rel, f.Data, f.Mode.Perm())
}

// remember reads the files that earlier steps have read or written, because tools change only files that the session
// knows.
func (r *replaying) remember(ctx context.Context, earlier []replay.Step) {
	const most = 500
	var known []string
	for _, s := range earlier {
		for _, c := range s.Calls {
			var in struct{ FilePath string }
			if json.Unmarshal(c.Input, &in) != nil || in.FilePath == "" || slices.Contains(known, in.FilePath) || len(known) >= most {
				continue
			}
			known = append(known, in.FilePath)
			input, _ := json.Marshal(map[string]string{"filePath": in.FilePath})
			_, _ = r.call(ctx, s, replay.Call{Tool: "read", ID: c.ID, Input: input}) // one that is gone needs no memory
		}
	}
}

// run runs one call and adds its result to the report.
func (r *replaying) run(ctx context.Context, s replay.Step, c replay.Call) error {
	out := replay.CallReport{Step: s.Number, Tool: c.Tool, Subject: replay.Subject(c.Input), Outcome: replay.FromRecord, Why: c.Why}
	if c.Why == "" {
		now, err := r.call(ctx, s, c)
		switch cause := context.Cause(ctx); {
		case cause != nil:
			return cause
		case err != nil:
			out.Why = "it could not run here: " + err.Error()
		default:
			if out.Outcome, out.Diff = replay.Compare(c.Recorded, now); out.Diff != nil && c.Overlaps {
				out.Why = "it ran at the same time as another call, which may be the reason"
			}
		}
	}
	r.report.Add(out)
	if r.show != nil {
		r.show(out)
	}
	return nil
}

// call runs a call with the paths of the scratch copy and returns its result with those of the project. An error means
// that it says nothing about the tool.
func (r *replaying) call(ctx context.Context, s replay.Step, c replay.Call) (replay.Result, error) {
	t, ok := r.settings.Tools.Find(c.Tool)
	if !ok {
		return replay.Result{Output: "tool not found: " + c.Tool, Failed: true}, nil
	}
	input := string(c.Input)
	for _, from := range r.origins() {
		input = replay.Rebase(input, from, r.tree.Path)
	}
	res, err := tool.Run(ctx, t, &tool.Call{
		Session: r.id, Message: s.Message, ID: c.ID, Agent: s.Agent, Model: s.Model, Dir: r.place.Directory, Root: r.place.Worktree,
		Input: json.RawMessage(input), Host: replayHost{}, External: r.settings.Outside,
	})
	back := func(text string) string { return replay.Rebase(text, r.tree.Path, r.tree.Origin) }
	var failure *tool.Failure
	switch {
	case errors.As(err, &failure):
		return replay.Result{Output: back(err.Error()), Failed: true, Exit: exitOf(res.Metadata)}, nil
	case err != nil:
		return replay.Result{}, err
	}
	if res, err = (tool.Output{Limits: r.settings.Limits}).Cut(t.Spec(), res); err != nil {
		return replay.Result{}, err
	}
	return replay.Result{Output: back(res.Output), Exit: exitOf(res.Metadata)}, nil
}

// origins are the names that the project had in the recorded calls.
func (r *replaying) origins() []string {
	out := []string{r.tree.Origin}
	if d := strings.TrimSuffix(r.session.Directory, string(filepath.Separator)+filepath.FromSlash(r.at.Path)); d != r.tree.Origin && !workspace.Inside(r.tree.Path, d) {
		out = append(out, d) // by a link
	}
	return out
}

func exitOf(meta json.RawMessage) *int {
	var m struct{ Exit *int }
	_ = json.Unmarshal(meta, &m) // of any tool
	return m.Exit
}

// replayHost allows what the recorded call was allowed to do in the project, and nothing beyond it.
type replayHost struct{ tool.NoSession }

// Ask refuses to leave the scratch copy or the sandbox.
func (h replayHost) Ask(_ context.Context, all ...tool.Permission) error {
	for _, p := range all {
		if !h.Allowed(p) {
			return lathe.Errorf(lathe.Rejected, "a replay has no permission for %s", p.Name)
		}
	}
	return nil
}

// Allowed reports whether a request stays inside.
func (replayHost) Allowed(p tool.Permission) bool {
	return p.Name != "external_directory" && p.Name != "sandbox" && p.Name != history.DoomLoop
}
