package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/tool/mcp"
	"github.com/lathe-agent/lathe/workspace"
)

// toolServers are real ones, all of which were added by clients.
type toolServers struct{ hub *mcp.Hub }

func (s toolServers) ServerStatus(context.Context, workspace.Place) (map[string]server.ServerStatus, error) {
	out := map[string]server.ServerStatus{}
	for name, st := range s.hub.Status() {
		out[name] = server.ServerStatus{Status: string(st.State.Wire())}
		if st.State == mcp.Failed {
			out[name] = server.ServerStatus{Status: string(st.State), Error: st.Error}
		}
	}
	return out, nil
}

func (s toolServers) AddServer(ctx context.Context, _ workspace.Place, name string, settings json.RawMessage) error {
	c, err := config.ReadMCPServer(settings)
	if err != nil {
		return err
	}
	return s.hub.Add(ctx, mcp.Server{Name: name, Command: c.Command, URL: c.URL, OAuth: mcp.OAuth{Off: c.OAuth.Off}})
}

func (s toolServers) ConnectServer(ctx context.Context, _ workspace.Place, name string) error {
	return s.hub.Connect(ctx, name)
}

func (s toolServers) DisconnectServer(_ context.Context, _ workspace.Place, name string) error {
	return s.hub.Disconnect(name)
}

func (s toolServers) BeginServerLogin(ctx context.Context, _ workspace.Place, name string) (string, string, error) {
	return s.hub.StartLogin(ctx, name)
}

func (s toolServers) ServerLogin(ctx context.Context, _ workspace.Place, name string) error {
	return s.hub.Login(ctx, name, func(string) error { return nil })
}

func (s toolServers) EndServerLogin(ctx context.Context, _ workspace.Place, name, code string) error {
	return s.hub.FinishLogin(ctx, name, code)
}

func (s toolServers) ServerLogout(ctx context.Context, _ workspace.Place, name string) error {
	return s.hub.Logout(ctx, name)
}

func (s toolServers) Resources(ctx context.Context, _ workspace.Place) (map[string]server.ServerResource, error) {
	out := map[string]server.ServerResource{}
	for _, r := range s.hub.Resources(ctx) {
		out[r.Server+":"+r.URI] = server.ServerResource{Name: r.Name, URI: r.URI, Mime: r.Mime, Server: r.Server}
	}
	return out, nil
}

// Clients add servers of tools, see how they are doing, switch them off and on, and learn what went
// wrong in the words of their API.
func TestMCP(t *testing.T) {
	w := begin(t, "")
	remote := sdk.NewServer(&sdk.Implementation{Name: "docs", Version: "1"}, nil)
	remote.AddResource(&sdk.Resource{Name: "a", URI: "docs://a", MIMEType: "text/plain"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{}, nil
	})
	far := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return remote }, nil))
	t.Cleanup(func() {
		w.settings.hub.Close() // whose connection it would wait for
		far.Close()
	})
	w.want(http.StatusOK, nil, "GET", "/mcp", "").is(w, `{}`)
	add := `{"name":"docs","config":{"type":"remote","url":"` + far.URL + `","oauth":false}}`
	w.want(http.StatusOK, nil, "POST", "/mcp", add).is(w, `{"docs":{"status":"connected"}}`)
	w.want(http.StatusOK, nil, "GET", "/experimental/resource", "").is(w, `{"docs:docs://a":{"name":"a","uri":"docs://a","mimeType":"text/plain","client":"docs"}}`)
	w.want(http.StatusOK, nil, "POST", "/mcp/docs/disconnect", "").is(w, `true`)
	w.want(http.StatusOK, nil, "GET", "/mcp", "").is(w, `{"docs":{"status":"disabled"}}`)
	w.want(http.StatusOK, nil, "POST", "/mcp/docs/connect", "").is(w, `true`)
	w.want(http.StatusOK, nil, "GET", "/mcp", "").is(w, `{"docs":{"status":"connected"}}`)
	w.want(http.StatusOK, nil, "DELETE", "/mcp/docs/auth", "").is(w, `{"success":true}`)
	for _, path := range []string{"/mcp/docs/auth", "/mcp/docs/auth/authenticate"} {
		w.want(http.StatusBadRequest, nil, "POST", path, "").is(w, `{"error":"MCP server docs does not use a login (OAuth)"}`)
	}
	w.want(http.StatusBadRequest, nil, "POST", "/mcp/docs/auth/callback", `{"code":"x"}`)
	for _, path := range []string{"/connect", "/disconnect", "/auth", "/auth/authenticate"} {
		w.want(http.StatusNotFound, nil, "POST", "/mcp/some"+path, "").is(w, `{"_tag":"McpServerNotFoundError","name":"some","message":"MCP server not found: some"}`)
	}
	for _, bad := range []string{`{"name":"x","config":{"type":"local"}}`, `{"name":"","config":{"type":"local","command":["x"]}}`, `{"name":"x","config":{"type":"remote","url":"ftp://x"}}`, `{"name":"x"}`} {
		w.want(http.StatusBadRequest, nil, "POST", "/mcp", bad)
	}
	var all map[string]server.ServerStatus
	w.want(http.StatusOK, &all, "POST", "/mcp", `{"name":"gone","config":{"type":"remote","url":"http://127.0.0.1:1/","oauth":false}}`)
	if all["gone"].Status != "failed" && all["gone"].Status != "disabled" {
		t.Errorf("%+v", all)
	}
}
