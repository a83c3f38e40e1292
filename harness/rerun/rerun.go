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
	// Settings returns the settings of the project, whose tools run the calls.
	Settings func(at workspace.Place) (*engine.StepSettings, error)
	// Live are the kinds of calls that run although they reach beyond the project.
	Live []replay.Kind
	// Network lets commands reach the network or not. It is called before each call; nil leaves that to the caller.
	Network func(on bool)
	// Close ends the processes and removes the temporary files of a session.
	Close func(id lathe.SessionID)
	// Show gets each result as it comes; it may be nil.
	Show func(replay.CallReport)
}

// Run runs the recorded calls of a session with the present tools, in a scratch copy of the project as it was at the
// first step. The copy is removed at the end. The session and the project stay as they are.
func Run(ctx context.Context, e *engine.Engine, id lathe.SessionID, o Options) (replay.Report, error) {
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
	r := &replaying{engine: e, o: o, id: lathe.NewIDs().Session(), session: s, at: at}
	return r.runSteps(ctx, all, steps, page.Messages[steps[0].Index:])
}

// RunRecording is Run for the calls of a recording. They run on the files of a directory as they are now, because a
// recording has no former ones.
func RunRecording(ctx context.Context, e *engine.Engine, dir string, rec replay.Recording, o Options) (replay.Report, error) {
	steps, err := replay.Range(rec.Steps, o.From, o.To)
	if err != nil {
		return replay.Report{}, err
	}
	at, err := e.Locate(ctx, dir)
	if err != nil {
		return replay.Report{}, err
	}
	r := &replaying{engine: e, o: o, id: lathe.NewIDs().Session(), session: lathe.Session{Directory: cmp.Or(rec.Directory, dir)}, at: at}
	return r.runSteps(ctx, rec.Steps, steps, nil)
}

// runSteps runs some of all steps in a scratch copy. since are the messages from the first of them on.
func (r *replaying) runSteps(ctx context.Context, all, steps []replay.Step, since []lathe.Message) (_ replay.Report, failed error) {
	r.report = replay.Report{Session: r.session.ID, From: steps[0].Number, To: steps[len(steps)-1].Number, Calls: []replay.CallReport{}}
	remove, err := r.open(ctx)
	if err != nil {
		return r.report, err
	}
	defer func() { failed = cmp.Or(failed, remove()) }()
	if len(since) > 0 {
		if err := r.rewind(ctx, since); err != nil {
			return r.report, err
		}
		if r.report.Requests, err = r.requests(ctx, steps); err != nil {
			return r.report, err
		}
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

// requests compares the requests of the steps with those of today.
func (r *replaying) requests(ctx context.Context, steps []replay.Step) (*replay.Requests, error) {
	numbers := map[lathe.MessageID]int{}
	var ids []lathe.MessageID
	for _, s := range steps {
		numbers[s.Message] = s.Number
		ids = append(ids, s.Message)
	}
	all, err := engine.CheckRequests(ctx, r.engine, r.session.ID, r.settings, ids)
	if err != nil {
		return nil, err
	}
	out := &replay.Requests{}
	for _, c := range all {
		switch {
		case c.Version == "":
			out.Unknown++
		case c.Same:
			out.Same++
		case c.Replaced:
			out.Replaced++
		default:
			out.Differ = append(out.Differ, numbers[c.Message])
			if c.Older && !slices.Contains(out.Versions, c.Version) {
				out.Versions = append(out.Versions, c.Version)
			}
		}
	}
	return out, nil
}

// open makes the scratch copy. Extensions are not asked for its settings, because that would start MCP servers.
func (r *replaying) open(ctx context.Context) (remove func() error, err error) {
	if r.settings, err = r.o.Settings(r.at); err != nil {
		return nil, err
	}
	trees := r.engine.Trees()
	stale := r.scratchTrees()
	if err := trees.Recover(ctx, r.at); err != nil {
		return nil, err
	}
	left := r.scratchTrees()
	for id := range stale {
		if !left[id] {
			r.o.Close(id) // of a replay that was killed
		}
	}
	tree, release, err := trees.Root().Create(ctx, r.at, worktree.Options{
		Parent: r.session.ID, Session: r.id, Links: r.settings.Worktree.Links, Scratch: true,
	})
	if err != nil {
		return nil, err
	}
	r.tree = tree
	remove = func() error {
		r.o.Close(r.id)
		release()
		if _, err := tree.Drop(context.WithoutCancel(ctx), true); err != nil {
			return fmt.Errorf("remove the scratch copy: %w; run `lathe worktree drop --force %s`", err, tree.Name)
		}
		return nil
	}
	if err = r.closeRemotes(); err == nil {
		r.place, err = r.engine.Locate(ctx, tree.Directory)
	}
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	return remove, nil
}

// scratchTrees are the sessions of the scratch copies of a project.
func (r *replaying) scratchTrees() map[lathe.SessionID]bool {
	out := map[lathe.SessionID]bool{}
	all, _ := r.engine.Trees().Root().List(r.at) // trees that cannot be read are not removed
	for _, t := range all {
		if t.Scratch {
			out[t.Session] = true
		}
	}
	return out
}

// closeRemotes lets git refuse every transport in the scratch copy, also that of a folder on this machine.
func (r *replaying) closeRemotes() error {
	if slices.Contains(r.o.Live, replay.Git) {
		return nil
	}
	root, err := os.OpenRoot(r.tree.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(".git/config", os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there is no repository
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n[protocol]\n\tallow = never\n")
	return errors.Join(err, f.Close())
}

// replaying is a replay at work.
type replaying struct {
	engine   *engine.Engine
	o        Options
	id       lathe.SessionID // of the calls, for what tools store by session
	session  lathe.Session
	at       workspace.Place // of the project
	place    workspace.Place // of the scratch copy
	tree     *worktree.Tree
	settings *engine.StepSettings
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
	outside, err := snapshot.Restore(root, r.tree.Origin, files)
	r.report.Unknown = append(r.report.Unknown, outside...)
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "prepare the scratch copy: %w", err)
	}
	return nil
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
	if c.Runs(r.o.Live) {
		out.Why = ""
		if r.o.Network != nil {
			r.o.Network(slices.Contains(r.o.Live, replay.Network) || c.Kind == replay.Git)
		}
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
	if r.o.Show != nil {
		r.o.Show(out)
	}
	return nil
}

// call runs a call with the paths of the scratch copy and returns its result with those of the project. An error means
// that it says nothing about the tool.
func (r *replaying) call(ctx context.Context, s replay.Step, c replay.Call) (replay.Result, error) {
	t, ok := r.settings.Tools.Find(c.Tool)
	if !ok && c.Kind == replay.MCP {
		return replay.Result{}, lathe.Errorf(lathe.NotFound, "no MCP server offers %s; tools of plugins do not run in a replay", c.Tool)
	}
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
