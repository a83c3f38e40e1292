package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/workspace"
)

// ToolServers are the MCP servers of a directory. A server that is not known is NotFound, one that
// has no logins Invalid.
type ToolServers interface {
	// ServerStatus returns the status of each server, and starts to connect to unused ones.
	ServerStatus(ctx context.Context, at workspace.Place) (map[string]ServerStatus, error)
	// AddServer adds a server until the program exits, and connects to it.
	AddServer(ctx context.Context, at workspace.Place, name string, settings json.RawMessage) error
	ConnectServer(ctx context.Context, at workspace.Place, name string) error
	DisconnectServer(ctx context.Context, at workspace.Place, name string) error
	// BeginServerLogin returns the page the user must visit, "" if there is no need, and its state.
	BeginServerLogin(ctx context.Context, at workspace.Place, name string) (page, state string, err error)
	// ServerLogin opens that page and waits for the user; EndServerLogin takes the code instead.
	ServerLogin(ctx context.Context, at workspace.Place, name string) error
	EndServerLogin(ctx context.Context, at workspace.Place, name, code string) error
	ServerLogout(ctx context.Context, at workspace.Place, name string) error
	// Resources lists the resources of connected servers, by "server:uri".
	Resources(ctx context.Context, at workspace.Place) (map[string]ServerResource, error)
}

// ServerStatus is the status of an MCP server.
type ServerStatus struct {
	Status string `json:"status" enum:"connected,disabled,failed,needs_auth,needs_client_registration"`
	Error  string `json:"error,omitempty"`
}

func (ServerStatus) schemaName() string { return "MCPStatus" }

// ServerResource is a resource of an MCP server.
type ServerResource struct {
	Name        string `json:"name"`
	URI         string `json:"uri"`
	Description string `json:"description,omitempty"`
	Mime        string `json:"mimeType,omitempty"`
	Server      string `json:"client"`
}

func (ServerResource) schemaName() string { return "McpResource" }

// mcpAPI serves the MCP servers.
type mcpAPI struct{ servers ToolServers }

func (a mcpAPI) routes() []row {
	bad, missing := []failure{failsBad}, []failure{failsBad, failsMissing}
	one := func(method, path, name, summary string) row {
		return route(method+" /mcp/{name}"+path, name, "mcp", mayAll, summary, missing)
	}
	return []row{
		answer(route("GET /mcp", "mcp.status", "mcp", mayRead, "Get the status of the MCP servers", bad), inPlace(a.mcpStatus)),
		answer(route("POST /mcp", "mcp.add", "mcp", mayAll, "Add an MCP server until the program exits", bad), inPlace(a.addMCP)),
		answer(one("POST", "/auth", "mcp.auth.start", "Start a login to an MCP server"), a.mcpLogin),
		answer(one("DELETE", "/auth", "mcp.auth.remove", "Remove the login to an MCP server"), a.mcpLogout),
		answer(one("POST", "/auth/callback", "mcp.auth.callback", "Complete a login to an MCP server with a code"), a.mcpCode),
		answer(one("POST", "/auth/authenticate", "mcp.auth.authenticate", "Log in to an MCP server and wait for it"), a.mcpAuthenticate),
		answer(one("POST", "/connect", "mcp.connect", "Connect to an MCP server"), a.connectMCP),
		answer(one("POST", "/disconnect", "mcp.disconnect", "Disconnect from an MCP server"), a.disconnectMCP),
		answer(route("GET /experimental/resource", "experimental.resource.list", "experimental", mayRead,
			"List the resources of MCP servers", bad), inPlace(a.mcpResources)),
	}
}

func (a mcpAPI) mcpStatus(c *call, at workspace.Place, _, _ none) (map[string]ServerStatus, error) {
	return a.servers.ServerStatus(c.Context(), at)
}

type mcpBody struct {
	Name   string `json:"name"`
	Config object `json:"config"`
}

func (a mcpAPI) addMCP(c *call, at workspace.Place, _ none, in mcpBody) (map[string]ServerStatus, error) {
	switch err := a.servers.AddServer(c.Context(), at, in.Name, json.RawMessage(in.Config)); lathe.CodeOf(err) {
	case lathe.Invalid:
		return nil, badRequest("Payload", "%v", err)
	default: // that it cannot be reached is its state
		return a.servers.ServerStatus(c.Context(), at)
	}
}

// unsupported is the body for a server that has no logins.
type unsupported struct {
	Error string `json:"error"`
}

// ofServer applies a function to the server in the path, and returns errors in the form of this
// family.
func (a mcpAPI) ofServer(c *call, do func(ctx context.Context, at workspace.Place, name string) error) error {
	at, _, err := c.place()
	if err != nil {
		return err
	}
	name := c.PathValue("name")
	all, err := a.servers.ServerStatus(c.Context(), at)
	if err != nil {
		return err
	}
	if _, ok := all[name]; !ok {
		return &problem{
			status: http.StatusNotFound, body: taggedBody{Tag: "McpServerNotFoundError", Server: name, Message: "MCP server not found: " + phrase.Shorten(name, 100)},
			cause: lathe.Errorf(lathe.NotFound, "no MCP server"),
		}
	}
	return do(c.Context(), at, name)
}

// login is ofServer for functions that need a server with logins.
func (a mcpAPI) login(c *call, do func(ctx context.Context, at workspace.Place, name string) error) error {
	err := a.ofServer(c, do)
	if lathe.CodeOf(err) == lathe.Invalid {
		return &problem{status: http.StatusBadRequest, body: unsupported{phrase.Shorten(err.Error(), mostMessage)}, cause: err}
	}
	return err
}

type loginReply struct {
	URL   string `json:"authorizationUrl"`
	State string `json:"oauthState"`
}

func (a mcpAPI) mcpLogin(c *call, _, _ none) (out loginReply, err error) {
	err = a.login(c, func(ctx context.Context, at workspace.Place, name string) error {
		out.URL, out.State, err = a.servers.BeginServerLogin(ctx, at, name)
		return err
	})
	return out, err
}

type goneReply struct {
	Success bool `json:"success"`
}

func (a mcpAPI) mcpLogout(c *call, _, _ none) (goneReply, error) {
	return goneReply{true}, a.ofServer(c, a.servers.ServerLogout)
}

type codeBody struct {
	Code string `json:"code"`
}

func (a mcpAPI) mcpCode(c *call, _ none, in codeBody) (out ServerStatus, err error) {
	err = a.login(c, func(ctx context.Context, at workspace.Place, name string) error {
		if err := a.servers.EndServerLogin(ctx, at, name, in.Code); err != nil {
			return badRequest("Payload", "%v", err)
		}
		out, err = a.statusOf(ctx, at, name)
		return err
	})
	return out, err
}

func (a mcpAPI) mcpAuthenticate(c *call, _, _ none) (out ServerStatus, err error) {
	err = a.login(c, func(ctx context.Context, at workspace.Place, name string) error {
		if err := a.servers.ServerLogin(ctx, at, name); lathe.CodeOf(err) == lathe.Invalid {
			return err
		} // else its state says how it ended
		out, err = a.statusOf(ctx, at, name)
		return err
	})
	return out, err
}

func (a mcpAPI) statusOf(ctx context.Context, at workspace.Place, name string) (ServerStatus, error) {
	all, err := a.servers.ServerStatus(ctx, at)
	return all[name], err
}

// connectMCP always returns true; the status has the result.
func (a mcpAPI) connectMCP(c *call, _, _ none) (bool, error) {
	return true, a.ofServer(c, func(ctx context.Context, at workspace.Place, name string) error {
		_ = a.servers.ConnectServer(ctx, at, name) // its state says why not
		return nil
	})
}

func (a mcpAPI) disconnectMCP(c *call, _, _ none) (bool, error) {
	return true, a.ofServer(c, a.servers.DisconnectServer)
}

func (a mcpAPI) mcpResources(c *call, at workspace.Place, _, _ none) (map[string]ServerResource, error) {
	return a.servers.Resources(c.Context(), at)
}
