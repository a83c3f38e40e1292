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

// canTrace reports whether strace is there and may look.
var canTrace = sync.OnceValue(func() bool {
	return exec.Command("strace", "-D", "-f", "-qq", "-A", "-o", os.DevNull, "-e", "trace=execve", "true").Run() == nil
})

// foreignCalls are the system calls of all commands so far that only a repository can have wished
// for: what was started beside the program itself and a git that does not read the repository's
// settings, and who was called beside the model of the user. seen is false where nobody could look.
func (s *hostileScene) foreignCalls() (calls []string, seen bool) {
	s.Helper()
	if !canTrace() {
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
