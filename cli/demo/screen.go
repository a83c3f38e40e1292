package demo

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/screen"
	"github.com/lathe-agent/lathe/harness"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// screened runs the demo in the terminal UI: it sends the prompt, and the user answers requests.
func (d *demo) screened(ctx context.Context) error {
	if err := d.listen(); err != nil {
		return err
	}
	defer d.server.Close()
	deaf, err := screen.Show(ctx, d.App, demoPrompt, func(ctx context.Context, own *cli.App) (*harness.Harness, error) {
		d.App = own
		if err := d.openDemo(ctx); err != nil {
			return nil, err
		}
		// The session exists already, because generating a title would consume the script.
		if _, err := d.setup.Engine.Create(ctx, d.Dir, lathe.NewSession{Title: "A failing test"}); err != nil {
			return nil, cli.CloseAfter(d.setup, err)
		}
		return d.setup, nil
	}, func(h api.Host) api.Host { return demoHost{h} })
	if err == nil && !deaf {
		d.printText("The demo is over. Next: save an API key with `lathe auth login`, then run `lathe` in any project.")
	}
	return err
}

// farewells is the number of answers after the end of the script.
const farewells = 50

// farewell is the answer to further prompts.
func farewell() (out modeltest.Script) {
	const words = "This is the end of the script. Look around: the changed file is in the list, and undo reverts the change. To use a real model, run `lathe auth login`."
	for range farewells {
		out = append(out, modeltest.Answer{modeltest.Text{words}, modeltest.Finish("stop")})
	}
	return out
}

// demoHost adds the scripted model to the terminal UI's engine.
type demoHost struct{ api.Host }

// Providers returns only the scripted model.
func (h demoHost) Providers(ctx context.Context, dir string) (lathe.Providers, error) {
	known, err := h.Host.Providers(ctx, dir)
	script := lathe.Provider{ID: "demo", Name: "Demo", Models: []lathe.Model{{
		Ref: lathe.ModelRef{Provider: "demo", Model: "script"}, Name: "Scripted model", Reasoning: true,
		Context: 200_000, Output: 8000, InputPrice: 3, OutputPrice: 15, CacheReadPrice: 0.3,
	}}}
	return lathe.Providers{
		Connected: []lathe.Provider{script}, All: append([]lathe.Provider{{ID: script.ID, Name: script.Name}}, known.All...),
		Default: map[string]string{"demo": "script"}, Model: known.Model,
	}, err
}
