package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestTable_HasEveryRoute holds the table against the reference's routes: each is there by its
// operation's id, or the page of differences says why not.
func TestTable_HasEveryRoute(t *testing.T) {
	w := begin(t, "")
	var doc struct {
		Paths map[string]map[string]struct {
			ID   string `json:"operationId"`
			Tags []string
		}
	}
	w.want(http.StatusOK, &doc, "GET", "/doc", "")
	differences, err := os.ReadFile("../docs/http-differences.md")
	w.ok(err)
	_, missing, _ := strings.Cut(string(differences), "## Routes that are not here")
	missing, _, _ = strings.Cut(missing, "## ")
	routes, err := os.ReadFile("testdata/reference-routes.txt")
	w.ok(err)
	for line := range strings.Lines(string(routes)) {
		f := strings.Fields(line) // method, path, operation, tag
		op, here := doc.Paths[f[1]][strings.ToLower(f[0])]
		excused := strings.Contains(missing, "`"+f[0]+" "+f[1]+"`")
		switch {
		case here && excused:
			t.Errorf("%s %s is here; take it off docs/http-differences.md", f[0], f[1])
		case here && op.ID != f[2]:
			t.Errorf("%s %s is called %s, not %s", f[0], f[1], op.ID, f[2])
		case !here && !excused:
			t.Errorf("%s %s is missing; add it to the table, or to docs/http-differences.md with a reason", f[0], f[1])
		}
	}
}

func TestDoc_IsJSONAndNamesItsSchemas(t *testing.T) {
	w := begin(t, "")
	a := w.want(http.StatusOK, nil, "GET", "/doc", "")
	var doc struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	w.ok(json.Unmarshal(a.body, &doc))
	for ref := range strings.SplitSeq(string(a.body), `"#/components/schemas/`) {
		name, _, _ := strings.Cut(ref, `"`)
		if !strings.HasPrefix(ref, "{") && doc.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
}

func TestDoc_OperationsAreUnique(t *testing.T) {
	w := begin(t, "")
	var doc struct {
		Paths map[string]map[string]struct {
			ID         string `json:"operationId"`
			Parameters []struct{ Name, In string }
			Responses  map[string]json.RawMessage
		}
	}
	w.want(http.StatusOK, &doc, "GET", "/doc", "")
	seen := map[string]string{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			where := method + " " + path
			if other := seen[op.ID]; op.ID == "" || other != "" {
				t.Errorf("%s and %s are both called %q", where, other, op.ID)
			}
			seen[op.ID] = where
			have := map[string]bool{}
			for _, p := range op.Parameters {
				if have[p.In+p.Name] {
					t.Errorf("%s names %s twice", where, p.Name)
				}
				have[p.In+p.Name] = true
			}
			for part := range strings.SplitSeq(path, "/") {
				if name, ok := strings.CutPrefix(part, "{"); ok && !have["path"+strings.TrimSuffix(name, "}")] {
					t.Errorf("%s does not say what %s is", where, part)
				}
			}
			if op.Responses["200"] == nil && op.Responses["204"] == nil {
				t.Errorf("%s never succeeds", where)
			}
		}
	}
}
