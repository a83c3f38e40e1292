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

// screened shows the story in the terminal UI: the prompt is sent, and the user answers what is asked.
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
		// The session is there already: a title of its own would be asked of the script.
		if _, err := d.setup.Engine.Create(ctx, d.Dir, lathe.NewSession{Title: "A failing test"}); err != nil {
			return nil, cli.CloseAfter(d.setup, err)
		}
		return d.setup, nil
	}, func(h api.Host) api.Host { return demoHost{h} })
	if err == nil && !deaf {
		d.tell("Nothing of the demo is left. With a model of your own: `lathe auth login` keeps the key of a provider, and `lathe` begins in any project.")
	}
	return err
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

// demoHost has the scripted model, and else what the one below it knows.
type demoHost struct{ api.Host }

// Providers is the script, which is all there is to choose from in the demo.
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
