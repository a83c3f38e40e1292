package server_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestProject(t *testing.T) {
	w := begin(t, "")
	w.repository()
	var p lathe.Project
	w.want(http.StatusOK, &p, "GET", "/project/current", "")
	if p.Worktree != w.dir || p.VCS != "git" || len(p.ID) != 40 {
		t.Errorf("%+v", p)
	}
	l := w.listen("/event")
	l.next()
	var changed lathe.Project
	w.want(http.StatusOK, &changed, "PATCH", "/project/"+p.ID, `{"name":"mine","icon":{"color":"red"},"commands":{"start":"make"}}`)
	if changed.Name != "mine" || string(changed.Icon) != `{"color":"red"}` || string(changed.Commands) != `{"start":"make"}` {
		t.Errorf("%+v", changed)
	}
	all := l.until("project.updated")
	if f := all[len(all)-1].Fact.(*lathe.ProjectChanged); f.Project.Name != "mine" {
		t.Errorf("%+v", f)
	}
	w.want(http.StatusOK, &changed, "PATCH", "/project/"+p.ID, `{"name":null}`)
	w.want(http.StatusOK, &p, "GET", "/project/current", "")
	if p.Name != "mine" || string(p.Icon) != `{"color":"red"}` {
		t.Errorf("%+v", p)
	}
	var list []lathe.Project
	w.want(http.StatusOK, &list, "GET", "/project", "")
	if len(list) != 1 || list[0].ID != p.ID {
		t.Errorf("%+v", list)
	}
	linked := filepath.Join(filepath.Dir(w.dir), "linked")
	w.git("worktree", "add", "--quiet", linked)
	w.want(http.StatusOK, nil, "GET", "/path?directory="+linked, "")
	w.want(http.StatusOK, nil, "GET", "/project/"+p.ID+"/directories", "").is(w, `[{"directory":"`+w.dir+`"},{"directory":"`+linked+`","strategy":"git_worktree"}]`)
}

func TestProject_Bad(t *testing.T) {
	w := begin(t, "")
	for _, id := range []string{"nothing", "..%2F..%2Fetc", "%00", strings.Repeat("x", 3000)} {
		has(t, string(w.want(http.StatusNotFound, nil, "PATCH", "/project/"+id, `{"name":"x"}`).body), `"_tag":"ProjectNotFoundError"`)
		has(t, string(w.want(http.StatusNotFound, nil, "GET", "/project/"+id+"/directories", "").body), `"_tag":"ProjectNotFoundError"`)
	}
	w.want(http.StatusOK, nil, "GET", "/project/current", "")
	for _, body := range []string{`{"name":7}`, `{"icon":"red"}`, `{"icon":{"color":7}}`, `{"commands":[]}`, `{`, `[]`, `{"name":"` + strings.Repeat("x", 2000) + `"}`, `{"icon":{"url":"` + strings.Repeat("x", 2<<20) + `"}}`} {
		has(t, string(w.want(http.StatusBadRequest, nil, "PATCH", "/project/global", body).body), `"kind":"Body"`)
	}
	w.want(http.StatusOK, nil, "GET", "/project/global/directories", "").is(w, `[]`)
}

func TestProject_Init(t *testing.T) {
	w := begin(t, "")
	w.git("--version")
	var p lathe.Project
	w.want(http.StatusOK, &p, "GET", "/project/current", "")
	if p.ID != "global" || p.VCS != "" {
		t.Errorf("%+v", p)
	}
	for range 2 { // a second time changes nothing
		w.want(http.StatusOK, &p, "POST", "/project/git/init", "")
	}
	if p.VCS != "git" || p.Worktree != w.dir {
		t.Errorf("%+v", p)
	}
	w.write("a", "1\n")
	w.want(http.StatusOK, nil, "GET", "/vcs/status", "").is(w, `[{"file":"a","additions":1,"deletions":0,"status":"added"}]`)
}

func TestPath(t *testing.T) {
	w := begin(t, "")
	w.repository()
	w.write("sub/x", "")
	w.want(http.StatusOK, nil, "GET", "/path?directory="+w.dir+"/sub", "").is(w,
		`{"home":"/home/usr","state":"/state","config":"/config","worktree":"`+w.dir+`","directory":"`+w.dir+`/sub"}`)
	w.want(http.StatusBadRequest, nil, "GET", "/path?directory=nowhere", "")
}
