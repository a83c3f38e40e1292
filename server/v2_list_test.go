package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

// family is what the lists do not use, under a name that leaves the methods room.
type family = interface{ server.Providers }

// known are providers that never change; the rest of the family is tested with the program.
type known struct {
	family
	usable []server.Provider
	err    error
}

func (k known) Providers(context.Context, workspace.Place, bool) ([]server.Provider, error) {
	return k.usable, k.err
}

func (k known) Integrations(context.Context, workspace.Place) ([]server.Integration, error) {
	return []server.Integration{{
		ID: "own", Name: "Own",
		Methods:     []server.IntegrationMethod{{Type: "oauth", ID: "own", Label: "Log in"}, {Type: "key", Label: "API key"}, {Type: "env", Names: []string{"OWN_KEY"}}},
		Connections: []server.Connection{{Type: "credential", ID: "own", Label: "API key"}, {Type: "env", Name: "OWN_KEY"}},
	}}, k.err
}

// skills are commands and skills that never change.
type skills struct {
	server.Engine
	err error
}

func (k skills) Commands(context.Context, string) ([]lathe.Command, error) {
	return []lathe.Command{
		{Name: "greet", Description: "Greets", Template: "Greet $1", Agent: "build", Model: "own/big/one", Subtask: lathe.Yes, Source: lathe.CommandOwn},
		{Name: "bake", Template: "Bake.", Source: lathe.CommandSkill},
		{Name: "sew", Template: "Mine.", Source: lathe.CommandOwn},
	}, k.err
}

func (k skills) Skills(context.Context, string) ([]lathe.Skill, error) {
	return []lathe.Skill{
		{Name: "bake", Description: "Bakes", Location: "/s/bake/SKILL.md", Content: "Bake."},
		{Name: "sew", Location: "<built-in>", Content: "Sew."},
	}, k.err
}

// v2Lists is a server whose lists are known.
func v2Lists(t *testing.T, err error) *fixture {
	w := begin(t, "")
	half := 0.5
	w.settings.agents = []lathe.Agent{
		{
			Name: "build", Description: "Builds", Mode: lathe.Primary, Prompt: "Build.", Color: "#12abEF", Steps: 3, Temperature: &half,
			Model: &lathe.ModelRef{Provider: "own", Model: "big"}, Variant: "high", Options: json.RawMessage(`{"effort":"low","apiKey":"secret"}`),
			Rules: lathe.Ruleset{{Permission: "bash", Pattern: "ls *", Action: lathe.Allow}},
		},
		{Name: "bare", Mode: lathe.Subagent, Hidden: lathe.Yes, Color: "mauve"},
	}
	w.settings.loaded.Config.References = map[string]config.Reference{
		"lib":  {Path: "/src/lib", Description: "The library", Hidden: true},
		"away": {Repository: "https://example.com/away.git"},
		"aux":  {Path: "/src/aux"},
	}
	w.settings.err = err
	b := w.backend
	b.Config, b.Engine = &w.settings, skills{b.Engine, err}
	b.Providers = known{err: err, usable: []server.Provider{
		{
			ID: "own", Name: "Own", Source: "api", Package: "@ai-sdk/openai", Address: "https://dev:secret@example.com/v1?key=secret",
			Options: map[string]json.RawMessage{"timeout": json.RawMessage("7"), "apiKey": json.RawMessage(`"secret"`)},
			Models: map[string]json.RawMessage{"old": json.RawMessage(`{"id":"old","providerID":"own","name":"Old","api":{"id":"old-1","url":"","npm":"@ai-sdk/openai"},
				"capabilities":{"toolcall":false,"input":{"text":true},"output":{"text":true}},"cost":{"input":0,"output":0,"cache":{"read":0,"write":0}},
				"limit":{"context":10,"output":5},"status":"beta","options":{},"headers":{},"release_date":""}`)},
		},
		{ID: "more", Name: "More", Package: "p", Address: "https://example.com", Options: map[string]json.RawMessage{"baseURL": json.RawMessage(`"http://dev:secret@localhost:1/v1"`)}, Models: map[string]json.RawMessage{"big": json.RawMessage(`{"id":"big","providerID":"more","name":"Big","family":"b",
			"api":{"id":"big-1","url":"https://dev:secret@example.com","npm":"p"},"capabilities":{"toolcall":true,"input":{"text":true,"pdf":true},"output":{"text":true}},
			"cost":{"input":1.5,"output":2,"cache":{"read":0.1,"write":0},"experimentalOver200K":{"input":3,"output":4,"cache":{"read":0,"write":0}}},
			"limit":{"context":1000,"input":900,"output":100},"status":"active","options":{"a":1},"headers":{"x":"y"},"release_date":"2025-10-01",
			"variants":{"low":{"effort":"low"},"high":{"effort":"high","apiKey":"secret"}}}`)}},
	}}
	w.serve(b, server.Options{Directory: w.dir})
	return w
}

func TestV2_Lists(t *testing.T) {
	w := v2Lists(t, nil)
	where, _ := json.Marshal(w.dir)
	head := `{"location":{"directory":` + string(where) + `,"project":{"id":"global","directory":"/"}},"data":`
	for name, want := range map[string]string{
		"agent": `[{"id":"build","model":{"id":"big","providerID":"own","variant":"high"},"request":{"headers":{},"body":{"effort":"low","temperature":0.5}},` +
			`"system":"Build.","description":"Builds","mode":"primary","hidden":false,"color":"#12abEF","steps":3,` +
			`"permissions":[{"action":"bash","resource":"ls *","effect":"allow"}]},` +
			`{"id":"bare","request":{"headers":{},"body":{}},"mode":"subagent","hidden":true,"permissions":[]}]`,
		"command": `[{"name":"greet","template":"Greet $1","description":"Greets","agent":"build","model":{"id":"big/one","providerID":"own"},"subtask":true},` +
			`{"name":"bake","template":"Bake."},{"name":"sew","template":"Mine."}]`,
		"skill": `[{"name":"bake","description":"Bakes","slash":true,"location":"/s/bake/SKILL.md","content":"Bake."},` +
			`{"name":"sew","location":"<built-in>","content":"Sew."}]`,
		"reference": `[{"name":"aux","path":"/src/aux","source":{"type":"local","path":"/src/aux"}},` +
			`{"name":"lib","path":"/src/lib","description":"The library","hidden":true,"source":{"type":"local","path":"/src/lib","description":"The library","hidden":true}}]`,
		"provider": `[{"id":"own","integrationID":"own","name":"Own","api":{"type":"aisdk","package":"@ai-sdk/openai","url":"https://example.com/v1","settings":{"timeout":7}},` +
			`"request":{"headers":{},"body":{}}},` +
			`{"id":"more","integrationID":"more","name":"More","api":{"type":"aisdk","package":"p","url":"http://localhost:1/v1"},"request":{"headers":{},"body":{}}}]`,
		"model": `[{"id":"big","providerID":"more","family":"b","name":"Big","api":{"id":"big-1","type":"aisdk","package":"p","url":"https://example.com"},` +
			`"capabilities":{"tools":true,"input":["text","pdf"],"output":["text"]},"request":{"headers":{"x":"y"},"body":{"a":1}},` +
			`"variants":[{"id":"high","headers":{},"body":{"effort":"high"}},{"id":"low","headers":{},"body":{"effort":"low"}}],"time":{"released":1759276800000},` +
			`"cost":[{"input":1.5,"output":2,"cache":{"read":0.1,"write":0}},{"tier":{"type":"context","size":200000},"input":3,"output":4,"cache":{"read":0,"write":0}}],` +
			`"status":"active","enabled":true,"limit":{"context":1000,"input":900,"output":100}},` +
			`{"id":"old","providerID":"own","name":"Old","api":{"id":"old-1","type":"aisdk","package":"@ai-sdk/openai"},` +
			`"capabilities":{"tools":false,"input":["text"],"output":["text"]},"request":{"headers":{},"body":{}},"variants":[],"time":{"released":0},` +
			`"cost":[{"input":0,"output":0,"cache":{"read":0,"write":0}}],"status":"beta","enabled":true,"limit":{"context":10,"output":5}}]`,
		"integration": `[{"id":"own","name":"Own","methods":[{"type":"oauth","id":"own","label":"Log in"},{"type":"key","label":"API key"},{"type":"env","names":["OWN_KEY"]}],` +
			`"connections":[{"type":"credential","id":"own","label":"API key"},{"type":"env","name":"OWN_KEY"}]}]`,
	} {
		w.want(http.StatusOK, nil, "GET", "/api/"+name+"?location[directory]="+w.dir, "").is(w, head+want+"}")
	}
}

// Settings that cannot be read are reported on every list, and none of them is empty then.
func TestV2_ListsFail(t *testing.T) {
	w := v2Lists(t, errors.New("no"))
	for _, name := range []string{"agent", "command", "skill", "reference", "provider", "model", "integration"} {
		w.want(http.StatusInternalServerError, nil, "GET", "/api/"+name, "")
		w.want(http.StatusBadRequest, nil, "GET", "/api/"+name+"?location[directory]=/no/such/folder", "")
	}
}
