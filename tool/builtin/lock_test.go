package builtin_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// No tool changes a locked file, by its name or through a link, although the user allows everything. The same calls
// work without the lock.
func TestLocked(t *testing.T) {
	for name, call := range map[string]func(d *tooltest.Host) (tool.Result, error){
		"edit": func(d *tooltest.Host) (tool.Result, error) {
			return d.Run(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": "check.sh", "oldString": "exit 1", "newString": "exit 0"})
		},
		"write": func(d *tooltest.Host) (tool.Result, error) {
			return d.Run(builtin.Write(builtin.WriteConfig{}), tooltest.Input{"filePath": "check.sh", "content": "exit 0\n"})
		},
		"link": func(d *tooltest.Host) (tool.Result, error) {
			return d.Run(builtin.Edit(builtin.EditConfig{}), tooltest.Input{"filePath": "link.sh", "oldString": "exit 1", "newString": "exit 0"})
		},
		"patch": func(d *tooltest.Host) (tool.Result, error) {
			text := "*** Begin Patch\n*** Update File: check.sh\n@@\n-exit 1\n+exit 0\n*** End Patch"
			return d.Run(builtin.ApplyPatch(builtin.EditConfig{}), tooltest.Input{"patchText": text})
		},
		"delete": func(d *tooltest.Host) (tool.Result, error) {
			text := "*** Begin Patch\n*** Delete File: check.sh\n*** End Patch"
			return d.Run(builtin.ApplyPatch(builtin.EditConfig{}), tooltest.Input{"patchText": text})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			file := d.Put("check.sh", "exit 1\n")
			d.Link("check.sh", "link.sh")
			read := builtin.Read(builtin.ReadConfig{})
			d.Next("read", tooltest.Input{"filePath": file}, d.Must(read, tooltest.Input{"filePath": file}))
			locked := true
			d.Call.External = &tool.External{Locked: func(path string) bool { return locked && filepath.Base(path) == "check.sh" }}
			if _, err := call(d); err == nil || !strings.Contains(err.Error(), "is locked") {
				t.Errorf("the call gave %v", err)
			}
			if got := d.Content("check.sh"); got != "exit 1\n" {
				t.Errorf("the file is %q", got)
			}
			locked = false
			if _, err := call(d); err != nil {
				t.Errorf("without the lock: %v", err)
			}
		})
	}
}
