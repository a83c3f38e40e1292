package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/grant"
)

// TestGrant_Attacks tries to save more than a person was shown: patterns that hide or match something else, other permissions,
// foreign and unknown sessions, answers that were already given. The positive control is a grant that works.
func TestGrant_Attacks(t *testing.T) {
	w := begin(t, `call ask {"permission":"look","patterns":["a/b"],"always":["a/*"]}
finish tool-calls
--
text "done"
finish stop`)
	s, other := w.session(), w.session()
	l := w.listen("/event")
	w.want(http.StatusNoContent, nil, "POST", "/session/"+string(s.ID)+"/prompt_async", prompt("hi"))
	all := l.until("permission.asked")
	id := string(all[len(all)-1].Fact.(*lathe.PermissionAsked).ID)
	path := "/lathe/permission/" + id + "/grant"
	for name, body := range map[string]string{
		"no scope": `{}`, "unknown scope": `{"scope":"forever"}`, "empty pattern": `{"scope":"session","patterns":[""]}`,
		"another request": `{"scope":"session","patterns":["b/*"]}`, "one of them": `{"scope":"session","patterns":["a/*","secret/*"]}`,
		"escape sequence": `{"scope":"project","patterns":["a/*\u001b[8m"]}`, "right to left": `{"scope":"project","patterns":["a/\u202e*"]}`,
		"null character": `{"scope":"session","patterns":["a\u0000*"]}`, "huge": `{"scope":"session","patterns":["` + strings.Repeat("a", 5000) + `*"]}`,
		"not a list": `{"scope":"session","patterns":"a/*"}`,
	} {
		if a := w.ask("POST", path, body); a.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, a.StatusCode)
		}
	}
	for _, path := range []string{"/lathe/permission/per_unknown/grant", "/lathe/permission/que_1/grant", "/lathe/permission/" + string(s.ID) + "/grant"} {
		if a := w.ask("POST", path, `{"scope":"session"}`); a.StatusCode != http.StatusNotFound && a.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", path, a.StatusCode)
		}
	}
	w.want(http.StatusOK, nil, "GET", "/lathe/grant", "").is(w, "[]") // nothing of it was saved

	w.want(http.StatusOK, nil, "POST", path, `{"scope":"session"}`).is(w, "true")
	all = l.until("permission.replied")
	if f := all[len(all)-1].Fact.(*lathe.PermissionReplied); f.Reply != lathe.Once {
		t.Errorf("clients see the reply %q", f.Reply)
	}
	w.want(http.StatusNotFound, nil, "POST", path, `{"scope":"project","patterns":["*"]}`) // a replay
	want := []grant.Grant{{Permission: "look", Pattern: "a/*", Session: s.ID}}
	var got []grant.Grant
	w.want(http.StatusOK, &got, "GET", "/lathe/grant", "")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("saved (-want +got):\n%s", diff)
	}
	w.want(http.StatusOK, nil, "GET", "/lathe/grant?sessionID="+string(other.ID), "").is(w, "[]")
}

// TestGrant_AddAttacks adds and revokes saved permissions by hand.
func TestGrant_AddAttacks(t *testing.T) {
	w := begin(t, "")
	s, other := w.session(), w.session()
	body := func(permission, pattern string, id lathe.SessionID) string {
		return `{"permission":"` + permission + `","pattern":"` + pattern + `","sessionID":"` + string(id) + `"}`
	}
	for _, in := range []string{
		`{}`, `[]`, body("", "x", s.ID), body("*", "x", s.ID), body("sandbox", "x", s.ID), body("sand?ox", "x", ""), body("bash", "", s.ID),
		body("bash", `a\u001b[2J`, s.ID), body("bash", "x", "per_1"), body("bash", "x", "../../x"), body("bash", strings.Repeat("x", 5000), s.ID),
	} {
		if a := w.ask("POST", "/lathe/grant", in); a.StatusCode != http.StatusBadRequest {
			t.Errorf("%.60s: status %d", in, a.StatusCode)
		}
	}
	w.want(http.StatusNotFound, nil, "POST", "/lathe/grant", body("bash", "x", "ses_0000000000000000000000000"))
	w.want(http.StatusOK, nil, "GET", "/lathe/grant", "").is(w, "[]")

	w.want(http.StatusOK, nil, "POST", "/lathe/grant", body("edit", "*", s.ID)).is(w, "true")
	w.want(http.StatusNotFound, nil, "POST", "/lathe/grant/revoke", body("edit", "*", other.ID))
	w.want(http.StatusNotFound, nil, "POST", "/lathe/grant/revoke", `{"permission":"edit","pattern":"*"}`)
	w.want(http.StatusOK, nil, "GET", "/lathe/grant?sessionID="+string(other.ID), "").is(w, "[]")
	w.want(http.StatusOK, nil, "POST", "/lathe/grant/revoke", body("edit", "*", s.ID)).is(w, "true")
	w.want(http.StatusOK, nil, "GET", "/lathe/grant", "").is(w, "[]")
}
