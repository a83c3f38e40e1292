package harness

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Skills of an address are files in its own folder; what leads out of it, or is not there, is
// left out whole.
func TestSkillIndexes(t *testing.T) {
	files := map[string]string{
		"/s/index.json": `{"skills":[{"name":"notes","files":["SKILL.md","sub/a b.txt"],"version":"1"},{"name":"../evil","files":["SKILL.md"]},
			{"name":"out","files":["../x"]},{"name":"half","files":["SKILL.md","gone"]},{"name":".hidden","files":[]}]}`,
		"/s/notes/SKILL.md": "first", "/s/notes/sub/a b.txt": "x", "/s/half/SKILL.md": "x", "/s/evil/SKILL.md": "x", "/x": "x",
	}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		text, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	top := t.TempDir()
	fetch := func() string {
		s := newSkillIndexes(filepath.Join(top, "skills"), "lathe/test", slog.New(slog.DiscardHandler))
		dirs := s.folders([]string{server.URL + "/s/"})
		s.work.Wait()
		s.close()
		return dirs[0]
	}
	names := func(dir string) string {
		var out []string
		_ = filepath.WalkDir(top, func(path string, d os.DirEntry, _ error) error {
			if rel, _ := filepath.Rel(dir, path); !d.IsDir() {
				out = append(out, filepath.ToSlash(rel))
			}
			return nil
		})
		return strings.Join(out, " ")
	}
	dir := fetch()
	if got := names(dir); got != "notes/.version notes/SKILL.md notes/sub/a b.txt" {
		t.Error(got)
	}
	files["/s/notes/SKILL.md"], asked = "second", 0
	fetch()
	if got := ReadInstruction(filepath.Join(dir, "notes", "SKILL.md")); got != "first" {
		t.Errorf("the same version was fetched again: %s", got)
	}
	files["/s/index.json"] = `{"skills":[{"name":"notes","files":["SKILL.md"],"version":"2"}]}`
	fetch()
	if got := ReadInstruction(filepath.Join(dir, "notes", "SKILL.md")); got != "second" || names(dir) != "notes/.version notes/SKILL.md" {
		t.Error(got, names(dir))
	}
}
