package api

import (
	"encoding/json"
	"time"
)

// Limits are the limits of requests to models that front ends show.
type Limits struct {
	Retries int                      // attempts after the first one
	silence map[string]time.Duration // by provider, where the config sets it
}

// The limits without a config.
const (
	defaultRetries = 5
	defaultSilence = 5 * time.Minute
)

// ParseLimits reads the limits from a config as JSON. Members of another form are ignored: the engine reports them.
func ParseLimits(config []byte) Limits {
	var c struct {
		Retry struct{ Attempts *int }
		// A timeout is a number of milliseconds, or false.
		Provider map[string]struct{ Options map[string]json.RawMessage }
	}
	_ = json.Unmarshal(config, &c)
	out := Limits{Retries: defaultRetries, silence: map[string]time.Duration{}}
	if c.Retry.Attempts != nil && *c.Retry.Attempts != 0 {
		out.Retries = max(0, *c.Retry.Attempts)
	}
	for id, p := range c.Provider {
		for _, name := range []string{"timeout", "chunkTimeout"} { // the second wins
			var ms float64
			switch raw := p.Options[name]; {
			case string(raw) == "false":
				out.silence[id] = 0
			case json.Unmarshal(raw, &ms) == nil && ms > 0:
				out.silence[id] = time.Duration(ms) * time.Millisecond
			}
		}
	}
	return out
}

// Silence is how long a provider may send nothing before the request fails; 0 for any time.
func (l Limits) Silence(provider string) time.Duration {
	if d, ok := l.silence[provider]; ok {
		return d
	}
	return defaultSilence
}
