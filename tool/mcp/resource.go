package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
)

// Resource is something a server can be asked to read. A template's URI has places to fill in.
type Resource struct {
	Server      string `json:"server"`
	Name        string `json:"name"`
	URI         string `json:"uri,omitempty"`
	Template    string `json:"uriTemplate,omitempty"`
	Description string `json:"description,omitempty"`
	Mime        string `json:"mimeType,omitempty"`
}

// Content is a part of a resource: a text, or bytes.
type Content struct {
	URI, Mime, Text string
	Blob            []byte // nil for a text
}

// Resources are those of all servers that are connected and have some, by server, name and
// address. A server that does not answer is passed over.
func (h *Hub) Resources(ctx context.Context) []Resource {
	h.look()
	return h.gather(ctx, slices.DeleteFunc(h.resourceful(), func(p *serverEntry) bool { return !p.isConnected() }), resources)
}

// family is one of the two lists of resources.
type family struct{ method, member string }

var (
	resources = family{"resources/list", "resources"}
	templates = family{"resources/templates/list", "resourceTemplates"}
)

// resourceful are the peers that have resources.
func (h *Hub) resourceful() []*serverEntry {
	return slices.DeleteFunc(h.all(), func(p *serverEntry) bool {
		list := p.offers()
		return list == nil || !list.Resources
	})
}

// gather asks peers at once for a list.
func (h *Hub) gather(ctx context.Context, peers []*serverEntry, f family) []Resource {
	lists := make([][]Resource, len(peers))
	var asked sync.WaitGroup
	for i, p := range peers {
		asked.Go(func() { lists[i] = p.resources(ctx, f) })
	}
	asked.Wait()
	out := slices.Concat(lists...)
	slices.SortStableFunc(out, func(a, b Resource) int {
		return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Name, b.Name), strings.Compare(a.URI+a.Template, b.URI+b.Template))
	})
	return out
}

func (p *serverEntry) resources(ctx context.Context, f family) (out []Resource) {
	limited, cancel := context.WithTimeoutCause(ctx, p.timeout(), p.slow("to list its resources"))
	defer cancel()
	l, err := p.connected(limited)
	if err == nil {
		_, err = l.pages(limited, f.method, f.member, mostResources, func(raw json.RawMessage) {
			if r, ok := readResource(raw); ok {
				r.Server = p.def.Name
				out = append(out, r)
			}
		})
	}
	if err != nil && ctx.Err() == nil {
		p.hub.o.Log.Warn("mcp resources could not be listed", "server", p.def.Name, "error", p.show(err))
	}
	return out
}

func readResource(raw json.RawMessage) (Resource, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return Resource{}, false
	}
	r := Resource{
		Name: line(textOf(m["name"]), 300), URI: textOf(m["uri"]), Template: textOf(m["uriTemplate"]),
		Description: line(textOf(m["description"]), 1000), Mime: line(textOf(m["mimeType"]), 100),
	}
	at := r.URI + r.Template
	return r, at != "" && len(at) <= 4096 && clean(at) == at
}

// ReadResource reads a resource of a server.
func (h *Hub) ReadResource(ctx context.Context, server, uri string) ([]Content, error) {
	p, err := h.peer(server)
	if err != nil {
		return nil, err
	}
	raw, err := p.once(ctx, "resources/read", &question{URI: uri})
	if err != nil {
		return nil, err
	}
	var a struct {
		Contents []blob `json:"contents"`
	}
	if json.Unmarshal(raw, &a) != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "MCP server %s sent a resource that cannot be read", server)
	}
	var out []Content
	for _, b := range a.Contents {
		c := Content{URI: clean(b.URI), Mime: line(b.Mime, 100), Text: clean(b.Text)}
		if b.Blob != "" {
			if c.Blob, err = base64.StdEncoding.DecodeString(b.Blob); err != nil {
				return nil, lathe.Errorf(lathe.Unavailable, "MCP server %s sent a resource that cannot be read", server)
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// resourceTools are the names of the tools with which a model reads resources.
var resourceTools = []string{"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"}

type listInput struct {
	Server string `json:"server,omitempty" jsonschema:"the name of an MCP server, all of them if absent"`
}

type readInput struct {
	Server string `json:"server" jsonschema:"the name of the MCP server that has the resource"`
	URI    string `json:"uri" jsonschema:"the address of the resource, as list_mcp_resources tells it"`
}

func (h *Hub) resourceTools() []tool.Tool {
	return []tool.Tool{
		h.listTool(tool.Spec{
			Name:        resourceTools[0],
			Description: "List the resources of connected MCP servers: documents and data for read_mcp_resource. Returns JSON with name, uri and server.",
		}, "MCP resources", resources),
		h.listTool(tool.Spec{
			Name:        resourceTools[1],
			Description: "List the resource templates of connected MCP servers: URIs with {placeholders} to fill in, for read_mcp_resource. Returns JSON.",
		}, "MCP resource templates", templates),
		tool.Define(tool.Spec{
			Name:        resourceTools[2],
			Description: "Read a resource of an MCP server. Returns text; attaches images and PDF files.",
			Permission:  "read",
		}, h.readTool),
	}
}

func (h *Hub) listTool(spec tool.Spec, title string, f family) tool.Tool {
	spec.Permission = "read"
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in listInput) (tool.Result, error) {
		peers, title := h.resourceful(), title
		if in.Server != "" {
			title += ": " + in.Server
			peers = slices.DeleteFunc(peers, func(p *serverEntry) bool { return p.def.Name != in.Server })
			if len(peers) == 0 {
				return tool.Result{}, h.without(in.Server)
			}
		}
		var patterns, names []string
		for _, p := range peers {
			names = append(names, p.def.Name)
			patterns = append(patterns, "mcp:"+p.def.Name+":*")
		}
		asked := object(map[string]any{"server": in.Server})
		if err := c.Host.Ask(ctx, tool.Permission{Name: "read", Patterns: patterns, Always: patterns, Metadata: asked}); err != nil {
			return tool.Result{}, err
		}
		found := h.gather(ctx, peers, f)
		if ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		if found == nil {
			found = []Resource{}
		}
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(map[string][]Resource{f.member: found}); err != nil {
			return tool.Result{}, err
		}
		return tool.Result{
			Title: title, Output: strings.TrimSpace(text.String()), Metadata: object(map[string]any{"count": len(found), "servers": names, "server": in.Server}),
		}, nil
	})
}

// without says that a server has no resources and which have, for a model that guessed.
func (h *Hub) without(server string) error {
	var names []string
	for _, p := range h.resourceful() {
		names = append(names, p.def.Name)
	}
	those := "None has."
	if len(names) > 0 {
		those = "Servers with resources: " + strings.Join(names, ", ") + "."
	}
	return tool.Failf("No connected MCP server named %q has resources. %s", phrase.Shorten(server, 100), those)
}

// object encodes metadata without members that are empty texts.
func object(m map[string]any) json.RawMessage {
	for k, v := range m {
		if v == "" {
			delete(m, k)
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return nil // texts and numbers: it cannot happen
	}
	return out
}

// readTool is the tool by which a model reads a resource of a server.
func (h *Hub) readTool(ctx context.Context, c *tool.Call, in readInput) (tool.Result, error) {
	if !slices.ContainsFunc(h.resourceful(), func(p *serverEntry) bool { return p.def.Name == in.Server }) {
		return tool.Result{}, h.without(in.Server)
	}
	p := tool.Permission{
		Name: "read", Patterns: []string{"mcp:" + in.Server + ":" + in.URI}, Always: []string{"mcp:" + in.Server + ":*"},
		Metadata: object(map[string]any{"server": in.Server, "uri": in.URI}),
	}
	if err := c.Host.Ask(ctx, p); err != nil {
		return tool.Result{}, err
	}
	parts, err := h.ReadResource(ctx, in.Server, in.URI)
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	case err != nil:
		return tool.Result{}, tool.Failf("The resource was not read: %s", err.Error())
	}
	var out pieces
	for _, part := range parts {
		head := fmt.Sprintf("%s (%s)", line(part.URI, 2000), cmp.Or(part.Mime, "unknown type"))
		if part.Blob == nil {
			out.text(head + "\n" + part.Text)
			continue
		}
		before := len(out.files)
		out.blob(blob{URI: part.URI, Mime: part.Mime, Blob: base64.StdEncoding.EncodeToString(part.Blob)})
		if len(out.files) > before {
			out.text(head + "\n[attached]")
		}
	}
	return tool.Result{
		Title: "MCP resource: " + in.URI, Output: strings.Join(out.texts, "\n\n"), Attachments: out.files,
		Metadata: object(map[string]any{"server": in.Server, "uri": in.URI, "contents": len(parts), "attachments": len(out.files)}),
	}, nil
}
