// Package repeat runs turns until a command of the user's passes, for front ends in this process. Package engine/until
// decides; this one runs the command in the sandbox and reads and protects the files that it names.
//
// It owns no state: that is in the prompts of sessions. A Runs is safe for concurrent use. Start at Runs.CheckUntil.
package repeat

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/engine/until"
	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/workspace"
)

var _ api.Untils = Runs{}

// Runs are the runs of an engine that end when a command of the user's passes.
type Runs struct {
	Engine *engine.Engine
	// Settings returns the settings of a directory, for its shell.
	Settings func(ctx context.Context, at workspace.Place) (*engine.StepSettings, error)
	// Protect keeps absolute paths from commands and tools of models, also those where nothing is, until release is called.
	Protect func(paths []string) (release func())
}

// BeginUntil marks a prompt as the beginning of a run.
func (u Runs) BeginUntil(ctx context.Context, dir string, spec api.UntilSpec, p *lathe.Prompt) (func(), error) {
	s := until.Spec{Command: strings.TrimSpace(spec.Command), Tries: cmp.Or(spec.Tries, until.DefaultTries)}
	switch {
	case s.Command == "":
		return nil, lathe.Errorf(lathe.Invalid, "the command is empty: name one whose exit code 0 means that the work is done")
	case s.Tries < 1 || s.Tries > until.MaxTries:
		return nil, lathe.Errorf(lathe.Invalid, "%d tries: want 1 to %d", spec.Tries, until.MaxTries)
	}
	at, err := u.Engine.Locate(ctx, dir)
	if err != nil {
		return nil, err
	}
	s.Files = readDeciding(until.DecidingFiles(s.Command, at.Directory, isRegular))
	s.Scripts = readDeciding(scriptsBelow(at.Directory, s.Files))
	for i, part := range p.Parts {
		if t, ok := part.Body.(*lathe.Text); ok && !t.Synthetic.On() {
			own := *t
			own.Metadata = until.WithBegin(t.Metadata, s)
			p.Parts[i].Body = &own
			return u.protect(s), nil
		}
	}
	return nil, lathe.Errorf(lathe.Invalid, "the prompt has no text")
}

// ResumeUntil protects the files of a session's run again.
func (u Runs) ResumeUntil(ctx context.Context, id lathe.SessionID) (func(), error) {
	s, err := u.state(ctx, id)
	if err == nil && !s.Last {
		err = errNoUntil(id)
	}
	if err != nil {
		return nil, err
	}
	return u.protect(s.Spec), nil
}

func (u Runs) protect(s until.Spec) (release func()) {
	var paths []string
	for _, f := range s.Files {
		if filepath.IsAbs(f.Path) && filepath.Base(f.Path) != "package.json" { // only its scripts decide
			paths = append(paths, f.Path)
		}
	}
	return u.Protect(paths)
}

func errNoUntil(id lathe.SessionID) error {
	return lathe.Errorf(lathe.NotFound, "session %s has no run with a command that decides; start one with `lathe run -s %s --until COMMAND PROMPT`", id, id)
}

// state reads the newest run of a session.
func (u Runs) state(ctx context.Context, id lathe.SessionID) (until.State, error) {
	page, err := u.Engine.Messages(ctx, id, lathe.Position{}, 0)
	if err != nil {
		return until.State{}, err
	}
	s, ok := until.StateOf(page.Messages)
	if !ok {
		return s, errNoUntil(id)
	}
	return s, nil
}

// CheckUntil runs the command and decides what follows. Nothing is written: the caller sends the next prompt, which
// holds the result.
func (u Runs) CheckUntil(ctx context.Context, id lathe.SessionID) (api.UntilRound, error) {
	s, err := u.state(ctx, id)
	if err != nil {
		return api.UntilRound{}, err
	}
	rec, err := u.Engine.Get(ctx, id)
	if err != nil {
		return api.UntilRound{}, err
	}
	changed := changedOf(s.Spec.Files)
	exit, output, err := u.RunOnce(ctx, rec, s.Spec.Command, checkTime)
	if err != nil {
		return api.UntilRound{}, err
	}
	if len(changed) == 0 { // a process that was left running may change them meanwhile
		changed = changedOf(s.Spec.Files)
	}
	r := until.NewRound(exit, output, changed)
	rounds := append(s.Rounds, r)
	out := api.UntilRound{
		Verdict: string(until.Decide(s.Spec, rounds)), Command: s.Spec.Command, Run: len(rounds), Tries: s.Spec.Tries, Exit: exit,
		Output: until.Tail(output, 2000), Changed: changed, Scripts: changedOf(s.Spec.Scripts),
	}
	if out.Verdict == api.UntilAgain {
		out.Prompt = []lathe.Part{until.Next(s.Spec, r, len(rounds), output)}
	}
	return out, nil
}

func changedOf(were []until.File) []string {
	var paths []string
	for _, f := range were {
		paths = append(paths, f.Path)
	}
	return until.Changed(were, readDeciding(paths))
}

// run runs a command of the user's in the sandbox of a session, without a trace in its history.
func (u Runs) run(ctx context.Context, s lathe.Session, at workspace.Place, command string) (code int, output string, err error) {
	settings, err := u.Settings(ctx, at)
	if err != nil {
		return 0, "", err
	}
	return settings.RunCommand(ctx, bash.UserCommand{
		Session: s.ID, Agent: cmp.Or(s.Agent, settings.DefaultAgent), Dir: at.Directory, Root: at.Worktree, Command: command,
	})
}

// RunUntil is the whole run, for a front end that shows turns by their events. A turn that failed or was canceled
// ends it: the error is in the answer.
func (u Runs) RunUntil(ctx context.Context, id lathe.SessionID, spec api.UntilSpec, p lathe.Prompt, report func(api.UntilRound)) (api.UntilRound, error) {
	return spec.Run(ctx, u.Engine, u, id, p, report)
}

// checkTime is how long a command that decides may run.
const checkTime = 30 * time.Minute

// maxDeciding is the size up to which the content of a deciding file is compared.
const maxDeciding = 16 << 20

func isRegular(path string) bool {
	_, err := gitobj.ReadFile(path, maxDeciding)
	return err == nil
}

// maxScript is the size up to which a script is searched for the names of others.
const maxScript = 128 << 10

// isScript reports whether a path is a file that a shell or make reads.
func isScript(path string) bool {
	data, err := gitobj.ReadFile(path, maxScript)
	return err == nil && (bytes.HasPrefix(data, []byte("#!")) ||
		slices.Contains([]string{".sh", ".bash", ".zsh", ".bats", ".mk", ".mak", ".make", ".ps1", ".cmd", ".bat"}, filepath.Ext(path)))
}

// scriptsBelow lists the scripts that deciding files name, and those that these name.
func scriptsBelow(dir string, deciding []until.File) (out []string) {
	var all []string
	for _, f := range deciding {
		all = append(all, f.Path)
	}
	for i := 0; i < len(all) && len(out) < until.MaxScripts; i++ {
		data, err := gitobj.ReadFile(all[i], maxScript)
		if err != nil {
			continue
		}
		named := append(until.ScriptsIn(string(data), dir, isScript), until.ScriptsIn(string(data), filepath.Dir(all[i]), isScript)...)
		for _, path := range named {
			if !slices.Contains(all, path) {
				all, out = append(all, path), append(out, path)
			}
		}
	}
	return out[:min(len(out), until.MaxScripts)]
}

// readDeciding reads the files as they are now. A file that cannot be read is not what it was.
func readDeciding(paths []string) (out []until.File) {
	for _, path := range paths {
		f := until.File{Path: path}
		data, err := gitobj.ReadFile(path, maxDeciding)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			f.Sum = "unreadable"
		default:
			if filepath.Base(path) == "package.json" {
				data = scriptsOf(data)
			}
			sum := sha256.Sum256(data)
			f.Sum = hex.EncodeToString(sum[:])
		}
		out = append(out, f)
	}
	return out
}

// scriptsOf is the part of a package.json that decides what `npm test` runs: new dependencies are no change of it.
func scriptsOf(data []byte) []byte {
	var p struct {
		Scripts json.RawMessage `json:"scripts"`
	}
	var b bytes.Buffer
	if json.Unmarshal(data, &p) != nil || len(p.Scripts) == 0 || json.Compact(&b, p.Scripts) != nil {
		return data
	}
	return b.Bytes()
}
