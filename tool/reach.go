package tool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe/workspace"
)

// Outside is what tools know of the machine outside of a project. A nil one knows nothing.
type Outside struct {
	// Readable returns the folders and files that are read unasked, by real paths: toolchains and
	// packages, which are the same for everyone.
	Readable func() []string
	// Secret says why a real path is never read without a question.
	Secret func(path string) (why string, ok bool)
	// Temp returns the folder that commands of a call have as /tmp: one of the session, or the
	// machine's own where commands have that. "" is that /tmp is like any other folder.
	Temp func(c *Call) string
	// Kept are folders below /tmp that stay what they are, such as the user's own.
	Kept []string
}

// temporaryFolders are those that are the session's.
var temporaryFolders = []string{"/tmp", "/var/tmp"}

// temporary maps a name in a temporary folder of the machine to that of the session: folder is
// where that lies, and instead the one it stands for. What is only in that of the machine stays
// there, and so does the project.
func (o *Outside) temporary(c *Call, name string) (mapped, folder, instead string, ok bool) {
	if o == nil || o.Temp == nil {
		return "", "", "", false
	}
	full := name
	if !filepath.IsAbs(name) {
		full = filepath.Join(c.Dir, name)
	}
	full = filepath.Clean(full)
	i := slices.IndexFunc(temporaryFolders, func(dir string) bool { return workspace.Inside(dir, full) })
	if i < 0 || slices.ContainsFunc(o.Kept, func(dir string) bool { return workspace.Inside(dir, full) }) || inProject(c, full) {
		return "", "", "", false
	}
	instead = temporaryFolders[i]
	if folder = o.Temp(c); folder == "" {
		return "", "", "", false
	}
	if slices.Contains(temporaryFolders, folder) { // commands have that of the machine
		return full, realDir(instead), instead, true
	}
	if os.MkdirAll(folder, 0o700) != nil { // someone may have deleted it meanwhile
		return "", "", "", false
	}
	mapped = rebase(instead, folder, full)
	if full != instead && !exists(mapped) && exists(full) {
		return "", "", "", false
	}
	return mapped, realDir(folder), instead, true
}

// inProject judges a name by itself.
func inProject(c *Call, full string) bool {
	if workspace.Inside(c.Dir, full) {
		return true
	}
	return c.Root != "" && filepath.Dir(c.Root) != c.Root && workspace.Inside(c.Root, full)
}

// secret says why a target is never read without a question.
func (o *Outside) secret(t target) (why string, ok bool) {
	if o == nil || o.Secret == nil || t.temporary {
		return "", false
	}
	return o.Secret(t.Path)
}

// readable reports whether a target is read unasked wherever the project is: what everyone on the
// machine has, and the other work trees of the repository.
func (o *Outside) readable(c *Call, t target) bool {
	if o == nil {
		return false
	}
	if _, secret := o.secret(t); secret {
		return false
	}
	within := func(dir string) bool { return workspace.Inside(dir, t.Path) }
	return o.Readable != nil && slices.ContainsFunc(o.Readable(), within) || slices.ContainsFunc(workspace.Worktrees(c.Root), within)
}

// readPrefix begins what rules of the permission sandbox have for secrets: "read:/home/dev/.ssh/id".
const readPrefix = "read:"

// askSecret asks before a secret of the user is read, whatever else is allowed. Commands do not see
// it either, so it takes the permission to leave the sandbox.
func askSecret(ctx context.Context, c *Call, t target) error {
	why, ok := c.Outside.secret(t)
	if !ok {
		return nil
	}
	meta, err := json.Marshal(struct {
		Path   string `json:"filepath"`
		Reason string `json:"reason"`
	}{t.Path, why})
	if err != nil {
		return err
	}
	return c.Host.Ask(ctx, Permission{Name: "sandbox", Patterns: []string{readPrefix + filepath.ToSlash(t.Path)}, Metadata: meta})
}
