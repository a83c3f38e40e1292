package confine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
)

// No command writes, replaces or makes a locked file. After the release all of that works.
func TestAttack_LockedFiles(t *testing.T) {
	confinable(t)
	for name, script := range map[string]string{
		"write": "echo bad > Makefile", "rename": "echo bad > x; mv -f x Makefile", "remove": "rm -f Makefile; echo bad > Makefile",
		"link": "ln -sf /dev/null Makefile", "new file": "echo bad > GNUmakefile", "chmod": "chmod 777 Makefile && echo bad > Makefile",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, nil)
			dir := b.base + "/project"
			file, other := filepath.Join(dir, "Makefile"), filepath.Join(dir, "GNUmakefile")
			if err := os.WriteFile(file, []byte("good\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			intact := func() bool {
				data, err := os.ReadFile(file)
				info, linked := os.Lstat(file)
				_, made := os.Lstat(other)
				return err == nil && string(data) == "good\n" && linked == nil && info.Mode().IsRegular() && os.IsNotExist(made)
			}
			release := b.confine.Lock([]string{file, other})
			_, out := b.in(dir, "build", script, config.Config{})
			if !intact() {
				t.Errorf("a locked file was changed: %s", out)
			}
			release()
			release() // twice does nothing
			if b.in(dir, "build", script, config.Config{}); intact() {
				t.Error("nothing changed after the release, so the test shows nothing")
			}
		})
	}
}

// Without network no setting lets a command out of the sandbox.
func TestProfile_NoNetwork(t *testing.T) {
	confinable(t)
	b := newBox(t, nil)
	c := config.Config{Sandbox: config.Sandbox{Mode: "off", Network: &config.Network{All: true}}}
	call := &tool.Call{Agent: "build", Dir: b.base + "/project", Root: "/"}
	free, err := b.confine.Profile(c, call, bash.Line{})
	if err != nil || free.Confined() {
		t.Fatalf("the setting has no effect: %+v, %v", free, err)
	}
	b.confine.NoNetwork = true
	p, err := b.confine.Profile(c, call, bash.Line{})
	if err != nil || p.Mode != sandbox.Workspace || !p.Network.None() {
		t.Errorf("%+v, %v", p.Network, err)
	}
}
