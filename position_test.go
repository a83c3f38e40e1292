package lathe_test

import (
	"encoding/base64"
	"math"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestPlace_Token(t *testing.T) {
	t.Parallel()
	for _, p := range []lathe.Position{
		{Time: 1768435200000, ID: "msg_1"},
		{Time: 1768435200000.5, ID: "msg_1"},
		{Time: -1, ID: "msg_1"},
		{Time: 0, ID: "msg_1"},
		{Time: 1e300, ID: "msg_1"},
		{Time: math.SmallestNonzeroFloat64, ID: `"<é`},
	} {
		got, err := lathe.ParsePosition(p.Token())
		if err != nil || got != p {
			t.Errorf("%+v became %+v (%v)", p, got, err)
		}
	}
	want := base64.RawURLEncoding.EncodeToString([]byte(`{"id":"msg_1","time":1768435200000}`))
	if got := (lathe.Position{Time: 1768435200000, ID: "msg_1"}).Token(); got != want {
		t.Errorf("the token is %q, want %q", got, want)
	}
	enc := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for _, bad := range []string{
		"", "!", "e30=", enc(`{}`), enc(`{"id":"msg_1"}`), enc(`{"time":1}`), enc(`{"id":"","time":1}`), enc(`{"id":7,"time":1}`),
		enc(`{"id":"msg_1","time":"1"}`), enc(`{"id":"msg_1","time":null}`), enc(`{"id":"msg_1","time":1e999}`),
		enc(`{"id":"msg_1","time":1} x`), enc(`[]`), enc(`null`), enc("\xff"),
	} {
		if got, err := lathe.ParsePosition(bad); lathe.CodeOf(err) != lathe.Invalid || got != (lathe.Position{}) {
			t.Errorf("%q is read as %+v (%v)", bad, got, err)
		}
	}
}
