package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// smallServer is a small language server: a line with BAD is an error, and so is what it could do in the project and on the
// network, if it is asked to try. A rename edits the first word of all files beside. Its words are "try ADDRESS" and "late
// DURATION", which delays the errors of a changed text.
type smallServer struct {
	in    *bufio.Reader
	tried string
	late  time.Duration

	mu sync.Mutex // guards the output
}

// smallMessage is a message to the server, with the members that it uses.
type smallMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		TextDocument struct {
			URI, Text string
			Version   int
		}
		ContentChanges []struct{ Text string }
		NewName        string
		Query          string
	}
}

// languageServer runs the server until its client ends.
func languageServer() {
	s := &smallServer{in: bufio.NewReader(os.Stdin)}
	for i, word := range os.Args {
		if word == "try" {
			err1 := os.WriteFile("made-by-server", nil, 0o600)
			_, err2 := net.Dial("tcp", os.Args[i+1])
			s.tried = fmt.Sprintf("wrote=%v dialed=%v", err1 == nil, err2 == nil)
		}
		if word == "late" {
			s.late, _ = time.ParseDuration(os.Args[i+1]) // it is ours
		}
	}
	for {
		m, err := s.read()
		if err != nil || m.Method == "exit" {
			return
		}
		s.take(m)
	}
}

func (s *smallServer) read() (m smallMessage, err error) {
	size := 0
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return m, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		size, _ = strconv.Atoi(strings.TrimPrefix(line, "Content-Length: "))
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(s.in, data); err != nil {
		return m, err
	}
	return m, json.Unmarshal(data, &m)
}

func (s *smallServer) send(v any) {
	data, _ := json.Marshal(v) // it is ours
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Printf("Content-Length: %d\r\n\r\n%s", len(data), data)
}

func (s *smallServer) take(m smallMessage) {
	p := m.Params
	answer := func(result any) { s.send(map[string]any{"id": m.ID, "result": result}) }
	switch m.Method {
	case "initialize":
		answer(map[string]any{"capabilities": map[string]any{"textDocumentSync": 1, "renameProvider": true, "workspaceSymbolProvider": true}})
	case "shutdown":
		answer(nil)
	case "textDocument/rename":
		answer(map[string]any{"changes": renameBeside(p.TextDocument.URI, p.NewName)})
	case "workspace/symbol":
		dir, _ := os.Getwd() // it is the root
		at := map[string]int{"line": 1, "character": 0}
		answer([]any{map[string]any{"name": p.Query + "Found", "kind": 12, "location": map[string]any{"uri": "file://" + dir + "/a.x", "range": map[string]any{"start": at, "end": at}}}})
	case "textDocument/didOpen":
		s.publish(p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text)
	case "textDocument/didChange":
		text := p.ContentChanges[0].Text
		time.AfterFunc(s.late, func() { s.publish(p.TextDocument.URI, p.TextDocument.Version, text) })
	}
}

func (s *smallServer) publish(uri string, version int, text string) {
	list := []any{}
	for n, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "BAD") {
			at := map[string]int{"line": n, "character": 0}
			list = append(list, map[string]any{"severity": 1, "message": strings.TrimSpace("bad: " + line + " " + s.tried), "range": map[string]any{"start": at, "end": at}})
		}
	}
	s.send(map[string]any{"method": "textDocument/publishDiagnostics", "params": map[string]any{"uri": uri, "version": version, "diagnostics": list}})
}

// renameBeside replaces the first three characters of all files in the folder of a file.
func renameBeside(uri, name string) map[string]any {
	out, dir := map[string]any{}, filepath.Dir(strings.TrimPrefix(uri, "file://"))
	all, _ := filepath.Glob(filepath.Join(dir, "*.x")) // the pattern is valid
	for _, path := range all {
		at := func(n int) map[string]int { return map[string]int{"line": 0, "character": n} }
		out["file://"+path] = []any{map[string]any{"range": map[string]any{"start": at(0), "end": at(3)}, "newText": name}}
	}
	return out
}
