package harness

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/catalog"
)

// namedClient is a model client whose errors name the provider and what the user can do.
type namedClient struct {
	model.Model
	vendor *catalog.Provider
	inline bool // its key is in the config
}

// Stream sends one request.
func (n namedClient) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for ev, err := range n.Model.Stream(ctx, r) {
			if !yield(ev, n.explain(err)) {
				return
			}
		}
	}
}

// explain adds the provider's name and the remedy to an error and its fault. The code of the error stays.
func (n namedClient) explain(err error) error {
	var e *lathe.Error
	if !errors.As(err, &e) {
		return err
	}
	message := n.words(e)
	if message == e.Message {
		return err
	}
	out := *e
	out.Message, out.Err = message, err
	if api, ok := e.Fault.(*lathe.APIFault); ok {
		reported := *api
		reported.Message = message
		out.Fault = &reported
	}
	return &out
}

func (n namedClient) words(e *lathe.Error) string {
	said := strings.TrimSuffix(strings.TrimSpace(e.Message), ".")
	switch {
	case e.Code == lathe.Unauthorized && n.inline:
		return fmt.Sprintf("%s rejected the API key: %s. The key is provider.%s.options.apiKey in your config; `lathe config path` shows the file", n.vendor.Name, said, n.vendor.ID)
	case e.Code == lathe.Unauthorized:
		return fmt.Sprintf("%s rejected the API key: %s. Save another one with `lathe auth login %s`%s", n.vendor.Name, said, n.vendor.ID, n.variable())
	case e.Code == lathe.Unavailable && strings.HasPrefix(said, "the provider cannot be reached"):
		return fmt.Sprintf("%s%s. Start the server, or check its address (provider.%s.options.baseURL)", n.vendor.Name, strings.TrimPrefix(said, "the provider"), n.vendor.ID)
	case e.Code == lathe.Unavailable && strings.HasPrefix(said, "the connection to the provider failed"):
		return fmt.Sprintf("the connection to %s failed%s. Check your network and its address", n.vendor.Name, strings.TrimPrefix(said, "the connection to the provider failed"))
	}
	return e.Message
}

func (n namedClient) variable() string {
	if len(n.vendor.Env) == 0 {
		return ""
	}
	return ", or set " + n.vendor.Env[0]
}

// nameFailures wraps a client so that its errors name the provider.
func (p *Providers) nameFailures(client model.Model, vendor *catalog.Provider) model.Model {
	inline := p.Settings.Config.Providers[vendor.ID].Options.Text("apiKey") != ""
	return namedClient{client, vendor, inline}
}
