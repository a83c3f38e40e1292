//go:build unix

package builtin_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/bash"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// The tools that are given a place in the file system, in the order of the tables here.
var placed = [...]string{"read", "write", "edit", "apply_patch", "glob", "grep", "bash"}

// placedCall is a call of a tool about a place.
func placedCall(name, path string) tooltest.Input {
	switch name {
	case "read":
		return tooltest.Input{"filePath": path}
	case "write":
		return tooltest.Input{"filePath": path, "content": "new\n"}
	case "edit":
		return tooltest.Input{"filePath": path, "oldString": "secret", "newString": "public"}
	case "apply_patch":
		return tooltest.Input{"patchText": "*** Begin Patch\n*** Update File: " + path + "\n@@\n-secret\n+public\n*** End Patch"}
	case "glob":
		return tooltest.Input{"pattern": "*", "path": path}
	case "grep":
		return tooltest.Input{"pattern": "secret", "path": path}
	default:
		return tooltest.Input{"command": "ls", "workdir": path}
	}
}

// place is somewhere a call should not simply get to.
type place struct {
	name string
	make func(d *tooltest.Host) string // returns the path as the model gives it
	swap func(d *tooltest.Host)        // what is done while the user is asked for the tool's own permission
	want outcomes
}

// outcomes is what becomes of the call of each tool: which directory outside is asked about
// ("-" for none), then words of its result, or of its error after a "!".
type outcomes [len(placed)]string

// makePlaces fills the project and the directory outside.
func makePlaces(d *tooltest.Host) {
	d.Put(filepath.Join(d.Out, "f.txt"), "secret\n")
	d.Put(filepath.Join(d.Out, "in.txt"), "secret\n")
	d.Put("in.txt", "secret\n")
	d.Put("dir/in.txt", "secret\n")
}

func outsideState(d *tooltest.Host) string {
	d.T.Helper()
	var out strings.Builder
	err := filepath.WalkDir(d.Out, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		fmt.Fprintf(&out, "%s %v %q\n", path, info.Mode(), d.Content(path))
		return err
	})
	if err != nil {
		d.T.Fatal(err)
	}
	return out.String()
}

func linked(target, name string) func(*tooltest.Host) string {
	return func(d *tooltest.Host) string {
		d.Link(strings.ReplaceAll(target, "OUT", d.Out), name)
		return name
	}
}

func named(name string) func(*tooltest.Host) string {
	return func(d *tooltest.Host) string { return strings.ReplaceAll(name, "OUT", d.Out) }
}

// swapped puts a link to the directory outside in the place of a directory inside.
func swapped(d *tooltest.Host) {
	err := errors.Join(os.Rename(filepath.Join(d.Dir, "dir"), filepath.Join(d.Dir, "old")), os.Symlink(d.Out, filepath.Join(d.Dir, "dir")))
	if err != nil {
		d.T.Error(err)
	}
}

// refusedAll is one outcome of all tools, but for those that want a directory.
func refusedAll(asked, words string) outcomes {
	var out outcomes
	for i := range out {
		out[i] = asked + " !" + words
	}
	out[4], out[6] = asked+" !must be a directory", "- !is not a directory"
	return out
}

func places() []place {
	file := outcomes{
		"OUT/* 1: secret", "OUT/* Overwrote OUT/f.txt", "OUT/* Edited OUT/f.txt", "OUT/* M ../outside/f.txt",
		"OUT/* !must be a directory", "OUT/* Line 1: secret", "- !is not a directory",
	}
	none := outcomes{
		"OUT/* !File not found", "OUT/* Created OUT/none.txt", "OUT/* !File not found", "OUT/* !not found. Nothing",
		"OUT/* !File not found", "OUT/* !File not found", "- !is not a directory",
	}
	dir := outcomes{
		"OUT/* f.txt", "OUT/* !is a directory. Name a file", "OUT/* !is a directory. Name a file", "OUT/* !is a directory. Name a file",
		"OUT/* OUT/f.txt", "OUT/* Line 1: secret", "OUT/* f.txt",
	}
	moved := outcomes{
		"- !was replaced while in use", "- !was replaced while in use", "- !was replaced while in use", "- !was replaced while in use",
		"- !must be a directory", "- !was replaced while in use", "- !is not a directory",
	}
	circle := refusedAll("-", "is a loop of symlinks")
	circle[4], circle[6] = circle[0], circle[0]
	kernel := refusedAll(fmt.Sprintf("/proc/%d/*", os.Getpid()), "is a kernel file (proc)")
	list := []place{
		{"a file through ..", named("../outside/f.txt"), nil, file},
		{"a directory through ..", named("dir/../../outside"), nil, dir},
		{"an absolute file", named("OUT/f.txt"), nil, file},
		{"an absolute directory", named("OUT"), nil, dir},
		{"a file that is not there", named("OUT/none.txt"), nil, none},
		{"a linked file", linked("OUT/f.txt", "link.txt"), nil, file},
		{"a linked directory", linked("OUT", "link"), nil, dir},
		{"a file in a linked directory", func(d *tooltest.Host) string { return linked("OUT", "link")(d) + "/f.txt" }, nil, file},
		{"a link to nothing outside", linked("OUT/none.txt", "link.txt"), nil, none},
		{"a circle of links", func(d *tooltest.Host) string { linked("b", "a")(d); return linked("a", "b")(d) }, nil, circle},
		{"a file whose directory is swapped for a link", named("dir/in.txt"), swapped, moved},
		{"a directory swapped for a link", named("dir"), swapped, outcomes{
			"- !was replaced while in use", "- !is a directory. Name a file", "- !is a directory. Name a file", "- !is a directory. Name a file",
			"- !was replaced by a symlink", "- !was replaced by a symlink", "- !leads elsewhere",
		}},
		{"a file that vanishes", named("in.txt"), func(d *tooltest.Host) { _ = os.Remove(filepath.Join(d.Dir, "in.txt")) }, outcomes{
			"- !File not found", "- !was changed by someone else", "- !File not found", "- !not found. Nothing",
			"- !must be a directory", "- !does not exist", "- !is not a directory",
		}},
		{"a device", named("/dev/zero"), nil, refusedAll("/dev/*", "is a device, not a regular file")},
		{"a pipe", pipe, nil, refusedAll("-", "is a pipe, not a regular file")},
		{"a socket", socket, nil, refusedAll("-", "is a socket, not a regular file")},
		{"an unreadable file", unreadable, nil, refusedAll("-", "cannot be opened: permission denied")},
	}
	if _, err := os.Stat("/proc/self/mem"); err == nil {
		list = append(list, place{"memory of the process", named("/proc/self/mem"), nil, kernel})
	}
	return list
}

func pipe(d *tooltest.Host) string {
	if err := syscall.Mkfifo(filepath.Join(d.Dir, "pipe"), 0o600); err != nil {
		d.T.Skipf("no pipes here: %v", err)
	}
	return "pipe"
}

func socket(d *tooltest.Host) string {
	l, err := (&net.ListenConfig{}).Listen(d.T.Context(), "unix", filepath.Join(d.Dir, "s"))
	if err != nil {
		d.T.Skipf("no sockets here: %v", err)
	}
	d.T.Cleanup(func() { _ = l.Close() })
	return "s"
}

func unreadable(d *tooltest.Host) string {
	if os.Getuid() == 0 {
		d.T.Skip("root reads every file")
	}
	if err := os.Chmod(filepath.Join(d.Dir, "in.txt"), 0); err != nil {
		d.T.Fatal(err)
	}
	return "in.txt"
}

// TestEscapes tries every tool at every place: what is asked, what is refused and with which words,
// and that a refusal of the user leaves everything outside alone.
func TestEscapes(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no /bin/sh on this machine")
	}
	runner := sandbox.Open(sandbox.Config{})
	defer runner.Close()
	set := tool.NewSet(builtin.All(builtin.Config{Write: builtin.WriteConfig{AllowStale: true}, Bash: bash.Config{Runner: runner, Shell: "/bin/sh", Env: os.Environ()}})...)
	for _, p := range places() {
		for i, name := range placed {
			x, _ := set.Find(name)
			asked, words, _ := strings.Cut(p.want[i], " ")
			t.Run(p.name+"/"+name, func(t *testing.T) { p.allowed(t, x, name, asked, words) })
			if asked != "-" {
				t.Run(p.name+"/"+name+"/refused", func(t *testing.T) { p.refused(t, x, name) })
			}
		}
	}
}

// allowed has the user say yes to everything.
func (p place) allowed(t *testing.T, x tool.Tool, name, asked, words string) {
	d := tooltest.NewHost(t)
	makePlaces(d)
	path := p.make(d)
	before := outsideState(d)
	swap := p.swap
	d.OnAsk = func(a tool.Permission) {
		if a.Name != "external_directory" && swap != nil {
			swap(d)
			swap = nil
		}
	}
	res, err := d.Run(x, placedCall(name, path))
	short := strings.NewReplacer(d.Out, "OUT", d.Dir, "DIR")
	got := "-"
	for _, a := range d.Asked {
		if a.Name == "external_directory" {
			got = short.Replace(strings.Join(a.Patterns, " "))
		}
	}
	if got != asked {
		t.Errorf("asked about %s, want %s", got, asked)
	}
	said := res.Output
	want, fails := strings.CutPrefix(words, "!")
	if err != nil {
		said = err.Error()
	}
	if fails != (err != nil) || !strings.Contains(short.Replace(said), want) {
		t.Errorf("%s\nwant %s", short.Replace(said), words)
	}
	changes := strings.Contains(words, "Overwrote") || strings.Contains(words, "Edited") || strings.Contains(words, "Created") || strings.Contains(words, "M ..")
	if after := outsideState(d); (after != before) != changes {
		t.Errorf("outside there is now\n%s", after)
	}
}

// refused has the user keep the call inside.
func (p place) refused(t *testing.T, x tool.Tool, name string) {
	d := tooltest.NewHost(t)
	makePlaces(d)
	path := p.make(d)
	before := outsideState(d)
	d.Refuse = "external_directory"
	res, err := d.Run(x, placedCall(name, path))
	if lathe.CodeOf(err) != lathe.Rejected || res.Output != "" || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v %s", err, res.Output)
	}
	if after := outsideState(d); after != before {
		t.Errorf("outside there is now\n%s", after)
	}
	if len(d.Asked) != 1 {
		t.Errorf("asked on: %v", d.Asked)
	}
}
