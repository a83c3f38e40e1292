package harness

import (
	"context"
	"errors"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/catalog"
)

// Failures name the provider and what to do; what they mean to retries and exit codes stays.
func TestProviderWords(t *testing.T) {
	vendor := &catalog.Provider{ID: "acme", Name: "Acme AI", Env: []string{"ACME_KEY"}}
	key := model.Failure{Provider: "acme", Status: 401, Message: "Incorrect API key provided."}.Error()
	refused := model.TransportError(context.Background(), errors.New("dial tcp: connection refused"))
	for _, tt := range []struct {
		err    error
		inline bool
		want   string
	}{
		{key, false, "Acme AI rejected the API key: Incorrect API key provided. Save another one with `lathe auth login acme`, or set ACME_KEY"},
		{key, true, "Acme AI rejected the API key: Incorrect API key provided. The key is provider.acme.options.apiKey in your config; `lathe config path` shows the file"},
		{refused, false, "Acme AI cannot be reached: the connection was refused. Start the server, or check its address (provider.acme.options.baseURL)"},
		{model.TransportError(context.Background(), errors.New("no such host")), false, "the connection to Acme AI failed: no such host. Check your network and its address"},
		{model.Failure{Status: 429, Message: "slow down"}.Error(), false, "slow down"},
		{context.Canceled, false, "context canceled"},
	} {
		got := namedClient{vendor: vendor, inline: tt.inline}.explain(tt.err)
		if got.Error() != tt.want || lathe.CodeOf(got) != lathe.CodeOf(tt.err) {
			t.Errorf("%q (%s), not %q", got, lathe.CodeOf(got), tt.want)
		}
		var e *lathe.Error
		if errors.As(got, &e) && e.Fault != nil && lathe.FaultMessage(e.Fault) != tt.want {
			t.Errorf("the answer shows %q", lathe.FaultMessage(e.Fault))
		}
	}
	if (namedClient{vendor: vendor}).explain(nil) != nil {
		t.Error("nothing became an error")
	}
}
