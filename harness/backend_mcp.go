package harness

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/workspace"
)

// hub returns the MCP servers of a directory, nil if its config names none. With adding it creates an empty hub, for a
// server that a client adds.
func (s *Harness) hub(ctx context.Context, at workspace.Place, adding bool) (*mcp.Hub, error) {
	k, v, err := s.withExtensions(ctx, at)
	if err != nil || v == nil && !adding {
		return nil, err
	}
	if v == nil {
		v = s.addExtensions(ctx, k, at)
	}
	return v.Servers(), nil
}

// ServerStatus returns the state of each MCP server. It starts to connect to the ones that were not used yet.
func (b *backend) ServerStatus(ctx context.Context, at workspace.Place) (map[string]server.ServerStatus, error) {
	out := map[string]server.ServerStatus{}
	h, err := b.setup.hub(ctx, at, false)
	if err != nil || h == nil {
		return out, err
	}
	h.Start()
	for name, s := range h.Status() {
		out[name] = wireStatus(s)
	}
	return out, nil
}

func wireStatus(s mcp.Status) server.ServerStatus {
	out := server.ServerStatus{Status: string(s.State.Wire())}
	if s.State == mcp.Failed || s.State == mcp.NeedsClient {
		out.Error = s.Error
	}
	return out
}

// AddServer adds an MCP server until the program ends.
func (b *backend) AddServer(ctx context.Context, at workspace.Place, name string, settings json.RawMessage) error {
	one, err := config.ReadMCPServer(settings)
	if err != nil {
		return err
	}
	h, err := b.setup.hub(ctx, at, true)
	if err != nil {
		return err
	}
	return h.Add(ctx, serverOf(name, one))
}

// onServer calls a function with the hub of a directory after it has checked the server's name.
func (b *backend) onServer(ctx context.Context, at workspace.Place, name string, do func(*mcp.Hub) error) error {
	h, err := b.setup.hub(ctx, at, false)
	if err != nil {
		return err
	}
	if h == nil {
		return lathe.Errorf(lathe.NotFound, "MCP server %q not found", name)
	}
	return do(h)
}

// ConnectServer connects to an MCP server, even to a disabled one.
func (b *backend) ConnectServer(ctx context.Context, at workspace.Place, name string) error {
	return b.onServer(ctx, at, name, func(h *mcp.Hub) error { return h.Connect(ctx, name) })
}

// DisconnectServer disables an MCP server until it is connected again.
func (b *backend) DisconnectServer(ctx context.Context, at workspace.Place, name string) error {
	return b.onServer(ctx, at, name, func(h *mcp.Hub) error { return h.Disconnect(name) })
}

// BeginServerLogin starts a login and returns its page.
func (b *backend) BeginServerLogin(ctx context.Context, at workspace.Place, name string) (page, state string, err error) {
	err = b.onServer(ctx, at, name, func(h *mcp.Hub) (err error) {
		page, state, err = h.StartLogin(ctx, name)
		return err
	})
	return page, state, err
}

// ServerLogin opens the login page in a browser on this machine and waits for the user.
func (b *backend) ServerLogin(ctx context.Context, at workspace.Place, name string) error {
	return b.onServer(ctx, at, name, func(h *mcp.Hub) error { return h.Login(ctx, name, b.app.Browse) })
}

// EndServerLogin completes a login with the code of its page.
func (b *backend) EndServerLogin(ctx context.Context, at workspace.Place, name, code string) error {
	return b.onServer(ctx, at, name, func(h *mcp.Hub) error { return h.FinishLogin(ctx, name, code) })
}

// ServerLogout deletes a saved login.
func (b *backend) ServerLogout(ctx context.Context, at workspace.Place, name string) error {
	return b.onServer(ctx, at, name, func(h *mcp.Hub) error { return h.Logout(ctx, name) })
}

// Resources lists the resources of connected MCP servers.
func (b *backend) Resources(ctx context.Context, at workspace.Place) (map[string]server.ServerResource, error) {
	out := map[string]server.ServerResource{}
	h, err := b.setup.hub(ctx, at, false)
	if err != nil || h == nil {
		return out, err
	}
	for _, r := range h.Resources(ctx) {
		out[r.Server+":"+r.URI] = server.ServerResource{Name: r.Name, URI: r.URI, Description: r.Description, Mime: r.Mime, Server: r.Server}
	}
	return out, nil
}
