package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/server"
)

// asked keeps what a report was asked for.
type asked struct{ text string }

func (a *asked) Totals(_ context.Context, days int, zone *time.Location) (json.RawMessage, error) {
	a.text = time.Duration(days*24*int(time.Hour)).String() + time.Date(2026, 1, 1, 0, 0, 0, 0, zone).Format(" -0700")
	return json.RawMessage(`{"sessions":1}`), nil
}

func TestUsage(t *testing.T) {
	w, got := begin(t, ""), &asked{}
	w.want(http.StatusServiceUnavailable, nil, "GET", "/lathe/usage", "")
	b := w.backend
	b.Usage = got
	w.serve(b, server.Options{Directory: w.dir})
	for query, want := range map[string]string{"": "720h0m0s +0000", "?days=7&offset=330": "168h0m0s +0530", "?offset=-60": "720h0m0s -0100"} {
		if w.want(http.StatusOK, nil, "GET", "/lathe/usage"+query, "").is(w, `{"sessions":1}`); got.text != want {
			t.Errorf("%q asks for %q, not %q", query, got.text, want)
		}
	}
	got.text = ""
	for _, query := range []string{"days=367", "days=-1", "days=x", "offset=961", "offset=-9223372036854775808", "offset=../../etc", "days=99999999999999999999"} {
		w.want(http.StatusBadRequest, nil, "GET", "/lathe/usage?"+query, "")
	}
	if got.text != "" {
		t.Errorf("a bad request asks for %q", got.text)
	}
}
