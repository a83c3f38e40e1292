package mcp_test

import (
	"encoding/json"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/mcp"
)

// BenchmarkOpen is what 20 servers that never answer cost a first prompt: ten programs and ten
// addresses.
func BenchmarkOpen(b *testing.B) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer silent.Close()
	var servers []mcp.Server
	for i := range 20 {
		s := mcp.Server{Name: "s" + strconv.Itoa(i), Timeout: time.Minute}
		if i%2 == 0 {
			s.Command = self(b, "a-hostile-server", "mute")
		} else {
			s.URL = "http://" + silent.Addr().String()
		}
		servers = append(servers, s)
	}
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Grace: 50 * time.Millisecond})
	defer runner.Close()
	dir, cache := b.TempDir(), b.TempDir()
	for b.Loop() {
		h := mcp.Open(mcp.Options{Dir: dir, Servers: servers, Runner: runner, Cache: cache})
		if len(h.Tools()) != 0 {
			b.Fatal("there are tools")
		}
		b.StopTimer()
		h.Close()
		b.StartTimer()
	}
}

// BenchmarkOpenCached is the same with servers whose tools are known from last time.
func BenchmarkOpenCached(b *testing.B) {
	var servers []mcp.Server
	for i := range 20 {
		servers = append(servers, good(b, "s"+strconv.Itoa(i)))
	}
	w := open(b, servers)
	w.ready()
	w.hub.Close()
	runner := sandbox.Open(sandbox.Config{Launcher: sandbox.Self(), Grace: 50 * time.Millisecond})
	defer runner.Close()
	for b.Loop() {
		h := mcp.Open(mcp.Options{Dir: w.dir, Servers: servers, Runner: runner, Cache: w.dir + "/cache"})
		if len(h.Tools()) < 200 {
			b.Fatal("there are not all tools")
		}
		b.StopTimer()
		h.Close()
		b.StartTimer()
	}
}

// BenchmarkTools is what asking again costs.
func BenchmarkTools(b *testing.B) {
	w := open(b, []mcp.Server{good(b, "s")})
	w.ready()
	for b.Loop() {
		if len(w.hub.Tools()) == 0 {
			b.Fatal("there are no tools")
		}
	}
}

// BenchmarkCall is a call of a local server, there and back.
func BenchmarkCall(b *testing.B) {
	w := open(b, []mcp.Server{good(b, "s")})
	w.ready()
	echo, d := w.tool("s_echo"), &desk{}
	for b.Loop() {
		r, err := tool.Run(b.Context(), echo, &tool.Call{Input: json.RawMessage(`{"text":"x"}`), Host: d})
		if err != nil || r.Output != "x" {
			b.Fatal(r, err)
		}
	}
}
