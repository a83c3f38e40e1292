//go:build unix

package bash_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// Commands that read a library are not asked about either, however they read it; those that write
// there are.
func TestReach_LibraryCommands(t *testing.T) {
	x := newTerminal(t)
	lib := x.Put(filepath.Join(x.Out, "go", "src", "fmt", "print.go"), "package fmt\n")
	dir := filepath.Dir(lib)
	x.Call.External = &tool.External{Readable: func() []string { return []string{filepath.Join(x.Out, "go")} }}
	outside := func(command string) bool {
		t.Helper()
		x.Asked = nil
		x.bash(t.Context(), tooltest.Input{"command": command})
		return slices.ContainsFunc(x.Questions(), func(q string) bool { return strings.HasPrefix(q, "external_directory") })
	}
	for _, command := range []string{
		"cat " + lib, "ls " + dir, "sed -n 1,5p " + lib, "grep -rn package " + dir, "awk '{print $1}' " + lib, "find " + dir + " -name '*.go'", "head -3 " + lib + " | wc -l",
		"rg package " + dir, "cp " + lib + " copy.go", "cd " + dir + " && ls", "diff " + lib + " " + lib, "sort " + lib,
	} {
		if outside(command) {
			t.Errorf("%s: asked %q", command, x.Questions())
		}
	}
	for _, command := range []string{"sed -i s/a/b/ " + lib, "touch " + lib, "rm " + lib, "sort -o " + lib + " " + lib, "cp copy.go " + lib, "echo >" + lib} {
		if !outside(command) {
			t.Errorf("%s: asked %q only", command, x.Questions())
		}
	}
}
