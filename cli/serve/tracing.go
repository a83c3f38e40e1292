package serve

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/otlp"
)

// openTracer returns the trace exporter; node is the address of this node of a cluster, "" for a server of its own. It returns nil unless both the config (or the flag) and the environment ask
// for it, since the variable alone may be meant for another program.
func openTracer(a *cli.App, wanted bool, node string) (*otlp.Tracer, error) {
	endpoint := a.Env("OTEL_EXPORTER_OTLP_ENDPOINT")
	if !wanted {
		return nil, nil
	}
	if u, err := url.Parse(endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, cli.Usagef("traces need OTEL_EXPORTER_OTLP_ENDPOINT: the address of an OTLP/HTTP collector, such as http://127.0.0.1:4318")
	}
	return otlp.Open(otlp.Options{
		Endpoint: endpoint, Headers: otelHeaders(a.Env("OTEL_EXPORTER_OTLP_HEADERS")), Service: cmp.Or(a.Env("OTEL_SERVICE_NAME"), "lathe"), Version: a.Version, Instance: node,
		Client: &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}, Log: a.Log,
	}), nil
}

// otelHeaders parses name=value,name=value with escaped values.
func otelHeaders(list string) map[string]string {
	out := map[string]string{}
	for one := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(one), "=")
		if !ok {
			continue
		}
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		out[strings.TrimSpace(name)] = value
	}
	return out
}
