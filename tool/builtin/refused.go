package builtin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace/patch"
)

// explain tells the model why its edit was refused.
func (e editRun) explain(ctx context.Context, old content, r *patch.Refusal) error {
	shown, err := e.cfg.Tracker.mayShow(ctx, e.call, e.target)
	if err != nil {
		return err
	}
	text := editRefused(e.target, r, shown) + e.cfg.Tracker.changed(e.call, e.target, old)
	if r.Reason == patch.Missing {
		if other := e.elsewhere(); other != "" {
			text += fmt.Sprintf("\nThe text of oldString is in another file that you have read: %s.", other)
		}
	}
	return &tool.Failure{Text: text, Err: r}
}

func editRefused(t target.Target, r *patch.Refusal, shown bool) string {
	text := r.Text
	if !strings.Contains(text, t.Shown) {
		text = t.Shown + ": " + text
	}
	switch {
	case r.Excerpt != "" && shown:
		text += "\n" + r.Excerpt
	case r.Excerpt != "":
		text += fmt.Sprintf("\nCall read with {\"filePath\":%s} to see the lines.", phrase.JSON(t.Shown))
	}
	return text
}

// mayShow reports whether lines of a file may be shown to the model in a message: it has seen the
// file, or may read it. Otherwise a wrong edit would be a way to read what rules keep from it.
func (s *ReadTracker) mayShow(ctx context.Context, c *tool.Call, t target.Target) (bool, error) {
	if s.last(c, t.Path).sum != "" {
		return true, nil
	}
	err := c.Host.Ask(ctx, tool.Permission{Name: "read", Patterns: t.Patterns(), Always: []string{"*"}})
	if err == nil || lathe.CodeOf(err) == lathe.Denied {
		return err == nil, nil
	}
	return false, err
}

// changed says that a file is another than the model has last seen; "" if not.
func (s *ReadTracker) changed(c *tool.Call, t target.Target, now content) string {
	last := s.last(c, t.Path)
	if last.sum == "" || last.sum == now.sum {
		return ""
	}
	if last.command != "" {
		return fmt.Sprintf("\nThe file has changed since you last read or wrote it, perhaps by your command %q: read it again.", phrase.Clip(last.command))
	}
	return "\nThe file has changed since you last read or wrote it: read it again."
}

// elsewhere names a file the model has lately seen that has the text to replace; "" if none.
func (e editRun) elsewhere() string {
	const files, limit = 10, 1 << 20
	looked := map[string]bool{e.target.Path: true}
	for _, m := range slices.Backward(e.call.Host.History()) {
		for _, p := range slices.Backward(m.Parts) {
			for _, path := range readPaths(p) {
				if looked[path] || len(looked) > files {
					continue
				}
				looked[path] = true
				t, err := target.Locate(e.call, path)
				if err != nil || !t.Inside {
					continue
				}
				data, err := t.ReadAll(limit)
				if err == nil && len(e.in.OldString) > 3 && strings.Contains(string(data), e.in.OldString) {
					return t.Shown
				}
			}
		}
	}
	return ""
}

// readPaths is the files whose content a call has shown to the model, by real path.
func readPaths(p lathe.Part) []string {
	return slices.Sorted(maps.Keys(readSums(p, []byte(`"seen"`))))
}
