package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind_Text(t *testing.T) {
	w := begin(t, "")
	w.write("a.txt", "one\nä needle and a needle\n")
	w.write("ignored/x", "needle\n")
	w.write(".gitignore", "ignored\n")
	w.link(w.outside(), "leak")
	w.repository()
	w.want(http.StatusOK, nil, "GET", "/find?pattern=ne%2Bdle", "").is(w,
		`[{"path":{"text":"a.txt"},"lines":{"text":"ä needle and a needle\n"},"line_number":2,"absolute_offset":4,`+
			`"submatches":[{"match":{"text":"needle"},"start":3,"end":9},{"match":{"text":"needle"},"start":16,"end":22}]}]`)
	w.want(http.StatusOK, nil, "GET", "/find?pattern=SECRET", "").is(w, "[]")
	w.want(http.StatusOK, nil, "GET", "/find/symbol?query=x", "").is(w, "[]")
}

func TestFind_TextIsBounded(t *testing.T) {
	w := begin(t, "")
	for i := range 30 {
		w.write(fmt.Sprintf("f%02d", i), strings.Repeat("x", 100)+"\n"+strings.Repeat("word ", 500)+"\n")
	}
	var got []struct{ Submatches []struct{} }
	w.want(http.StatusOK, &got, "GET", "/find?pattern=word", "")
	if len(got) != 10 || len(got[0].Submatches) > 100 {
		t.Errorf("%d lines, %d matches", len(got), len(got[0].Submatches))
	}
	for _, bad := range []string{"", "?pattern=", "?pattern=(", "?pattern=a%5B", "?pattern=" + strings.Repeat("a", 5000), "?pattern=x&directory=/no/such"} {
		w.want(http.StatusBadRequest, nil, "GET", "/find"+bad, "")
	}
}

func (w *fixture) found(query string) (out []string) {
	w.Helper()
	w.want(http.StatusOK, &out, "GET", "/find/file?"+query, "")
	return out
}

func TestFind_Files(t *testing.T) {
	w := begin(t, "")
	for _, name := range []string{"src/server/file.go", "src/server/file_test.go", "src/profile.ts", "docs/files/index.md", ".github/file.yml", "README.md", "vendor/x"} {
		w.write(name, "")
	}
	w.write(".gitignore", "vendor\n")
	w.repository()
	for query, want := range map[string][]string{
		"query=file.go&limit=1":           {"src/server/file.go"},
		"query=FILE&limit=3":              {"src/server/file.go", "docs/files/", "src/server/file_test.go"},
		"query=srvfl":                     {"src/server/file.go", "src/server/file_test.go"},
		"query=server&type=directory":     {"src/server/"},
		"query=server%2Ffile&dirs=false":  {"src/server/file.go", "src/server/file_test.go"},
		"query=.github&dirs=true":         {".github/", ".github/file.yml"},
		"query=&dirs=false&limit=2":       {"README.md", "docs/files/index.md"},
		"query=":                          {"docs/", "docs/files/", "src/", "src/server/", ".github/"},
		"query=vendor":                    {},
		"query=zzz":                       {},
		"query=src%5Cprofile&type=file":   {"src/profile.ts"},
		"query=..%2F..%2Fetc%2Fpasswd":    {},
		"query=%2Fetc%2Fpasswd&limit=200": {},
	} {
		if d := cmp.Diff(want, w.found(query)); d != "" {
			t.Errorf("%s: %s", query, d)
		}
	}
	for _, bad := range []string{"", "query=x&limit=0", "query=x&limit=201", "query=x&limit=many", "query=x&dirs=maybe", "query=x&type=socket", "query=" + strings.Repeat("x", 5000)} {
		w.want(http.StatusBadRequest, nil, "GET", "/find/file?"+bad, "")
		w.want(http.StatusBadRequest, nil, "GET", "/api/fs/find?"+bad, "")
	}
}

func TestFind_Entries(t *testing.T) {
	w := begin(t, "")
	w.write("src/main.go", "")
	var got struct {
		Location struct {
			Directory string
			Project   struct{ ID, Directory string }
		}
		Data []struct{ Path, Type string }
	}
	w.want(http.StatusOK, &got, "GET", "/api/fs/find?query=s&limit=20&location%5Bdirectory%5D="+url.QueryEscape(w.dir), "")
	if got.Location.Directory != w.dir || got.Location.Project.ID != "global" || len(got.Data) != 2 || got.Data[0] != (struct{ Path, Type string }{"src/", "directory"}) {
		t.Errorf("%+v", got)
	}
}
