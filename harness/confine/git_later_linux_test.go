package confine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/config"
)

// eventually waits for something that another process does.
func (b *box) eventually(what string, done func() bool) {
	b.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for !done() {
		select {
		case <-tick.C:
		case <-limit:
			b.t.Fatalf("%s: not in time", what)
		}
	}
}

func (b *box) there(path string) bool {
	_, err := os.Lstat(filepath.Join(b.base, path))
	return err == nil
}

// A process that a command left behind cannot write what git of the user obeys, and what it can
// write is taken away: the same lines work for the user.
func TestConfine_GitInTheBackground(t *testing.T) {
	t.Parallel()
	b, main := gitBox(t)
	const attack = `mkdir -p .git/info .git/hooks; for f in commondir config config.worktree info/attributes hooks/pre-commit; do echo '# evil' >> .git/$f && echo $f >> $DONE; done 2>/dev/null; echo end >> $DONE`
	own := b.base + "/own"
	b.git("clone", "-q", main, own)
	b.user(own, "DONE="+b.base+"/home/control; "+attack, "")
	if got, err := os.ReadFile(b.base + "/home/control"); err != nil || strings.Count(string(got), "\n") != 6 {
		t.Fatalf("the attack does not work where nothing holds it: %q %v", got, err)
	}
	before := listing(t, main+"/.git")
	res, out := b.in(main, "build", `DONE=`+b.base+`/temp/done; (until [ -e go ]; do sleep 0.01; done; `+attack+`; rm -f go; touch $DONE.all; exec sleep 300) >/dev/null 2>&1 &`, config.Config{})
	b.bound(res)
	if res.Exit != 0 || len(res.Leftovers) == 0 {
		t.Fatalf("%+v %s", res, out)
	}
	if err := os.WriteFile(main+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.eventually("the attack", func() bool { return b.there("temp/done.all") })
	got, err := os.ReadFile(b.base + "/temp/done")
	if err != nil || string(got) != "config\nend\n" { // which is its copy
		t.Errorf("it wrote %q, %v", got, err)
	}
	for _, name := range []string{"config", "info/attributes", "config.worktree", "hooks/pre-commit"} {
		if text, _ := os.ReadFile(filepath.Join(main, ".git", name)); strings.Contains(string(text), "evil") {
			t.Errorf("%s says %q", name, text)
		}
	}
	if text, err := os.ReadFile(main + "/.git/commondir"); err != nil || string(text) != ".\n" {
		t.Errorf("commondir says %q, %v", text, err)
	}
	if out := b.git("-C", main, "status", "--porcelain") + b.git("-C", main, "worktree", "list", "--porcelain"); !strings.HasPrefix(out, "worktree "+main+"\n") {
		t.Errorf("git of the user says %q", out)
	}
	if err := b.runner.Close(); err != nil {
		t.Fatal(err)
	}
	b.confine.Close()
	for path, is := range listing(t, main+"/.git") {
		if was, ok := before[path]; !ok || was != is {
			t.Errorf("%s is %q, was %q", path, is, was)
		}
	}
}

// The user replaces the link that covers are mounted on by a file, which takes them away from processes
// that run. What these write then does not last.
func TestConfine_GitConfigReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	b, main := gitBox(t)
	res, _ := b.in(main, "build", `(until grep -q outside .git/config; do sleep 0.01; done; for i in 1 2 3; do printf '[core]\n\tfsmonitor = evil\n' >> .git/config; done; touch `+b.base+`/temp/done; exec sleep 300) >/dev/null 2>&1 &`, config.Config{})
	b.bound(res)
	b.user(main, "sed -i '$a [user]\\n\\temail = outside@example.org' .git/config", "")
	b.eventually("the attack", func() bool { return b.there("temp/done") })
	b.eventually("the guard", func() bool { return b.value(main, "core.fsmonitor") == "" })
	if got := b.value(main, "user.email"); got != "outside@example.org" {
		t.Errorf("the user's own setting is %q", got)
	}
	res, _ = b.in(main, "build", "true", config.Config{})
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, "core.fsmonitor") { // which shows that it was written
		t.Errorf("it says %q", notes)
	}
}

// Commits by the user and by a command at the same time: nothing is lost, and no lock stays.
func TestConfine_GitTogether(t *testing.T) {
	t.Parallel()
	b, main := gitBox(t)
	const n = 500
	b.git("-C", main, "worktree", "add", "-q", main+"/tree", "-b", "user")
	// The commits are written beside the branch, and the branch goes over them one by one, in steps of 25
	// and packed after each: what meets a lock of the other is done again, as people do.
	const loop = `i=0; while [ $i -lt $N ]; do i=$((i+1)); printf 'commit refs/lathe/%s\ncommitter d <d@e> %s +0000\ndata 2\nx\n' $REF $i; [ $i = 1 ] && printf 'from refs/heads/%s^0\n' $REF; done | git fast-import --quiet || exit 1
git rev-list --reverse $REF..refs/lathe/$REF > $TMP.$REF; i=0; while [ $i -lt $N ]; do
until sed -n "$((i+1)),$((i+25))p" $TMP.$REF | sed "s|^|start\nupdate refs/heads/$REF |; s|$|\ncommit|" | git update-ref --stdin >/dev/null 2>&1; do :; done
i=$((i+25)); until git pack-refs --all 2>/dev/null; do :; done; until git config branch.$REF.description $REF.$i 2>/dev/null; do :; done; done`
	var wg sync.WaitGroup
	wg.Add(1)
	var said []byte
	go func() {
		defer wg.Done()
		cmd := exec.Command("/bin/sh", "-c", "TMP="+b.base+"/temp/list REF=user N="+strconv.Itoa(n)+"; "+loop)
		cmd.Dir = main + "/tree"
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+b.base+"/home",
			"GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.org", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.org")
		said, _ = cmd.CombinedOutput() // what is missing is counted below
	}()
	res, out := b.in(main, "build", "TMP="+b.base+"/temp/list REF=main N="+strconv.Itoa(n)+"; "+loop, config.Config{})
	wg.Wait()
	for _, ref := range []string{"main", "user"} {
		if got := strings.TrimSpace(b.git("-C", main, "rev-list", "--count", ref)); got != strconv.Itoa(n+1) {
			t.Errorf("%s has %s commits: %+v %s\n%s", ref, got, res, out, said)
		}
		if got := b.value(main, "branch."+ref+".description"); got != ref+"."+strconv.Itoa(n) {
			text, _ := os.ReadFile(main + "/.git/config")
			t.Errorf("the last setting of %s is %q: %+v %s\n%s\n%s", ref, got, res, out, said, text)
		}
	}
	if out := b.git("-C", main, "fsck", "--full"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		t.Error(out)
	}
	_ = filepath.WalkDir(main+"/.git", func(path string, _ os.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".lock") {
			t.Errorf("%s is left", path)
		}
		return nil
	})
}
