package eval

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const full = `# defaults
name: Mine
budget: 20
jobs: 4
models: [sonnet, opus]
runs: 3
limits: {budget: 0.5, steps: 40, timeout: 10m, tokens: 100000}
check: go test ./...
repo: ../slug
commit: main
cases:
  - name: one
    prompt: |
      Fix it.
      Twice.
    commit: v1
  - name: two
    folder: dir
    exclude: build
    prompt: Do it
    check: make
    check_timeout: 90
    check_files: [tests, run.sh]
    models: haiku
    runs: 1
    limits: {steps: 2}
  - name: three
    session: ses_1
    step: 3
    agent: plan
`

func TestParse(t *testing.T) {
	got, err := Parse("f.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	both, limits := []string{"sonnet", "opus"}, Limits{Budget: .5, Tokens: 100000, Steps: 40, Timeout: 10 * time.Minute}
	check := Check{Command: "go test ./...", Timeout: DefaultCheckTimeout}
	own := limits
	own.Steps = 2
	want := &File{Name: "Mine", Budget: 20, Jobs: 4, Cases: []Case{
		{Name: "one", Source: Source{Repo: "../slug", Commit: "v1"}, Prompt: "Fix it.\nTwice.\n", Check: check, Limits: limits, Models: both, Runs: 3, Line: 12},
		{
			Name: "two", Source: Source{Folder: "dir", Exclude: []string{"build"}}, Prompt: "Do it", Limits: own, Models: []string{"haiku"}, Runs: 1, Line: 17,
			Check: Check{Command: "make", Timeout: 90 * time.Second, Files: []string{"tests", "run.sh"}},
		},
		{Name: "three", Source: Source{Session: "ses_1", Step: "3"}, Agent: "plan", Check: check, Limits: limits, Models: both, Runs: 3, Line: 27},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParse_Mistakes(t *testing.T) {
	one := func(lines string) string { return "cases:\n  - name: a\n" + lines }
	for name, c := range map[string]struct{ text, want string }{
		"top key":        {"chek: x\ncases: []", `f:1: unknown key "chek" in the file; did you mean check?`},
		"case key":       {one("    promt: x\n"), `f:3: unknown key "promt" in a case; did you mean prompt?`},
		"limit key":      {one("    limits: {time_out: 3s}\n"), `did you mean timeout?`},
		"no cases":       {"name: x", "it has no cases"},
		"empty list":     {"cases: []", "at least one case"},
		"no name":        {"cases:\n  - prompt: x\n", "the case has no name"},
		"same name":      {one("    folder: .\n    prompt: x\n    check: y\n  - name: a\n"), "also that of the case on line 2"},
		"traversal name": {"cases:\n  - name: ../../x\n", "is not allowed"},
		"escape name":    {"cases:\n  - name: \"\\e[31m\"\n", "is not allowed"},
		"no source":      {one("    prompt: x\n    check: y\n"), "needs one of repo, folder and session"},
		"two sources":    {one("    folder: x\n    repo: y\n"), "needs one of repo, folder and session"},
		"no commit":      {one("    repo: x\n"), "needs a commit"},
		"last session":   {one("    session: last\n    step: 1\n    check: y\n"), "give its ID"},
		"no check":       {one("    folder: x\n    prompt: y\n"), "has no check"},
		"no prompt":      {one("    folder: x\n    check: y\n"), "has no prompt"},
		"exclude":        {one("    folder: x\n    exclude: ../a\n    prompt: y\n    check: z\n"), "name files and folders at the top"},
		"runs":           {"runs: 0\ncases: []", "runs must be a whole number from 1 to 1000"},
		"budget":         {"budget: .nan\ncases: []", "above 0"},
		"negative":       {"budget: -1\ncases: []", "budget must be an amount in dollars above 0"},
		"timeout":        {"limits: {timeout: soon}\ncases: []", "must be a duration"},
		"models":         {"models: [a, a]\ncases: []", "twice"},
		"no models":      {"models: []\ncases: []", "models is empty"},
		"twice":          {"runs: 1\nruns: 2\ncases: []", "runs"},
		"alias":          {"prompt: &a x\ncases: []", "anchors and aliases are not supported"},
		"tag":            {"prompt: !!binary x\ncases: []", "tags are not supported"},
		"merge":          {"<<: {runs: 1}\ncases: []", "not a word"},
		"bomb":           {"a: &a [x,x]\nb: &b [*a,*a]\ncases: *b", "unknown key"},
		"deep":           {"check: " + strings.Repeat("[", 100000), "nests more than"},
		"deep list":      {strings.Repeat("- ", 100000), "nests more than"},
		"NUL":            {"name: a\x00b", "not a text file"},
		"NUL escape":     {"name: \"a\\0b\"\ncases: []", "NUL byte"},
		"not UTF-8":      {"name: \xff", "not a text file"},
		"large":          {strings.Repeat("#", MaxFile+1), "has more than"},
		"long prompt":    {"prompt: " + strings.Repeat("x", maxText+1), "has more than"},
		"two documents":  {"name: a\n---\nname: b\n", "one YAML document"},
		"list":           {"- a", "must be keys and values"},
		"empty":          {"", "one YAML document"},
		"syntax":         {"a: [", "not valid YAML"},
		"patch":          {one("    folder: x\n    prompt: y\n    check: z\n    check_patch: nothing\n"), "check_patch: it has no changes"},
		"patch outside":  {one("    folder: x\n    prompt: y\n    check: z\n    check_patch: \"--- a/../../x\\n+++ b/../../x\\n@@ -1 +1 @@\\n-a\\n+b\\n\"\n"), "leads out of the project"},
	} {
		_, err := Parse("f", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 600 {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// What is written is read again, byte by byte.
func TestWrite_PropRoundTrip(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", " ", "  ", "\n", "\t", "- ", ": ", "# x", "'", `"`, "\\", "{", "]", "é", "日本", "|", ">", "%", "@@ -1 +1 @@", "\n\n", "\n  x", "---\n", "\r\n", "\u2028", "\x1b", "🙂", "null", "*a", "&b", "!c",
	})
	text := rapid.Custom(func(t *rapid.T) string {
		return "x" + strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "") + rapid.SampledFrom([]string{"", "\n", "y", "y\n", "\n\n"}).Draw(t, "end")
	})
	name := rapid.StringMatching(`[a-zA-Z0-9_/@:#+-]{1,20}`)
	rapid.Check(t, func(t *rapid.T) {
		c := Case{
			Name: name.Draw(t, "name"), Source: Source{Folder: text.Draw(t, "folder")}, Prompt: text.Draw(t, "prompt"), Agent: rapid.SampledFrom([]string{"", "plan"}).Draw(t, "agent"),
			Check:  Check{Command: text.Draw(t, "check"), Timeout: time.Duration(rapid.IntRange(1, 1000).Draw(t, "seconds")) * time.Second, Files: rapid.SliceOfN(text, 1, 3).Draw(t, "files")},
			Limits: Limits{Budget: float64(rapid.IntRange(1, 1000).Draw(t, "budget")) / 100, Timeout: time.Minute}, Models: []string{"m"}, Runs: 2,
		}
		f := &File{Name: "x", Budget: 1.5, Jobs: 2, Cases: []Case{c}}
		got, err := Parse("f", f.Write())
		if err != nil {
			t.Fatalf("%v\n%s", err, f.Write())
		}
		got.Cases[0].Line = 0
		if diff := cmp.Diff(f, got); diff != "" {
			t.Fatalf("%s\n%s", diff, f.Write())
		}
	})
}

func TestPlan(t *testing.T) {
	f, err := Parse("f", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	plan := f.Plan()
	for _, r := range plan {
		keys[r.Key] = true
	}
	if len(plan) != 3*2+1+3*2 || len(keys) != len(plan) {
		t.Errorf("%d runs, %d keys", len(plan), len(keys))
	}
	if plan[0].Number != 1 || plan[4].Number != 1 || plan[5].Number != 2 {
		t.Errorf("the first runs of all cases do not come first")
	}
	// A key depends on what decides the result, and on nothing else.
	g, _ := Parse("other", []byte(strings.Replace(full, "runs: 3", "runs: 5", 1)))
	if g.Plan()[0].Key != plan[0].Key {
		t.Error("the number of runs changes a key")
	}
	h, _ := Parse("f", []byte(strings.Replace(full, "Twice", "Thrice", 1)))
	if h.Plan()[0].Key == plan[0].Key || h.Plan()[2].Key != plan[2].Key {
		t.Error("a prompt changes another key, or not its own")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("cases:\n  - {name: a, folder: ., prompt: p, check: c}\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<14 {
			return
		}
		file, err := Parse("f", text)
		if err != nil {
			return
		}
		for _, c := range file.Cases {
			if !isName(c.Name) || c.Check.Command == "" || c.Runs < 1 || len(c.Models) == 0 {
				t.Fatalf("%+v", c)
			}
		}
	})
}
