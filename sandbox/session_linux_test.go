package sandbox_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/sandbox"
)

// inSession is a yard whose commands share their processes, if they can here.
func inSession(t *testing.T) *yard {
	t.Helper()
	if err := sandbox.Open(sandbox.Config{Launcher: sandbox.Self()}).Kernel().Available(true); err != nil {
		t.Skip(err)
	}
	y := newYard(t, sandbox.Config{Launcher: sandbox.Self(), Grace: 300 * time.Millisecond})
	y.profile.Session, y.guard = "ses_test", sandbox.Bound
	if _, out := run(t, y.runner, y.shell("ls /proc")); !strings.HasPrefix(out, "1\n") {
		t.Skipf("this machine lets no session have processes of its own: %s", out)
	}
	return y
}

// count is how many processes of a yard live: those whose directory is in it.
func (y *yard) count() (n int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, path := range dirs {
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		if dir, err := os.Readlink(path); err == nil && dir == y.project && alive(pid) {
			n++
		}
	}
	return n
}

const background = `(trap "" TERM HUP; while :; do sleep 0.05; done) </dev/null >/dev/null 2>&1 & echo $!`

// A later call lists and ends what an earlier one has left in the background.
func TestSession_LaterCalls(t *testing.T) {
	y := inSession(t)
	res, out := run(t, y.runner, y.shell("setsid sleep 1000 >/dev/null 2>&1 & echo $!"))
	pid := strings.TrimSpace(out)
	if len(res.Leftovers) != 1 || strconv.Itoa(res.Leftovers[0].PID) != pid {
		t.Errorf("%+v; want %s", res, pid)
	}
	if res, out := run(t, y.runner, y.shell("ps -p "+pid+" || ls -d /proc/"+pid+"; kill "+pid+" && while [ -d /proc/"+pid+" ]; do sleep 0.01; done")); res.Exit != 0 {
		t.Errorf("%+v %s", res, out)
	}
	other := y.shell("cat /proc/[0-9]*/comm")
	run(t, y.runner, y.shell("sleep 1000 >/dev/null 2>&1 &"))
	other.Profile.Session = "ses_other"
	if _, out := run(t, y.runner, other); strings.Contains(out, "sleep") || !strings.Contains(out, "sh\n") {
		t.Errorf("another session sees %s", out)
	}
}

// What ends one command ends no other of its session.
func TestSession_Cancel(t *testing.T) {
	y := inSession(t)
	run(t, y.runner, y.shell(background))
	if n := y.count(); n == 0 {
		t.Fatal("nothing is left in the background")
	}
	was := y.count()
	for name, script := range escapes {
		_ = os.Remove(filepath.Join(y.project, "pid"))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan sandbox.Result, 1)
		go func() {
			res, _ := y.runner.Run(ctx, y.shell(escape(script)), func([]byte) {})
			done <- res
		}()
		pidIn(t, filepath.Join(y.project, "pid"))
		cancel()
		if res := <-done; !res.Canceled {
			t.Errorf("%s: %+v", name, res)
		}
		eventually(t, 3*time.Second, "its end: "+name, func() bool { return y.count() <= was+1 }) // the sleep of the other comes and goes
		if y.count() == 0 {
			t.Fatalf("%s: the other was ended, too", name)
		}
	}
	c := y.shell(background)
	c.Leftovers = sandbox.EndLeftovers
	if res, _ := run(t, y.runner, c); len(res.Leftovers) > 0 {
		t.Errorf("%+v", res)
	}
}

// Nothing outlives its session, however that ends.
func TestSession_End(t *testing.T) {
	for name, end := range map[string]func(*yard){
		"session": func(y *yard) { y.runner.EndSession("ses_test") },
		"runner":  func(y *yard) { _ = y.runner.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			y := inSession(t)
			res, out := run(t, y.runner, y.shell(background+"; setsid sh -c '"+background+"'; echo x > .git/commondir"))
			if len(res.Restored) != 1 || y.count() == 0 {
				t.Errorf("%+v %s", res, out)
			}
			run(t, y.runner, y.shell("(sleep 0.05; while :; do echo x > .git/commondir; sleep 0.01; done) >/dev/null 2>&1 &"))
			end(y)
			if n := y.count(); n != 0 {
				t.Errorf("%d are left", n)
			}
			if _, err := os.Lstat(y.project + "/.git/commondir"); err == nil {
				t.Error("a protected name was left behind")
			}
			if name == "session" {
				if res, out := run(t, y.runner, y.shell("echo again")); res.Exit != 0 || out != "again\n" {
					t.Errorf("%+v %s", res, out)
				}
			}
		})
	}
}

func TestSession_DeathOfTheEngine(t *testing.T) {
	y := inSession(t)
	cmd := exec.Command(sandbox.Self(), "session", y.project, background+"; setsid sh -c '"+background+"'")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for in.Scan() && in.Text() != "returned <nil>" {
	}
	if y.count() < 2 {
		t.Fatalf("%d are left in the background", y.count())
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	eventually(t, 3*time.Second, "their end", func() bool { return y.count() == 0 })
}

// Neither signals nor looks of commands reach the first process of their session, or us.
func TestSession_First(t *testing.T) {
	y := inSession(t)
	run(t, y.runner, y.shell(background))
	if _, out := run(t, y.runner, y.shell("grep SigIgn /proc/self/status; sleep 100 & kill $!; wait $!; echo $?")); !strings.Contains(out, "\t0000000000000000\n") || !strings.HasSuffix(out, "\n143\n") {
		t.Errorf("a command ignores signals: %s", out)
	}
	for _, script := range []string{
		"i=1; while [ $i -le 64 ]; do kill -$i 1 2>/dev/null; i=$((i+1)); done", "$SELF trace 1", "$SELF memory 1", "readlink /proc/1/fd/0", "cat /proc/1/fd/0", "ls /proc/1/root/",
		"cat /proc/1/environ", "$SELF namespace 1", "cat /proc/1/maps", fmt.Sprintf("kill -0 %d", os.Getpid()), fmt.Sprintf("[ -d /proc/%d/fd ] && ls /proc/%d/fd", os.Getpid(), os.Getpid()),
		"echo 0 > /proc/1/oom_score_adj",
	} {
		if res, out := run(t, y.runner, y.shell(script)); res.Exit == 0 && !strings.HasPrefix(script, "i=1") {
			t.Errorf("%s: %s", script, out)
		}
	}
	run(t, y.runner, y.shell("(while :; do kill -TERM 1; kill -VTALRM 1; kill -34 1; done) >/dev/null 2>&1 &"))
	for range 10 { // it blocks signals while it starts a process
		if res, out := run(t, y.runner, y.shell("true")); res.Exit != 0 {
			t.Fatalf("%+v %s", res, out)
		}
	}
	if y.count() == 0 {
		t.Error("the session has ended")
	}
	_, _ = y.runner.Run(t.Context(), y.shell("kill -9 -1"), func([]byte) {}) // itself, too
	if res, out := run(t, y.runner, y.shell("echo on")); res.Exit != 0 || out != "on\n" {
		t.Errorf("%+v %s", res, out)
	}
}

// A server is started, and started again on the same port, by calls of one session.
func TestSession_Restart(t *testing.T) {
	y := inSession(t)
	run(t, y.runner, y.shell(`$SELF listen 127.0.0.1:0 > port 2>&1 & while [ ! -s port ]; do sleep 0.01; done; echo $! > pid`))
	if res, out := run(t, y.runner, y.shell(`$SELF tcp $(cat port)`)); res.Exit != 0 {
		t.Fatalf("no server: %s", out)
	}
	res, out := run(t, y.runner, y.shell(`kill $(cat pid); while [ -d /proc/$(cat pid) ]; do sleep 0.01; done; ! $SELF tcp $(cat port); $SELF listen $(cat port) > again 2>&1 & while [ ! -s again ]; do sleep 0.01; done; cat again`))
	if res.Exit != 0 || !strings.Contains(out, "127.0.0.1:") {
		t.Errorf("%+v %s", res, out)
	}
	if res, out := run(t, y.runner, y.shell(`$SELF tcp $(cat port)`)); res.Exit != 0 {
		t.Errorf("no server again: %s", out)
	}
}

// portHolders prints the processes that listen on a port, as fuser does where it is installed: by the
// sockets that /proc shows among their files.
const portHolders = `holders() {
	inode=$(awk -v port=$(printf :%04X $1) '$2 ~ port"$" && $4 == "0A" {print $10}' /proc/net/tcp)
	for fd in /proc/[0-9]*/fd/*; do
		if [ "$(readlink $fd)" = "socket:[$inode]" ]; then pid=${fd#/proc/}; echo ${pid%%/*}; fi
	done
}
`

// A server is found by its port, and ended, by a later call of the same session; not by one of another.
func TestSession_FindByPort(t *testing.T) {
	y := inSession(t)
	serve := y.shell(`$SELF listen 127.0.0.1:0 > port 2>&1 & while [ ! -s port ]; do sleep 0.01; done; echo $! > pid`)
	run(t, y.runner, serve)
	port := `port=$(sed 's/.*://' port); `
	if _, out := run(t, y.runner, y.shell(portHolders+port+`[ "$(holders $port)" = "$(cat pid)" ] && echo found`)); out != "found\n" {
		t.Errorf("a later call does not find it: %s", out)
	}
	other := y.shell(portHolders + port + `holders $port`)
	other.Profile.Session = "ses_other"
	if _, out := run(t, y.runner, other); out != "" {
		t.Errorf("another session finds %s", out)
	}
	looks := y.shell(portHolders + port + `holders $port; readlink /proc/$(cat pid)/fd/0`)
	looks.Profile.Write = nil // what it may do is not what the other may
	if res, out := run(t, y.runner, looks); res.Exit == 0 {
		t.Errorf("a command that may write less looks into one that may write more: %s", out)
	}
	for program, script := range map[string]string{
		"lsof": `[ "$(lsof -t -i :$port)" = "$(cat pid)" ]`, "ss": `ss -lptn "sport = $port" | grep -q "pid=$(cat pid),"`, "fuser": `fuser $port/tcp | grep -qw "$(cat pid)"`,
	} {
		if _, err := exec.LookPath(program); err != nil {
			continue
		}
		if res, out := run(t, y.runner, y.shell(port+script)); res.Exit != 0 {
			t.Errorf("%s does not find it: %s", program, out)
		}
	}
	if _, err := exec.LookPath("fuser"); err != nil {
		t.Skip("there is no fuser to try (psmisc)")
	}
	res, out := run(t, y.runner, y.shell(port+`fuser -k $port/tcp; while [ -d /proc/$(cat pid) ]; do sleep 0.01; done; $SELF listen $(cat port) > again 2>&1 & while [ ! -s again ]; do sleep 0.01; done; cat again`))
	if res.Exit != 0 || !strings.Contains(out, "127.0.0.1:") || strings.Contains(out, "in use") {
		t.Errorf("it does not start again: %+v %s", res, out)
	}
	if res, out := run(t, y.runner, y.shell(`$SELF tcp $(cat port)`)); res.Exit != 0 {
		t.Errorf("no server again: %s", out)
	}
}

// The overlays of a session are mounted once: its commands see at once what others write, and it stays
// for the next one. What the session worked with is gone with it.
func TestSession_Overlay(t *testing.T) {
	y := inSession(t)
	at := y.folders(t, "hidden/upper", "hidden/work", "cache", "hidden/second")
	write(t, at[2]+"/lower", "lower")
	y.profile.Hide = []string{filepath.Dir(at[0])}
	plain := y.profile
	mounts := func(upper string) []sandbox.Mount {
		return []sandbox.Mount{{Type: sandbox.OverlayMount, Source: at[2], Target: at[2], Upper: upper, Work: filepath.Join(at[1], strconv.FormatInt(time.Now().UnixNano(), 36))}}
	}
	y.profile.Mounts = mounts(at[0])
	res, out := run(t, y.runner, y.shell(`cd ../cache; stat -c %d . && (while [ ! -s answer ]; do sleep 0.01; done; cat answer > heard) >/dev/null 2>&1 & echo written > file; stat -c %d ../cache`))
	if len(res.Sandbox.Missing) > 0 {
		t.Skipf("this machine makes no overlays: %v", res.Sandbox.Missing)
	}
	device := strings.Fields(out)[0]
	y.profile.Mounts = mounts(at[0]) // as the next command says it, with another folder to work in
	if res, out := run(t, y.runner, y.shell(`cd ../cache; cat file; echo answer > answer; while [ ! -s heard ]; do sleep 0.01; done; cat heard; stat -c %d .`)); out != "written\nanswer\n"+device+"\n" {
		t.Errorf("%q %+v; want the same mount as %s", out, res, device)
	}
	if _, err := os.Lstat(at[2] + "/file"); err == nil {
		t.Error("the real folder was written")
	}
	y.profile = plain
	if res, out := run(t, y.runner, y.shell(`ls ../cache; echo x > ../cache/new`)); !strings.HasPrefix(out, "lower\n") || res.Exit == 0 {
		t.Errorf("without an overlay: %q %+v", out, res)
	}
	y.profile.Mounts = mounts(at[3])
	if res, out := run(t, y.runner, y.shell(`ls ../cache; echo x > ../cache/new`)); out != "lower\n" || res.Exit != 0 {
		t.Errorf("with changes in another folder: %q %+v", out, res)
	}
	y.profile.Mounts = mounts(at[0])
	if res, out := run(t, y.runner, y.shell(`cd ../cache; cat heard; ls /proc/fs`)); !strings.HasPrefix(out, "answer\n") || strings.Contains(out, "\n1\n") || res.Exit != 0 {
		t.Errorf("with the first again: %q %+v", out, res)
	}
	other := y.shell(`echo y > ../cache/later`)
	other.Profile.Session = "ses_other"
	run(t, y.runner, y.shell(`ls ../cache/later`)) // it is not there
	for n, begun := 1, time.Now(); ; n++ {         // a busy system lets go of one a little later
		other.Profile.Mounts, y.profile.Mounts = mounts(at[0]), mounts(at[0])
		run(t, y.runner, other)
		run(t, y.runner, y.shell(`true`))
		left, err := os.ReadDir(at[1])
		if n >= 3 && len(left) == 3 && err == nil { // two of one session, one of the other
			break
		}
		if time.Since(begun) > 30*time.Second || err != nil {
			t.Fatalf("those that nobody uses stay: %v %v", left, err)
		}
	}
	if res, out := run(t, y.runner, y.shell(`cd ../cache; cat later; echo z > later; cat later`)); out != "y\nz\n" || res.Exit != 0 {
		t.Errorf("after another session wrote: %q %+v", out, res)
	}
	y.runner.EndSession("ses_test")
	y.runner.EndSession("ses_other")
	if left, err := os.ReadDir(at[1]); len(left) > 0 || err != nil {
		t.Errorf("left is %v %v", left, err)
	}
}

// A temporary folder that was removed while the session lives is there again with the next command
// that is given one, and a command that still runs loses no more than its files.
func TestSession_TempRemoved(t *testing.T) {
	y := inSession(t)
	temp := filepath.Join(y.home, "session-temp")
	mkdir := func() {
		t.Helper()
		if err := os.MkdirAll(temp, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	y.profile.Temp = temp
	mkdir()
	if res, out := run(t, y.runner, y.shell("echo one >/tmp/a && (while :; do sleep 0.05; done >/dev/null 2>&1 &) ; cat /tmp/a")); res.Exit != 0 || out != "one\n" {
		t.Fatalf("%+v %q", res, out)
	}
	if err := os.RemoveAll(temp); err != nil {
		t.Fatal(err)
	}
	mkdir()
	if res, out := run(t, y.runner, y.shell("[ ! -e /tmp/a ] && echo two >/tmp/b && cat /tmp/b")); res.Exit != 0 || out != "two\n" {
		t.Errorf("%+v %q", res, out)
	}
}
