package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRead reads what a server prints: whatever that is, reading ends, and no message is lost after
// junk that ended with its line.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "x\n", `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", "[" + `{"jsonrpc":"2.0","method":"a"},7` + "]\n",
		`{"jsonrpc":"2.0","id":{},"result":1}`, `{"id":1}` + "\n", "\x00\xff\n[[[[\n", `{"jsonrpc":"2.0","id":"x","error":null}` + "\n",
		`{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, printed []byte) {
		last := `{"jsonrpc":"2.0","method":"the/last"}` + "\n"
		in := io.NopCloser(bytes.NewReader(append(append(bytes.Clone(printed), '\n'), last...)))
		c := newPipeConn(in, nopWriter{}, slog.New(slog.DiscardHandler), func(error) {})
		n := 0
		for {
			msg, err := c.Read(t.Context())
			if err != nil {
				break
			}
			if n++; n > len(printed)+2 {
				t.Fatal("more messages than bytes")
			}
			if name := methodOf(msg); name == "the/last" {
				last = ""
			}
		}
		if last != "" {
			t.Error("the last message was lost")
		}
	})
}

type nopWriter struct{}

func (nopWriter) Write(p []byte) (int, error) { return len(p), nil }
func (nopWriter) Close() error                { return nil }

func methodOf(msg any) string {
	var m struct{ Method string }
	data, err := json.Marshal(msg)
	if err != nil || json.Unmarshal(data, &m) != nil {
		return ""
	}
	return m.Method
}

// FuzzOffer reads a tool: what comes out has a name, a schema that is an object, and a clean text.
func FuzzOffer(f *testing.F) {
	for _, seed := range []string{
		`{"name":"a","inputSchema":{"type":"object"}}`, `{"name":"\u001b[31m","description":"\u001b]x"}`, `{"name":"a","inputSchema":{"a":1,"a":2,"type":7}}`,
		`{"name":"a","inputSchema":{"properties":null,"additionalProperties":true}}`, `{"name":"a","title":"t","annotations":{"readOnlyHint":true}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := readOffer(raw)
		if err != nil {
			return
		}
		var schema map[string]json.RawMessage
		if json.Unmarshal(o.Schema, &schema) != nil || string(schema["type"]) != `"object"` || !isObject(schema["properties"]) {
			t.Errorf("schema %s", o.Schema)
		}
		if o.Description != clean(o.Description) || !utf8.ValidString(o.Description) {
			t.Errorf("description %q", o.Description)
		}
		if name := toolName(nil, "s", o.Name); len(name) > mostName || name != sanitize(name) {
			t.Errorf("name %q", name)
		}
	})
}

// FuzzResult reads the answer to a call: a text without what is not for reading, or a failure.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"\u001b[1mx"}]}`, `{"content":[{"type":"image","mimeType":"image/png","data":"aGk="}],"_meta":{"truncated":1,"a":2}}`,
		`{"isError":true}`, `{"structuredContent":[1]}`, `{"content":[{"type":"resource","resource":{"uri":"a","blob":"x","mimeType":"application/pdf"}}]}`,
	} {
		f.Add([]byte(seed))
	}
	p := &serverEntry{def: Server{Name: "s"}}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		r, err := p.result(raw)
		if err != nil {
			return
		}
		if r.Output != clean(r.Output) {
			t.Errorf("output %q", r.Output)
		}
		var m map[string]json.RawMessage
		if len(r.Metadata) > 0 && json.Unmarshal(r.Metadata, &m) != nil || m["truncated"] != nil {
			t.Errorf("metadata %s", r.Metadata)
		}
	})
}
