package api_test

import (
	"testing"
	"time"

	"github.com/lathe-agent/lathe/api"
)

func TestParseLimits(t *testing.T) {
	l := api.ParseLimits([]byte(`{"retry":{"attempts":2},"provider":{"a":{"options":{"timeout":1000,"chunkTimeout":60000}},"b":{"options":{"timeout":false}},"c":{"options":{"timeout":"soon"}}}}`))
	if l.Retries != 2 || l.Silence("a") != time.Minute || l.Silence("b") != 0 || l.Silence("c") != 5*time.Minute {
		t.Errorf("%+v", l)
	}
	if l := api.ParseLimits(nil); l.Retries != 5 || l.Silence("a") != 5*time.Minute {
		t.Errorf("without a config: %+v", l)
	}
}
