package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

const (
	maxUntracked     = 10_000  // files that git does not know
	maxUntrackedSize = 2 << 20 // bytes of one of them that is shown
)

// untracked lists the files that git neither knows nor ignores, as added ones.
func (g *Git) untracked(ctx context.Context, v *view, a DiffOptions) ([]lathe.FileDiff, error) {
	args := []string{"ls-files", "-z", "--others", "--exclude-standard", "--"}
	if a.File != "" {
		args = append(args, filepath.FromSlash(a.File))
	}
	said, err := g.ask(ctx, question{view: v, limit: 16 << 20, args: args})
	if err != nil {
		return nil, err
	}
	var out []lathe.FileDiff
	space := maxPatch
	for name := range strings.SplitSeq(string(said), "\x00") {
		if name == "" || strings.HasSuffix(name, "/") { // another repository
			continue
		}
		if len(out) == maxUntracked || ctx.Err() != nil {
			break
		}
		d := added(v.top, name, space)
		space -= len(d.Patch)
		if a.NoPatch {
			d.Patch = ""
		}
		out = append(out, d)
	}
	return out, context.Cause(ctx)
}

// added is a new file as a patch. A large or binary file has none.
func added(top, name string, space int) lathe.FileDiff {
	d := lathe.FileDiff{File: name, Status: "added"}
	mode, data, ok := content(top, name)
	if !ok || len(data) > space {
		return d
	}
	a, b := quote("a/"+name), quote("b/"+name)
	head := fmt.Sprintf("%s%s %s\nnew file mode %s\n", diffHeader, a, b, mode)
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		d.Patch = head + "Binary files /dev/null and " + b + " differ\n"
		return d
	}
	if len(data) == 0 {
		d.Patch = head
		return d
	}
	var text strings.Builder
	for line := range bytes.Lines(data) {
		d.Additions++
		text.WriteByte('+')
		text.Write(line)
	}
	if data[len(data)-1] != '\n' {
		text.WriteString("\n\\ No newline at end of file\n")
	}
	at := "+1"
	if d.Additions > 1 {
		at = fmt.Sprintf("+1,%d", d.Additions)
	}
	d.Patch = strings.ToValidUTF8(head+"--- /dev/null\n+++ "+b+"\n@@ -0,0 "+at+" @@\n"+text.String(), "\uFFFD")
	return d
}

// content reads a new file; a symlink is where it points to. Nothing is read through one.
func content(top, name string) (mode string, data []byte, ok bool) {
	path := filepath.Join(top, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	if err != nil {
		return "", nil, false
	}
	if info.Mode()&os.ModeSymlink != 0 {
		to, err := os.Readlink(path)
		return "120000", []byte(filepath.ToSlash(to)), err == nil
	}
	f, err := workspace.Resolve(top, path)
	if err != nil || !workspace.Inside(top, f.Path) {
		return "", nil, false
	}
	mode = "100644"
	if info.Mode()&0o100 != 0 {
		mode = "100755"
	}
	data, err = f.ReadAll(maxUntrackedSize)
	return mode, data, err == nil
}
