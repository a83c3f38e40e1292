package hostiletest

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/workspace"
)

// Opening a hostile repository that is not trusted starts nothing, connects to no host and
// applies none of its config.
func TestHostile_Untrusted(t *testing.T) {
	all := slices.Concat(settingFixtures, gitFixtures)
	if len(all) < 20 {
		t.Errorf("only %d hostile repositories", len(all))
	}
	var w watched
	defer func() {
		if err := w.stop(); err != nil {
			t.Errorf("the process that opened them: %v\n%s", err, tail(w.stderr.String()))
		}
	}()
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			s := newScene(t, f)
			r, err := w.ask(t, request{filepath.Join(s.dir, filepath.FromSlash(f.open)), s.user})
			if err != nil {
				t.Fatalf("the process did not survive: %v", err)
			}
			if s.sprung() {
				t.Error("a program of the repository was run")
			}
			s.check(f, r)
		})
	}
}

// check compares what was opened with what a fixture says.
func (s *scene) check(f fixture, r report) {
	t := s.t
	t.Helper()
	if filepath.Base(r.Project) != r.Project || r.Project == ".." {
		t.Errorf("project %q", r.Project)
	}
	if f.broken != "" && r.Err != "" {
		t.Fatalf("%s is broken and keeps lathe from starting: %.300q", f.broken, r.Err)
	}
	if r.Err != "" {
		t.Fatalf("the settings do not load: %.600s", r.Err)
	}
	if len(r.Dangers) > 0 {
		t.Errorf("these settings count: %q", r.Dangers)
	}
	shown, err := json.Marshal([]any{r.Config, r.TUI, r.Skills, r.Instructions})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{secret, s.trap, evil, s.outside} {
		if i := strings.Index(string(shown), word); i >= 0 && !strings.HasPrefix(f.name, "mcp of the user switched on") {
			t.Errorf("the settings show %q: …%s", word, shown[max(0, i-100):min(len(shown), i+100)])
		}
	}
	if strings.Contains(string(r.Raw), secret) {
		t.Errorf("the raw settings show the secret")
	}
	if got, want := s.risks(r.Distrust), slices.Sorted(slices.Values(f.keys)); !slices.Equal(got, want) {
		t.Errorf("distrusted\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// risks are the distrusted settings as fixtures write them.
func (s *scene) risks(d *config.Untrusted) []string {
	var out []string
	if d == nil {
		return nil
	}
	for _, r := range d.Risks {
		rel, err := filepath.Rel(s.dir, r.Path)
		if err != nil {
			s.t.Fatal(err)
		}
		name := filepath.ToSlash(rel)
		if len(r.Key) > 0 {
			name += ": " + strings.Join(r.Key, ".")
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// load opens the settings in this process, which reads but runs nothing either.
func (s *scene) load(f fixture) *config.Loaded {
	s.t.Helper()
	place, err := workspace.Locate(s.t.Context(), filepath.Join(s.dir, filepath.FromSlash(f.open)), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	o := s.user.options(place)
	env := o.Env
	o.Env = func(name string) (string, bool) {
		if name == secName {
			return secret, true
		}
		return env(name)
	}
	l, err := config.Load(o)
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

// Trusted, the same settings count; changed, they are inert again; what needs no trust
// may change.
func TestHostile_Trusted(t *testing.T) {
	for _, f := range slices.Concat(settingFixtures, gitFixtures) {
		if len(f.keys) == 0 {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, f)
			d := s.load(f).Untrusted
			if d == nil {
				t.Fatal("there is nothing to trust")
			}
			if d.Root != s.dir {
				t.Errorf("trust is asked for %s, not for %s", d.Root, s.dir)
			}
			if err := s.user.trust().Grant(workspace.Grant{Root: d.Root, Digest: d.Digest}); err != nil {
				t.Fatal(err)
			}
			l := s.load(f)
			if l.Untrusted != nil {
				t.Errorf("still distrusted: %q", s.risks(l.Untrusted))
			}
			if text, err := json.Marshal([]any{l.Config, l.Instructions, l.Skills}); err != nil || !f.inert && len(dangers(l)) == 0 && !strings.Contains(string(text), secret) &&
				!strings.Contains(string(text), s.outside) && len(l.Instructions) == 0 {
				t.Errorf("the settings do not count although they are trusted: %v, %s", err, text)
			}
			// What is harmless may change.
			s.put("AGENTS.md.txt", "more")
			s.put("lathe-notes.md", "more")
			s.put(".opencode2/lathe.json", "{}")
			if again := s.load(f); again.Untrusted != nil {
				t.Error("a harmless change took the trust away")
			}
			if f.change == nil {
				return
			}
			for name, text := range f.change {
				s.put(name, text)
			}
			changed := s.load(f)
			if changed.Untrusted == nil || changed.Untrusted.Digest == d.Digest {
				t.Errorf("a change went unnoticed")
			}
			if left := dangers(changed); len(left) > 0 {
				t.Errorf("after a change these settings count: %q", left)
			}
		})
	}
}

// Each harmless edit of a file whose risky settings were trusted leaves them trusted.
func TestHostile_HarmlessChanges(t *testing.T) {
	f := fixture{name: "x", files: map[string]string{"lathe.json": `{"shell":"TRAP","model":"a/b"}`}}
	s := newScene(t, f)
	d := s.load(f).Untrusted
	if d == nil {
		t.Fatal("there is nothing to trust")
	}
	if err := s.user.trust().Grant(workspace.Grant{Root: d.Root, Digest: d.Digest}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"shell":"TRAP","model":"a/c"}`,
		"// a comment\n\n{ \"shell\" : \"TRAP\", \"permission\": {\"bash\":\"deny\"} }\n",
		`{"model":"a/c","agent":{"x":{"prompt":"hi"}},"shell":"TRAP"}`,
		`{"shell":"TRAP","lsp":false}`,
	} {
		s.put("lathe.json", text)
		if l := s.load(f); l.Untrusted != nil || l.Config.Shell != s.trap {
			t.Errorf("%s: distrust %+v, shell %q", text, l.Untrusted, l.Config.Shell)
		}
	}
	s.put("lathe.json", `{"shell":"TRAP","lsp":true}`)
	if l := s.load(f); l.Untrusted == nil || l.Config.Shell != "" || value(l.Config.Raw).member("lsp") != nil {
		t.Errorf("one more setting: distrust %+v, shell %q", l.Untrusted, l.Config.Shell)
	}
}
