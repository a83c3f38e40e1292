package builtin

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace"
)

// instructionBytes is how much of an instruction file is shown.
const instructionBytes = 50 << 10

// instructions finds the instruction files on the way from the session's directory down to
// the file that was read, those the model does not know yet, and puts them in words.
func (r readRun) instructions() (loaded []string, reminder string) {
	if r.call == nil || len(r.cfg.Instructions) == 0 {
		return nil, ""
	}
	top := target.RealDir(r.call.Dir)
	var known []string
	if r.cfg.InPrompt != nil {
		known = r.cfg.InPrompt(r.call.Dir)
	}
	var texts []string
	for dir := filepath.Dir(r.target.Path); dir != top && workspace.Inside(top, dir); dir = filepath.Dir(dir) {
		path, text := r.instruction(top, dir)
		if text == "" || path == r.target.Path || slices.Contains(known, path) || r.wasLoaded(path) || !r.cfg.Tracker.claim(r.call, path) {
			continue
		}
		loaded = append(loaded, path)
		texts = append(texts, "Instructions from: "+target.Rebase(top, r.call.Dir, path)+"\n"+text)
	}
	if len(texts) == 0 {
		return nil, ""
	}
	return loaded, "\n\n<system-reminder>\n" + strings.Join(texts, "\n\n") + "\n</system-reminder>"
}

// instruction returns the instruction file of a directory and its text, "" if there is none. A
// symlink that leads out of the project does not count: the user was not asked about it.
func (r readRun) instruction(top, dir string) (path, text string) {
	for _, name := range r.cfg.Instructions {
		f, err := workspace.Resolve(dir, name)
		if err != nil || f.Info == nil || f.IsDir() || !workspace.Inside(top, f.Path) {
			continue
		}
		data, err := f.ReadAll(instructionBytes)
		switch {
		case errors.Is(err, workspace.ErrTooLarge):
			return f.Path, "(The file is too large to be shown here; read it.)"
		case err != nil:
			continue
		}
		text := strings.TrimPrefix(strings.ToValidUTF8(string(data), "\ufffd"), phrase.BOM)
		return f.Path, strings.TrimSpace(text)
	}
	return "", ""
}

// wasLoaded reports whether a result in the history has an instruction file.
func (r readRun) wasLoaded(path string) bool {
	key := phrase.JSON(path)
	for _, m := range r.call.Host.History() {
		for _, p := range m.Parts {
			done := completed(p, key)
			if done == nil || done.Compacted != 0 {
				continue
			}
			var meta struct {
				Loaded []string `json:"loaded"`
			}
			if json.Unmarshal(done.Metadata, &meta) == nil && slices.Contains(meta.Loaded, path) {
				return true
			}
		}
	}
	return false
}

// claim reports whether an instruction file is the call's to show: calls of one step that run
// side by side must not show it twice.
func (s *ReadTracker) claim(c *tool.Call, path string) bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	step := s.step(c)
	if step.loaded[path] {
		return false
	}
	step.loaded[path] = true
	return true
}
