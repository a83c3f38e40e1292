package server

import (
	"net/http"

	"github.com/lathe-agent/lathe"
)

// What has no engine yet answers with the true empty value: there is none of it. Each of these
// routes stands in docs/http-differences.md with its reason.

func (s *Server) emptyRoutes() []row {
	list := func(path, name, summary string) row {
		return answer(row{method: "GET", path: path, name: name, tag: "instance", summary: summary, fails: []failure{failsBad}}, s.nothing)
	}
	return append([]row{
		list("/lsp", "lsp.status", "Tell which language servers run"),
		list("/formatter", "formatter.status", "Tell which formatters there are"),
	}, s.mcpRoutes()...)
}

// nothing is an empty list. The directory must be one.
func (s *Server) nothing(c *call, _, _ none) ([]object, error) {
	_, _, err := c.place()
	return nil, err
}

func (s *Server) mcpRoutes() []row {
	missing := []failure{failsBad, failsMissing}
	one := func(method, path, name, summary string) row {
		return answer(row{method: method, path: path, name: name, tag: "mcp", summary: summary, fails: missing}, s.noServer)
	}
	return []row{
		answer(row{
			method: "GET", path: "/mcp", name: "mcp.status", tag: "mcp", summary: "Tell how the MCP servers are doing", fails: []failure{failsBad},
		}, s.mcpStatus),
		answer(row{
			method: "POST", path: "/mcp", name: "mcp.add", tag: "mcp", summary: "Add an MCP server", fails: []failure{failsBad},
		}, s.addMCP),
		one("POST", "/mcp/{name}/auth", "mcp.auth.start", "Begin to log in to an MCP server"),
		one("DELETE", "/mcp/{name}/auth", "mcp.auth.remove", "Forget the login to an MCP server"),
		answer(row{
			method: "POST", path: "/mcp/{name}/auth/callback", name: "mcp.auth.callback", tag: "mcp", fails: missing,
			summary: "End a login to an MCP server with a code",
		}, func(c *call, _ none, _ codeBody) (bool, error) { return s.noServer(c, none{}, none{}) }),
		one("POST", "/mcp/{name}/auth/authenticate", "mcp.auth.authenticate", "Log in to an MCP server and wait for it"),
		one("POST", "/mcp/{name}/connect", "mcp.connect", "Connect to an MCP server"),
		one("POST", "/mcp/{name}/disconnect", "mcp.disconnect", "Disconnect from an MCP server"),
	}
}

type codeBody struct {
	Code string `json:"code"`
}

func (s *Server) mcpStatus(c *call, _, _ none) (map[string]object, error) {
	_, _, err := c.place()
	return nil, err
}

type mcpBody struct {
	Name   string `json:"name"`
	Config object `json:"config"`
}

func (s *Server) addMCP(c *call, _ none, in mcpBody) (map[string]object, error) {
	if _, _, err := c.place(); err != nil {
		return nil, err
	}
	return nil, badRequest("Payload", "This version connects to no MCP servers; %s was not added", clip(in.Name, 100))
}

type tagServer struct {
	Tag     string `json:"_tag"`
	Name    string `json:"name"`
	Message string `json:"message"`
}

// noServer says that there is no MCP server of that name.
func (s *Server) noServer(c *call, _, _ none) (bool, error) {
	if _, _, err := c.place(); err != nil {
		return false, err
	}
	name := c.PathValue("name")
	return false, &problem{status: http.StatusNotFound, body: tagServer{"McpServerNotFoundError", name, "MCP server not found: " + clip(name, 100)}, cause: lathe.Errorf(lathe.NotFound, "no MCP server")}
}
