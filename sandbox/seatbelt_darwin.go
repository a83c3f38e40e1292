package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// sandboxExec is the program that puts itself into a profile and becomes another.
const sandboxExec = "/usr/bin/sandbox-exec"

// errNoHosts says that a list of hosts cannot be held.
var errNoHosts = fmt.Errorf("%w: the setting sandbox.network lists hosts, which only Linux can hold; set it to false for none, or leave it out", ErrUnavailable)

func (r *Runner) start(c Command, s streams) (tree, error) {
	if !c.Profile.Confined() {
		if !c.Profile.zero() {
			return nil, unsupported()
		}
		return startGroup(c, s, r.grace)
	}
	if err := r.Kernel().Available(c.Profile.Strict); err != nil {
		return nil, err
	}
	if len(c.Profile.Network.Hosts) > 0 {
		return nil, errNoHosts
	}
	if _, err := os.Stat(c.Path); err != nil {
		return nil, err
	}
	inner := c
	inner.Path, inner.Args = sandboxExec, append([]string{"-p", seatbelt(realProfile(c.Profile)), c.Path}, c.Args...)
	t, err := startGroup(inner, s, r.grace)
	if err != nil {
		return nil, err
	}
	t.(*group).report = seatbeltReport(c.Profile)
	return t, nil
}

// probe runs a program in a profile that has every kind of rule: a system that does not take one of them
// has no sandbox for us.
func probe() Kernel {
	p := Profile{
		Mode: Workspace, Write: []string{"/private/tmp"}, Protect: []string{"/private/tmp/a/.git/hooks"}, Files: []string{"/private/tmp/\"a"},
		Hide: []string{"/private/tmp/h"}, Show: []string{"/private/tmp/h/s"}, Sockets: []string{"/private/tmp/k"},
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := exec.CommandContext(ctx, sandboxExec, "-p", seatbelt(p), "/usr/bin/true").Run()
	return Kernel{Seatbelt: err == nil}
}

// seatbeltReport says what Seatbelt holds of a profile.
func seatbeltReport(p Profile) *Report {
	r := &Report{Seatbelt: true, Guard: Bound}
	if p.Temp != "" {
		r.Missing = append(r.Missing, "/tmp is the one of the machine, not one of the session")
	}
	for _, m := range p.Mounts {
		r.Missing = append(r.Missing, "nothing is mounted at "+m.Target)
	}
	if p.Limits != (Limits{}) {
		r.Missing = append(r.Missing, "limits of memory, processes and file sizes")
	}
	return r
}
