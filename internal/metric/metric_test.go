package metric_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/metric"
)

func TestPage(t *testing.T) {
	var h metric.Histogram
	for _, d := range []time.Duration{0, time.Millisecond, 2 * time.Millisecond, time.Hour} {
		h.Observe(d)
	}
	var p metric.Page
	p.Counter("a_total", "What rises.", 3, "model", "say \"x\"\\\n", "kind", "in")
	p.Counter("a_total", "What rises.", 0.5)
	p.Gauge("b", "What is.", 1e9)
	p.Histogram("c_seconds", "How long.", &h, "route", "/x")
	text := string(p.Bytes())
	for _, want := range []string{
		"# HELP a_total What rises.\n# TYPE a_total counter\na_total{model=\"say \\\"x\\\"\\\\\\n\",kind=\"in\"} 3\na_total 0.5\n",
		"# TYPE b gauge\nb 1e+09\n",
		"c_seconds_bucket{route=\"/x\",le=\"0.001\"} 2\n",
		"c_seconds_bucket{route=\"/x\",le=\"0.005\"} 3\n",
		"c_seconds_bucket{route=\"/x\",le=\"300\"} 3\n",
		"c_seconds_bucket{route=\"/x\",le=\"+Inf\"} 4\n",
		"c_seconds_sum{route=\"/x\"} 3600.003\n",
		"c_seconds_count{route=\"/x\"} 4\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no\n%s\nin\n%s", want, text)
		}
	}
	if strings.Count(text, "# HELP a_total") != 1 || h.Count() != 4 {
		t.Errorf("heads are repeated, or not all are counted (%d):\n%s", h.Count(), text)
	}
}
