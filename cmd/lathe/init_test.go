package main

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What is done before main runs is paid by every command. The trace of the runtime counts
// bytes and allocations of each package, which, unlike times, are the same on every machine.
func TestStart_LittleIsDoneBeforeMain(t *testing.T) {
	// Bytes: of a package, of one of ours, of all. The largest are net/html with its table of names,
	// 124 KB in 0.15 ms, and jsonschema-go, which compiles its patterns, 81 KB in 0.2 ms; the SDK of MCP brings gob along, 28 KB in 0.15 ms,
	// and the terminal library tables of escape sequences, 18 KB in 0.15 ms. The client of NATS and its compression take 62 KB in 0.07 ms. Of all, 40 KB are net/http's in
	// this program alone: the servers of tests keep tables in it that the linker takes out of lathe.
	const most, mostOurs, mostTotal = 128 << 10, 8 << 10, 544 << 10
	cmd := command(t, t.TempDir(), "version")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)
	total, seen := 0, 0
	for text := range strings.Lines(trace.String()) {
		m := line.FindStringSubmatch(strings.TrimSpace(text))
		if m == nil || onlyInTests(m[1]) {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		seen, total = seen+1, total+n
		limit := most
		if strings.HasPrefix(m[1], "github.com/lathe-agent/lathe") {
			limit = mostOurs
		}
		if n > limit {
			t.Errorf("package %s allocates %d bytes before main, more than %d: build it when it is first needed", m[1], n, limit)
		}
	}
	if seen == 0 {
		t.Fatalf("the trace names no package:\n%s", trace.String())
	}
	if total > mostTotal {
		t.Errorf("all packages together allocate %d bytes before main, more than %d", total, mostTotal)
	}
}

// onlyInTests reports whether a package is in this program, which stands for lathe in tests, and not
// in lathe.
func onlyInTests(name string) bool {
	for _, prefix := range []string{"github.com/google/go-cmp/", "github.com/rogpeppe/go-internal/", "golang.org/x/crypto/", "net/http/cgi", "net/http/internal/testcert", "net/http/httptest", "testing", "go/", "internal/platform"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
