//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// tracer is strace with options that show what programs start and whom they call; nil where it is not there or may not
// look. With a filter in the kernel only these calls stop a program; without one, which old versions lack, all do.
var tracer = sync.OnceValue(func() []string {
	base := []string{"strace", "-D", "-f", "-qq", "-A", "-e", "trace=execve,connect", "-e", "signal=none"}
	for _, t := range [][]string{append(base[:len(base):len(base)], "--seccomp-bpf"), base} {
		if exec.Command(t[0], append(t[1:len(t):len(t)], "-o", os.DevNull, "true")...).Run() == nil {
			return t
		}
	}
	return nil
})

// foreignCalls are the system calls of all commands so far that only a repository can have
// wished for: what was started beside the program itself and a git that does not read the
// repository's settings, and who was called beside the model of the user. seen is false without
// tracing.
func (s *hostileScene) foreignCalls() (calls []string, seen bool) {
	s.Helper()
	if tracer() == nil {
		s.Log("strace is not here, or may not look: system calls were not seen")
		return nil, false
	}
	log, err := os.ReadFile(filepath.Join(s.base, "calls"))
	s.ok(err)
	started := regexp.MustCompile(`execve\("([^"]*)"`)
	called := regexp.MustCompile(`connect\(.*sa_family=(AF_INET6?), sin6?_port=htons\((\d+)\)`)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.model.URL, "http://"), ":")
	for line := range strings.Lines(string(log)) {
		line = strings.TrimSpace(line)
		if m := started.FindStringSubmatch(line); m != nil && !strings.Contains(line, "ENOENT") {
			seen = true
			if m[1] != s.lathe && (filepath.Base(m[1]) != "git" || !strings.Contains(line, "core.fsmonitor=false")) {
				calls = append(calls, line)
			}
		}
		if m := called.FindStringSubmatch(line); m != nil && m[2] != port {
			calls = append(calls, line)
		}
	}
	if !seen {
		s.Error("strace saw nothing")
	}
	return calls, seen
}
