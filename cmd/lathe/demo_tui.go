package main

import (
	"context"
	"encoding/json"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

// screened shows the story in the terminal program: the prompt is sent, and who looks answers what is asked.
func (d *demo) screened(ctx context.Context) error {
	in, _, err := openScreen(ctx, d.App)
	if err != nil {
		return err
	}
	defer in.close()
	own, tell := offScreen(d.App)
	defer tell()
	d.App = own
	if err := d.listen(); err != nil {
		return err
	}
	defer d.server.Close()
	// The session is there already: a title of its own would be asked of the script.
	ended, err := performTUI(ctx, own, in.file, stage{app: own, flags: tuiFlags{next: true, prompt: demoPrompt}, open: d.openTUI})
	if err == nil && !ended.Deaf {
		d.tell("Nothing of the demo is left. With a model of your own: `lathe auth login` keeps the key of a provider, and `lathe` begins in any project.")
	}
	return err
}

// openTUI opens the engine of the demo behind the screen.
func (d *demo) openTUI(ctx context.Context) (*tuiEngine, error) {
	if err := d.openDemo(ctx); err != nil {
		return nil, err
	}
	if _, err := d.setup.Engine.Create(ctx, d.Dir, lathe.NewSession{Title: "A failing test"}); err != nil {
		return nil, cli.Closing(d.setup, err)
	}
	return openWithin(d.App, d.setup, func(b *server.Backend) { b.Providers = demoShop{b.Providers} }, nil)
}

// farewells are what the script has to say to whoever goes on.
const farewells = 50

// farewell is the answer to what the script does not know.
func farewell() (out modeltest.Script) {
	const words = "That was all of the script, and I have no other words. Look around: the changed file is in the list, and undo takes the change back. With a model of your own, begin with `lathe auth login`."
	for range farewells {
		out = append(out, modeltest.Answer{modeltest.Text{words}, modeltest.Finish("stop")})
	}
	return out
}

// demoShop has the scripted model, and else what the one below it knows.
type demoShop struct{ otherProviders }

// otherProviders is what has the logins, and all else.
type otherProviders = server.Providers

const demoModel = `{"id":"script","providerID":"demo","name":"Scripted model","release_date":"","status":"active","options":{},"headers":{},
"api":{"id":"script","url":"","npm":""},"limit":{"context":200000,"output":8000},"cost":{"input":3,"output":15,"cache":{"read":0.3,"write":0}},
"capabilities":{"temperature":false,"reasoning":true,"attachment":false,"toolcall":true,"input":{"text":true},"output":{"text":true},"interleaved":false}}`

// Providers is the script, which is all there is to choose from in the demo.
func (s demoShop) Providers(ctx context.Context, at workspace.Place, all bool) ([]server.Provider, error) {
	out := []server.Provider{{
		ID: "demo", Name: "Demo", Source: "custom", Env: []string{}, Options: map[string]json.RawMessage{},
		Models: map[string]json.RawMessage{"script": json.RawMessage(demoModel)},
	}}
	if !all {
		return out, nil
	}
	known, err := s.otherProviders.Providers(ctx, at, true)
	return append(out, known...), err
}

// Defaults is the script.
func (demoShop) Defaults(context.Context, workspace.Place) (map[string]string, error) {
	return map[string]string{"demo": "script"}, nil
}
