package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

// A rule that is unknown is refused, and not taken for one that allows.
func TestSession_UnknownRules(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	for _, rule := range []string{`{"permission":"bash","pattern":"*","action":"denied"}`, `{"permission":"bash","pattern":"*"}`, `{"pattern":"*","action":"deny"}`} {
		w.want(http.StatusBadRequest, nil, "POST", "/session", `{"permission":[`+rule+`]}`).is(w, `{"_tag":"BadRequest"}`)
		if a := w.want(http.StatusBadRequest, nil, "PATCH", "/session/"+string(s.ID), `{"title":"x","permission":[`+rule+`]}`); !strings.Contains(string(a.body), "permission: ") {
			t.Errorf("%s: %s", rule, a.body)
		}
	}
	var now lathe.Session
	w.want(http.StatusOK, &now, "GET", "/session/"+string(s.ID), "")
	if now.Title != s.Title || now.Rules != nil {
		t.Errorf("it is %+v", now)
	}
}

// A time that is none is not written: others could not read it. (trap 11)
func TestSession_ArchivedWhen(t *testing.T) {
	w := begin(t, "")
	s := w.session()
	for _, at := range []string{"-1", "1e300"} {
		w.want(http.StatusBadRequest, nil, "PATCH", "/session/"+string(s.ID), `{"time":{"archived":`+at+`}}`)
	}
	var now lathe.Session
	w.want(http.StatusOK, &now, "GET", "/session/"+string(s.ID), "")
	if now.Archived != nil {
		t.Errorf("archived at %v", *now.Archived)
	}
}

// What is too long to be searched for is the caller's mistake.
func TestSession_LongSearch(t *testing.T) {
	w := begin(t, "")
	w.want(http.StatusOK, nil, "GET", "/session?search="+strings.Repeat("%25", 10_000), "")
	w.want(http.StatusBadRequest, nil, "GET", "/session?search="+strings.Repeat("a", 60_000), "")
}
