package server_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// node is an entry of a folder as clients read it.
type node struct {
	Name, Path, Absolute, Type string
	Ignored                    bool
}

func TestFile_List(t *testing.T) {
	w := begin(t, "")
	w.write("b.txt", "")
	w.write("A.txt", "")
	w.write(".hidden", "")
	w.write("sub/deep/x.log", "")
	w.write("build/out", "")
	w.write(".gitignore", "build/\n*.log\n")
	w.write(".ignore", "A.txt\n")
	w.link(w.outside(), "leak")
	w.link("sub", "inner")
	w.link(w.data, "away")
	w.repository()
	var got []node
	w.want(http.StatusOK, &got, "GET", "/file?path=", "")
	var names []string
	for _, n := range got {
		if n.Absolute != filepath.Join(w.dir, n.Name) {
			t.Errorf("%+v", n)
		}
		ignored := ""
		if n.Ignored {
			ignored = " ignored"
		}
		names = append(names, n.Type+" "+n.Path+ignored)
	}
	want := []string{
		"directory .git/ ignored", "directory build/ ignored", "directory inner/", "directory sub/", "file .gitignore", "file .hidden", "file .ignore",
		"file A.txt ignored", "file away", "file b.txt", "file leak",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	got = nil
	w.want(http.StatusOK, &got, "GET", "/file?path=sub/deep", "")
	if d := cmp.Diff([]node{{"x.log", "sub/deep/x.log", filepath.Join(w.dir, "sub/deep/x.log"), "file", true}}, got); d != "" {
		t.Error(d)
	}
	w.want(http.StatusOK, &got, "GET", "/file?path=build", "")
	if len(got) != 1 || !got[0].Ignored {
		t.Errorf("%+v", got)
	}
	w.want(http.StatusOK, nil, "GET", "/file?path=nowhere", "").is(w, "[]")
	w.want(http.StatusOK, nil, "GET", "/file?path=b.txt", "").is(w, "[]")
	w.want(http.StatusOK, nil, "GET", "/file/status", "").is(w, "[]")
}

func TestFile_Content(t *testing.T) {
	w := begin(t, "")
	w.write("a.txt", "\ufeff\n  some text \n\n")
	w.write("x.PNG", "\x89PNG\x00")
	w.write("prog", "a\x00b")
	w.write("latin", "caf\xe9")
	w.write("empty", "")
	w.write("sub/x", "deep")
	for path, want := range map[string]string{
		"a.txt": `{"type":"text","content":"some text"}`,
		"x.PNG": `{"type":"binary","content":"` + base64.StdEncoding.EncodeToString([]byte("\x89PNG\x00")) + `","encoding":"base64","mimeType":"image/png"}`,
		"prog":  `{"type":"binary","content":""}`, "latin": `{"type":"binary","content":""}`, "empty": `{"type":"text","content":""}`,
		"nowhere/at/all": `{"type":"text","content":""}`, "sub/../sub/x": `{"type":"text","content":"deep"}`, filepath.Join(w.dir, "sub", "x"): `{"type":"text","content":"deep"}`,
	} {
		w.want(http.StatusOK, nil, "GET", "/file/content?path="+url.QueryEscape(path), "").is(w, want)
	}
	has(t, string(w.want(http.StatusBadRequest, nil, "GET", "/file/content?path=sub", "").body), "is a folder")
	w.ok(os.Truncate(filepath.Join(w.dir, "empty"), 33<<20))
	has(t, string(w.want(http.StatusRequestEntityTooLarge, nil, "GET", "/file/content?path=empty", "").body), "larger")
}

func TestFile_ContentWithDiff(t *testing.T) {
	w := begin(t, "")
	w.write("a.txt", "1\n2\n3\n")
	w.repository()
	w.want(http.StatusOK, nil, "GET", "/file/content?path=a.txt", "").is(w, `{"type":"text","content":"1\n2\n3"}`)
	w.write("a.txt", "1\ntwo\n3\n")
	w.write("new.txt", "1\n")
	var got struct {
		Diff  string
		Patch struct {
			OldFileName, NewFileName string
			Hunks                    []struct {
				OldStart, OldLines, NewStart, NewLines int
				Lines                                  []string
			}
		}
	}
	w.want(http.StatusOK, &got, "GET", "/file/content?path=a.txt", "")
	h := got.Patch.Hunks
	if !strings.Contains(got.Diff, "-2\n+two\n") || got.Patch.NewFileName != "a.txt" || len(h) != 1 || h[0].OldStart != 1 || h[0].NewLines != 3 || strings.Join(h[0].Lines, "|") != " 1|-2|+two| 3" {
		t.Errorf("%+v", got)
	}
	w.want(http.StatusOK, nil, "GET", "/file/content?path=new.txt", "").is(w, `{"type":"text","content":"1"}`)
}

// No way of writing a path leads out of the project, and nothing tells whether something is there.
func TestFile_NothingOutside(t *testing.T) {
	w := begin(t, "")
	secret := w.outside()
	w.write("a.txt", "a")
	w.link(secret, "leak")
	w.link(w.data, "away")
	w.link("away/secret.txt", "twice")
	up := strings.Repeat("../", 30)
	paths := []string{
		secret, "leak", "away/secret.txt", "twice", up + secret[1:], "a.txt/../" + up + "etc/passwd", "/etc/passwd", "../", "..", "/", "/proc/self/environ", "sub/" + up + "etc",
		"away", w.dir + "/../" + filepath.Base(filepath.Dir(secret)), "%2e%2e/%2e%2e/etc/passwd", "..\\..\\etc\\passwd",
	}
	for _, path := range paths {
		for _, route := range []string{"/file?path=", "/file/content?path="} {
			a := w.ask("GET", route+url.QueryEscape(path), "")
			if strings.Contains(string(a.body), "SECRET") || strings.Contains(string(a.body), "root:") || strings.Contains(string(a.body), "secret.txt\",\"path") {
				t.Errorf("%s%s: %s", route, path, a.body)
			}
			harmless := strings.HasPrefix(path, "%2e") || strings.Contains(path, `\`) // such a name is one like any other
			if a.StatusCode != http.StatusBadRequest && !harmless {
				t.Errorf("%s%s: status %d: %s", route, path, a.StatusCode, a.body)
			}
		}
	}
	there := w.ask("GET", "/file/content?path="+url.QueryEscape(w.data+"/secret.txt"), "").body
	gone := w.ask("GET", "/file/content?path="+url.QueryEscape(w.data+"/nothing.txt"), "").body
	if strings.ReplaceAll(string(there), "secret", "nothing") != string(gone) {
		t.Errorf("%s\n%s", there, gone)
	}
}

func TestFile_BadQueries(t *testing.T) {
	w := begin(t, "")
	w.write("a.txt", "a")
	for _, path := range []string{
		"/file", "/file/content", "/file?path=a%00b", "/file/content?path=%00", "/file?path=" + strings.Repeat("x", 5000), "/file?path=.&directory=/no/such/place",
		"/file/content?path=a.txt&directory=%00", "/file?path=&directory=a.txt",
	} {
		has(t, string(w.want(http.StatusBadRequest, nil, "GET", path, "").body), `"kind":"Query"`)
	}
	w.want(http.StatusMethodNotAllowed, nil, "POST", "/file/content", "{}")
	// The header names a directory too.
	w.want(http.StatusOK, nil, "GET", "/file/content?path=a.txt", "", "X-Opencode-Directory", url.PathEscape(w.dir)).is(w, `{"type":"text","content":"a"}`)
	w.want(http.StatusBadRequest, nil, "GET", "/file/content?path=a.txt", "", "X-Opencode-Directory", "%00")
}
