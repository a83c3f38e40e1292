package target

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace/guarded"
)

// EditPrefix begins what rules of the permission sandbox have for files: "edit:.git/config". The
// other requests for it are command lines, and no rule for files may let one of those out.
const EditPrefix = "edit:"

// AskGuarded asks before files are changed that other programs obey, whatever else is allowed. The
// permission is that of leaving the sandbox, since a change to one of them does just that. Locked files
// are refused: no permission opens them.
func AskGuarded(ctx context.Context, c *tool.Call, list guarded.List, targets []Target, diff string) error {
	var patterns, paths, reasons []string
	for _, t := range targets {
		if o := c.External; o != nil && o.Locked != nil && (o.Locked(t.Path) || o.Locked(t.real(c).Name)) {
			return tool.Failf("%s is locked: it decides whether your work is done. Fix the cause of the failure, not the check.", t.Shown)
		}
		if t.Temporary {
			continue
		}
		why, ok := list.Check(guarded.Project{Dir: RealDir(c.Dir), Root: RealDir(c.Root)}, t.real(c))
		if !ok {
			continue
		}
		for _, p := range t.Patterns() {
			patterns = AppendUnique(patterns, EditPrefix+p)
		}
		paths, reasons = AppendUnique(paths, t.Shown), AppendUnique(reasons, why)
	}
	if len(patterns) == 0 {
		return nil
	}
	meta, err := json.Marshal(struct {
		Path   string `json:"filepath"`
		Reason string `json:"reason"`
		Diff   string `json:"diff"`
	}{strings.Join(paths, ", "), strings.Join(reasons, "; "), diff})
	if err != nil {
		return err
	}
	return c.Host.Ask(ctx, tool.Permission{Name: "sandbox", Patterns: slices.Clip(patterns), Metadata: meta})
}
