package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
)

const (
	mostAttachment  = 10 << 20 // bytes of one file
	mostAttachments = 20
	mostMetadata    = 64 << 10
)

// content is a piece of what a server sends back.
type content struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Data     string          `json:"data"`
	Mime     string          `json:"mimeType"`
	URI      string          `json:"uri"`
	Name     string          `json:"name"`
	Resource json.RawMessage `json:"resource"`
}

// blob is the content of a resource, a text or bytes.
type blob struct {
	URI  string `json:"uri"`
	Mime string `json:"mimeType"`
	Text string `json:"text"`
	Blob string `json:"blob"`
}

// result makes a result of an answer to tools/call.
func (p *serverEntry) result(raw json.RawMessage) (tool.Result, error) {
	var a struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		Meta       json.RawMessage   `json:"_meta"`
		Metadata   json.RawMessage   `json:"metadata"`
		Kind       string            `json:"resultType"`
		IsError    bool              `json:"isError"`
	}
	if !isObject(raw) || json.Unmarshal(raw, &a) != nil {
		return tool.Result{}, tool.Failf("MCP server %s sent an answer that cannot be read. The call was made.", p.def.Name)
	}
	if a.Kind == "input_required" {
		return tool.Result{}, tool.Failf("MCP server %s asks for user input, which is not supported. Ask the user, and call it with the answer.", p.def.Name)
	}
	var out pieces
	for _, item := range a.Content {
		out.add(item)
	}
	if len(a.Content) == 0 && present(a.Structured) {
		out.text(string(a.Structured))
	}
	output := strings.Join(out.texts, "\n\n")
	if a.IsError {
		if strings.TrimSpace(output) == "" {
			output = "MCP server " + p.def.Name + " says that the call failed and does not say why."
		}
		return tool.Result{}, &tool.Failure{Text: phrase.Shorten(output, mostError)}
	}
	return tool.Result{Output: output, Metadata: metadata(a.Metadata, a.Meta), Attachments: out.files}, nil
}

// pieces gathers what contents come to.
type pieces struct {
	texts []string
	files []*lathe.File
}

func (o *pieces) text(s string) { o.texts = append(o.texts, clean(s)) }

func (o *pieces) add(raw json.RawMessage) {
	var c content
	if json.Unmarshal(raw, &c) != nil {
		o.text("[a part of the answer cannot be read]")
		return
	}
	switch c.Type {
	case "text":
		o.text(c.Text)
	case "image":
		o.file(c.Mime, c.Data, "", strings.HasPrefix(c.Mime, "image/"))
	case "resource":
		var b blob
		if json.Unmarshal(c.Resource, &b) != nil {
			o.text("[a resource cannot be read]")
			return
		}
		o.blob(b)
	case "resource_link":
		o.text(fmt.Sprintf("[resource %s: %s]", line(c.Name, 200), line(c.URI, 2000)))
	default: // sound, and what is still to be invented
		o.text(fmt.Sprintf("[%s %s, which cannot be shown]", line(c.Type, 50), line(c.Mime, 100)))
	}
}

// blob adds a resource: its text, or a file where models can see such ones.
func (o *pieces) blob(b blob) {
	if b.Blob == "" {
		o.text(b.Text)
		return
	}
	seen := slices.Contains([]string{"application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp"}, b.Mime)
	o.file(b.Mime, b.Blob, clean(phrase.Shorten(b.URI, 2000)), seen)
}

// file adds an attachment, or says why there is none.
func (o *pieces) file(mime, data, name string, seen bool) {
	size := base64.StdEncoding.DecodedLen(len(data))
	what := fmt.Sprintf("[%s %s, %d bytes", line(mime, 100), line(name, 300), size)
	switch {
	case !seen || strings.ContainsAny(mime, " ;,\"\r\n"):
		o.text(what + ": not of a kind that can be shown]")
	case size > mostAttachment:
		o.text(what + ": larger than 10 MiB]")
	case len(o.files) >= mostAttachments:
		o.text(what + ": more files than are taken]")
	case !isBase64(data):
		o.text(what + ": it cannot be read]")
	default:
		o.files = append(o.files, &lathe.File{Mime: mime, URL: "data:" + mime + ";base64," + data, Filename: name})
	}
}

func isBase64(s string) bool {
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil
}

// metadata is what a server tells clients beside its answer. Members with which tools speak to
// what surrounds them are not a server's to set.
func metadata(raws ...json.RawMessage) json.RawMessage {
	for _, raw := range raws {
		var m map[string]json.RawMessage
		if len(raw) > mostMetadata || !isObject(raw) || json.Unmarshal(raw, &m) != nil {
			continue
		}
		for _, ours := range []string{"truncated", "outputPath", "progressToken"} {
			delete(m, ours)
		}
		if out, err := json.Marshal(m); err == nil && len(m) > 0 {
			return out
		}
	}
	return nil
}
