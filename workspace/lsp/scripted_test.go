package lsp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// scriptedServer is a language server that behaves as its script says. It reports an error for each line of a
// document with the word "bad".
func scriptedServer(script string) int {
	s := &scripted{script: script, in: bufio.NewReader(os.Stdin), docs: map[string]string{}}
	if script == "silent" {
		_, _ = io.Copy(io.Discard, s.in)
		return 0
	}
	for {
		m, err := s.read()
		if err != nil {
			return 0
		}
		if m.Method == "exit" {
			return 0
		}
		if exit, ended := s.take(m); ended {
			return exit
		}
	}
}

type scripted struct {
	script string
	in     *bufio.Reader
	docs   map[string]string
}

type scriptedMessage struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method"`
	Params struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
			Text    string `json:"text"`
		} `json:"textDocument"`
		ContentChanges []struct{ Text string } `json:"contentChanges"`
		NewName        string                  `json:"newName"`
	} `json:"params"`
}

func (s *scripted) read() (m scriptedMessage, err error) {
	size := 0
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return m, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if rest, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			size, _ = strconv.Atoi(rest)
		}
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(s.in, data); err != nil {
		return m, err
	}
	return m, json.Unmarshal(data, &m)
}

func (s *scripted) write(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Printf("Content-Length: %d\r\n\r\n%s", len(data), data)
}

func (s *scripted) answer(m scriptedMessage, result any) {
	s.write(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
}

func (s *scripted) notify(method string, params any) {
	s.write(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (s *scripted) take(m scriptedMessage) (exit int, ended bool) {
	doc := m.Params.TextDocument
	switch m.Method {
	case "initialize":
		if s.script == "no-start" {
			fmt.Fprintln(os.Stderr, "\x1b[31mno license\x1b[0m")
			return 3, true
		}
		caps := map[string]any{"textDocumentSync": 1, "renameProvider": true, "definitionProvider": true, "hoverProvider": true}
		if s.script == "pull" {
			caps["diagnosticProvider"] = map[string]any{}
		}
		s.answer(m, map[string]any{"capabilities": caps})
		if s.script == "loading" {
			s.notify("$/progress", map[string]any{"token": 1, "value": map[string]any{"kind": "begin", "title": "Loading"}})
		}
	case "textDocument/didOpen":
		return s.changed(doc.URI, doc.Version, doc.Text)
	case "textDocument/didChange":
		return s.changed(doc.URI, doc.Version, m.Params.ContentChanges[0].Text)
	case "textDocument/diagnostic":
		s.answer(m, map[string]any{"kind": "full", "items": s.errors(s.docs[doc.URI])})
	case "textDocument/rename":
		s.answer(m, s.rename(doc.URI, m.Params.NewName))
	case "textDocument/definition":
		s.answer(m, []any{map[string]any{"uri": "file:///etc/passwd", "range": zeroRange()}, map[string]any{"uri": "http://example.org/x", "range": zeroRange()}})
	case "textDocument/hover":
		s.answer(m, map[string]any{"contents": []any{"\x1b]0;title\x07plain", map[string]any{"language": "x", "value": "code\u202e"}}})
	case "shutdown":
		if s.script != "no-shutdown" {
			s.answer(m, nil)
		}
	}
	return 0, false
}

func zeroRange() map[string]any {
	at := map[string]any{"line": 0, "character": 0}
	return map[string]any{"start": at, "end": at}
}

// changed reacts to a new text of a document.
func (s *scripted) changed(uri string, version int, text string) (exit int, ended bool) {
	s.docs[uri] = text
	publish := func(version any, list []any) {
		p := map[string]any{"uri": uri, "diagnostics": list}
		if version != nil {
			p["version"] = version
		}
		s.notify("textDocument/publishDiagnostics", p)
	}
	switch s.script {
	case "pull", "loading", "never", "invalid":
		if s.script == "invalid" && version > 1 {
			for range 3000 {
				s.notifyRaw("no json at all")
			}
		} else if s.script == "invalid" {
			publish(version, nil)
		}
	case "late":
		list := s.errors(text)
		time.AfterFunc(700*time.Millisecond, func() { publish(version, list) })
	case "old-version":
		publish(version-1, s.errors("bad\nbad"))
	case "dies":
		if version > 1 {
			fmt.Fprintln(os.Stderr, "panic: the server is broken")
			return 2, true
		}
		publish(version, nil)
	case "dies-once":
		mark := os.Getenv("SCRIPT_MARK")
		if _, err := os.Stat(mark); version > 1 && err != nil {
			_ = os.WriteFile(mark, nil, 0o600)
			return 2, true
		}
		publish(version, s.errors(text))
	case "flood":
		s.flood(publish, version, text)
	case "memory":
		if version > 1 {
			return eatMemory(), true
		}
		publish(version, nil)
	case "no-versions":
		publish(nil, s.errors(text))
	default:
		publish(version, s.errors(text))
	}
	return 0, false
}

func (s *scripted) notifyRaw(text string) {
	fmt.Printf("Content-Length: %d\r\n\r\n%s", len(text), text)
}

// eatMemory allocates 2 GB.
func eatMemory() int {
	var all [][]byte
	for range 2048 {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
	}
	return len(all) & 1
}

// flood sends 100,000 diagnostics: for many files, for one file, and in a long message. Their text is made once: the test is
// about the reader.
func (s *scripted) flood(publish func(any, []any), version int, text string) {
	if version == 1 {
		publish(version, s.errors(text))
		return
	}
	const lines = 25
	var all []any
	for i := range lines {
		all = append(all, diagnostic(i, 1, "flood \x1b[2J\u202e "+strings.Repeat("x", 50)))
	}
	some, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	part := strings.Trim(string(some), "[]") + ","
	send := func(uri, version string, n int, more string) {
		list := strings.TrimSuffix(strings.Repeat(part, n/lines), ",") + more
		s.notifyRaw(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"` + uri + `",` + version + `"diagnostics":[` + list + `]}}`)
	}
	for i := range 100 {
		send("file:///elsewhere/"+strconv.Itoa(i), "", 100, "")
	}
	for i := range 4000 {
		send("file:///elsewhere/n"+strconv.Itoa(i), "", lines, "")
	}
	for uri := range s.docs {
		own, err := json.Marshal(s.errors(text))
		if err != nil {
			panic(err)
		}
		send(uri, `"version":`+strconv.Itoa(version-1)+`,`, 15_000, "")
		send(uri, `"version":`+strconv.Itoa(version)+`,`, 15_000, ","+strings.Trim(string(own), "[]"))
	}
}

func diagnostic(line, severity int, message string) map[string]any {
	return map[string]any{
		"range":    map[string]any{"start": map[string]any{"line": line, "character": 0}, "end": map[string]any{"line": line, "character": 3}},
		"severity": severity, "message": message,
	}
}

func (s *scripted) errors(text string) []any {
	out := []any{}
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "bad") {
			out = append(out, diagnostic(i, 1, "bad: "+line))
		}
		if strings.Contains(line, "dubious") {
			out = append(out, diagnostic(i, 2, "dubious: "+line))
		}
	}
	return out
}

// rename edits the file itself, and what the script adds.
func (s *scripted) rename(uri, name string) map[string]any {
	edit := map[string]any{"range": map[string]any{"start": map[string]any{"line": 0, "character": 0}, "end": map[string]any{"line": 0, "character": 3}}, "newText": name}
	changes := map[string]any{uri: []any{edit}}
	switch s.script {
	case "rename-outside":
		changes["file:///etc/passwd"] = []any{edit}
	case "rename-overlap":
		changes[uri] = []any{edit, map[string]any{"range": map[string]any{"start": map[string]any{"line": 0, "character": 1}, "end": map[string]any{"line": 0, "character": 2}}, "newText": "x"}}
	case "rename-create":
		return map[string]any{"documentChanges": []any{map[string]any{"kind": "create", "uri": uri + "x"}}}
	}
	return map[string]any{"changes": changes}
}
