package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// What a body may leave out it may also have as null.
func TestBody_NullIsAbsent(t *testing.T) {
	w := begin(t, "")
	var doc struct {
		Paths map[string]map[string]struct {
			Body struct {
				Content map[string]struct{ Schema json.RawMessage }
			} `json:"requestBody"`
		}
		Components struct{ Schemas map[string]json.RawMessage }
	}
	w.want(http.StatusOK, &doc, "GET", "/doc", "")
	tried := 0
	for path, methods := range doc.Paths {
		for method, op := range methods {
			schema := op.Body.Content["application/json"].Schema
			if schema == nil {
				continue
			}
			var s struct {
				Ref        string `json:"$ref"`
				Properties map[string]json.RawMessage
				Required   []string
			}
			w.ok(json.Unmarshal(schema, &s))
			if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
				s.Ref = ""
				w.ok(json.Unmarshal(doc.Components.Schemas[name], &s))
			}
			var members []string
			for name := range s.Properties {
				if !slices.Contains(s.Required, name) {
					members = append(members, `"`+name+`":null`)
				}
			}
			if len(members) == 0 {
				continue
			}
			tried++
			at := strings.ReplaceAll(path, "{sessionID}", "ses_000000000000AAAAAAAAAAAAAA")
			a := w.ask(strings.ToUpper(method), at, "{"+strings.Join(members, ",")+"}")
			if body := string(a.body); strings.Contains(body, "Expected") || strings.Contains(body, `"_tag":"BadRequest"`) {
				t.Errorf("%s %s with %s: %d %s", method, path, members, a.StatusCode, body)
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d routes have a body that may leave something out", tried)
	}
}

// The body itself is not left out by that.
func TestBody_NullIsNoObject(t *testing.T) {
	w := begin(t, "")
	for _, route := range []string{"PATCH /config", "PATCH /global/config", "PUT /auth/acme"} {
		method, path, _ := strings.Cut(route, " ")
		for _, body := range []string{"null", " null ", "[]", "7"} {
			if a := w.ask(method, path, body); a.StatusCode != http.StatusBadRequest || !strings.Contains(string(a.body), "Expected object") {
				t.Errorf("%s with %q: %d %s", route, body, a.StatusCode, a.body)
			}
		}
	}
}
