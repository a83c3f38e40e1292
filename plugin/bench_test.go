package plugin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/plugin"
	"github.com/lathe-agent/lathe/sandbox"
)

// BenchmarkHook is what a hook call costs beyond the plugin's own time: to a JavaScript plugin that changes
// its output, to one that does not, with a history of 1 MB, and to a program.
func BenchmarkHook(b *testing.B) {
	needNode(b)
	history := `{"messages":[{"text":"` + strings.Repeat("x", 1<<20) + `"}]}`
	for _, bench := range []struct{ name, hook, output string }{
		{"changed", "chat.params", `{"temperature":1,"options":{}}`},
		{"unchanged", "chat.headers", `{"headers":{}}`},
		{"megabyte", "experimental.chat.messages.transform", history},
	} {
		b.Run("node/"+bench.name, func(b *testing.B) {
			c := benchHub(b, plugin.Plugin{Spec: "./testdata/bench.mjs"})
			benchCall(b, c, bench.hook, bench.output)
		})
	}
	b.Run("program/changed", func(b *testing.B) {
		benchCall(b, benchHub(b, stub("well")), "chat.params", names)
	})
	b.Run("none", func(b *testing.B) {
		benchCall(b, plugin.Open(plugin.Options{}), "chat.params", names)
	})
}

func benchHub(b *testing.B, p plugin.Plugin) *plugin.Hub {
	b.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		b.Fatal(err)
	}
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()})
	c := plugin.Open(plugin.Options{Dir: dir, Worktree: dir, Plugins: []plugin.Plugin{p}, Runner: runner, Cache: b.TempDir(), Env: os.Environ()})
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
		_ = runner.Close()
	})
	if err := c.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	if s := c.Status()[0]; s.State != plugin.Ready {
		b.Fatalf("%+v", s)
	}
	return c
}

func benchCall(b *testing.B, c *plugin.Hub, hook, output string) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Call(b.Context(), hook, json.RawMessage(`{"sessionID":"ses_1","agent":"build"}`), json.RawMessage(output)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStart is the time from nothing to loaded.
func BenchmarkStart(b *testing.B) {
	needNode(b)
	for b.Loop() {
		_ = benchHub(b, plugin.Plugin{Spec: "./testdata/bench.mjs"}).Close()
	}
}
