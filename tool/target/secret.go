package target

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// TempDirs are those that are the session's.
var TempDirs = []string{"/tmp", "/var/tmp"}

// temporary maps a name in a temporary folder of the machine to that of the session: folder is
// where that lies, and instead the one it stands for. What is only in that of the machine stays
// there, and so does the project.
func temporary(c *tool.Call, name string) (mapped, folder, instead string, ok bool) {
	o := c.External
	if o == nil || o.Temp == nil {
		return "", "", "", false
	}
	full := name
	if !filepath.IsAbs(name) {
		full = filepath.Join(c.Dir, name)
	}
	full = filepath.Clean(full)
	i := slices.IndexFunc(TempDirs, func(dir string) bool { return workspace.Inside(dir, full) })
	if i < 0 || slices.ContainsFunc(o.RealTemp, func(dir string) bool { return workspace.Inside(dir, full) }) || inProject(c, full) {
		return "", "", "", false
	}
	instead = TempDirs[i]
	if folder = o.Temp(c); folder == "" {
		return "", "", "", false
	}
	if slices.Contains(TempDirs, folder) { // commands have that of the machine
		return full, RealDir(instead), instead, true
	}
	if os.MkdirAll(folder, 0o700) != nil { // someone may have deleted it meanwhile
		return "", "", "", false
	}
	mapped = Rebase(instead, folder, full)
	if full != instead && !Exists(mapped) && Exists(full) {
		return "", "", "", false
	}
	return mapped, RealDir(folder), instead, true
}

// inProject judges a name by itself.
func inProject(c *tool.Call, full string) bool {
	return workspace.Inside(c.Dir, full) || c.Root != "" && filepath.Dir(c.Root) != c.Root && workspace.Inside(c.Root, full)
}

// SecretReason says why a target is never read without a question.
func SecretReason(o *tool.External, t Target) (why string, ok bool) {
	if o == nil || o.Secret == nil || t.Temporary {
		return "", false
	}
	return o.Secret(t.Path)
}

// Readable reports whether a target is read unasked wherever the project is: what everyone on the
// machine has, and the other work trees of the repository.
func Readable(c *tool.Call, t Target) bool {
	o := c.External
	if o == nil {
		return false
	}
	if _, isSecret := SecretReason(o, t); isSecret {
		return false
	}
	within := func(dir string) bool { return workspace.Inside(dir, t.Path) }
	return o.Readable != nil && slices.ContainsFunc(o.Readable(), within) || slices.ContainsFunc(workspace.Worktrees(c.Root), within)
}

// ReadPrefix begins what rules of the permission sandbox have for secrets: "read:/home/dev/.ssh/id".
const ReadPrefix = "read:"

// askSecret asks before a secret of the user is read, whatever else is allowed. Commands do not see
// it either, so it takes the permission to leave the sandbox.
func askSecret(ctx context.Context, c *tool.Call, t Target) error {
	why, ok := SecretReason(c.External, t)
	if !ok {
		return nil
	}
	if c.External.Hidden != nil && c.External.Hidden(t.Path) {
		return tool.Failf("%s is hidden from you during this run. Work without it.", t.Shown)
	}
	meta, err := json.Marshal(struct {
		Path   string `json:"filepath"`
		Reason string `json:"reason"`
	}{t.Path, why})
	if err != nil {
		return err
	}
	return c.Host.Ask(ctx, tool.Permission{Name: "sandbox", Patterns: []string{ReadPrefix + filepath.ToSlash(t.Path)}, Metadata: meta})
}
