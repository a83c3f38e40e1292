package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe/sandbox"
)

// newNetYard is a yard whose commands can have their own networks.
func newNetYard(t *testing.T, c sandbox.Config) *yard {
	t.Helper()
	c.Launcher, c.Grace = sandbox.Self(), 300*time.Millisecond
	if err := sandbox.Open(c).Kernel().Available(true); err != nil {
		t.Skip(err)
	}
	probe := exec.Command("/bin/true")
	probe.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER, AmbientCaps: []uintptr{unix.CAP_NET_ADMIN},
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	if err := probe.Run(); err != nil {
		t.Skipf("this machine lets nobody have a network of its own: %v", err)
	}
	y := newYard(t, c)
	y.profile.Network = sandbox.Network{Limited: true, Hosts: []string{"example.com"}}
	return y
}

// page is a server of this machine's loopback.
func page(t *testing.T) (url, port string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the page") }))
	t.Cleanup(s.Close)
	_, port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return s.URL, port
}

// Every way out of a command: open without a list, closed with one.
func TestNetwork_Attacks(t *testing.T) {
	y := newNetYard(t, sandbox.Config{})
	url, port := page(t)
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	go func() {
		buf := make([]byte, 64)
		for {
			n, from, err := packets.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = packets.WriteTo(buf[:n], from)
		}
	}()
	attacks := map[string]string{
		"direct":        "$SELF tcp 127.0.0.1:" + port,
		"without proxy": "env -u http_proxy -u HTTP_PROXY -u ALL_PROXY -u all_proxy $SELF fetch " + url,
		"UDP":           "$SELF answer " + packets.LocalAddr().String(),
		"all addresses": "$SELF tcp 0.0.0.0:" + port,
		"by proxy":      `[ -z "$http_proxy" ] && exec $SELF fetch ` + url + `; NO_PROXY= no_proxy= $SELF fetch http://example.net:` + port,
	}
	for name, script := range attacks {
		y.profile.Network = sandbox.Network{}
		if res, out := run(t, y.runner, y.shell(script)); res.Exit != 0 {
			t.Errorf("%s, nothing is limited: %s", name, out)
		}
		for _, session := range []string{"", "session"} {
			for _, hosts := range [][]string{nil, {"example.com", "*.example.org", "localhost:1"}} {
				c := y.shell(script)
				c.Profile.Session, c.Profile.Network = session, sandbox.Network{Limited: true, Hosts: hosts}
				if res, out := run(t, y.runner, c); res.Exit == 0 {
					t.Errorf("%s, with %q in %q: %s", name, hosts, session, out)
				}
			}
		}
	}
}

// Abstract sockets belong to a network, and Landlock keeps them from commands besides. Sockets of
// virtual machines belong to none.
func TestNetwork_Families(t *testing.T) {
	y := newNetYard(t, sandbox.Config{})
	l, err := net.Listen("unix", fmt.Sprintf("@lathe-test-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := y.shell("$SELF unix " + l.Addr().String())
	if res, out := run(t, y.runner, c); res.Exit == 0 {
		t.Errorf("an abstract socket: %s", out)
	}
	c.Profile = sandbox.Profile{}
	if res, out := run(t, y.runner, c); res.Exit != 0 {
		t.Errorf("an abstract socket, not confined: %s", out)
	}
	if res, out := run(t, y.runner, y.shell("$SELF vsock x")); !strings.Contains(out, "permission denied") {
		t.Errorf("%+v %s", res, out)
	}
}

// What is listed is reached: at the same port of the loopback, and by the proxy. What is not is
// refused in words, in the answer and with the result.
func TestNetwork_Listed(t *testing.T) {
	y := newNetYard(t, sandbox.Config{})
	url, port := page(t)
	y.profile.Network = sandbox.Network{Limited: true, Hosts: []string{"example.com", "localhost:" + port}}
	y.profile.Session = "session"
	for name, script := range map[string]string{
		"direct":    "$SELF fetch " + url,
		"localhost": "$SELF fetch http://localhost:" + port,
		// Go uses no proxy for these names, so this one is set by hand.
		"by proxy": "exec 3<>/dev/tcp/127.0.0.1/${http_proxy##*:}; printf 'GET " + url + "/ HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3",
		"CONNECT":  "exec 3<>/dev/tcp/127.0.0.1/${https_proxy##*:}; printf 'CONNECT localhost:" + port + " HTTP/1.1\\r\\n\\r\\nGET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3",
	} {
		c := y.shell(script)
		if strings.Contains(script, "/dev/tcp") {
			c.Path = "/bin/bash"
			if _, err := os.Stat(c.Path); err != nil {
				t.Log("not tried without bash: ", name)
				continue
			}
		}
		if res, out := run(t, y.runner, c); res.Exit != 0 || !strings.Contains(out, "the page") {
			t.Errorf("%s: %+v %s", name, res, out)
		}
	}
	res, out := run(t, y.runner, y.shell("$SELF fetch http://example.net/"))
	want := `sandbox.network does not list "example.net"`
	if res.Exit == 0 || !strings.Contains(out, "403") || !strings.Contains(out, want) {
		t.Errorf("%+v %s", res, out)
	}
	if len(res.Notes) != 1 || !strings.Contains(res.Notes[0], want) {
		t.Errorf("notes: %q", res.Notes)
	}
}

// No list opens what the program itself listens on.
func TestNetwork_Never(t *testing.T) {
	url, port := page(t)
	y := newNetYard(t, sandbox.Config{Forbidden: func(at netip.AddrPort) bool { return fmt.Sprint(at.Port()) == port }})
	y.profile.Network.Hosts = []string{"localhost:" + port}
	if res, out := run(t, y.runner, y.shell("$SELF fetch "+url)); res.Exit == 0 {
		t.Errorf("%+v %s", res, out)
	}
}

// The same of another process of this program.
func TestNetwork_ServedByLathe(t *testing.T) {
	url, port := page(t)
	at := netip.MustParseAddrPort("127.0.0.1:" + port)
	if !sandbox.ServedByLathe(at) { // the tests are one program
		t.Errorf("%s is not known to be ours", url)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no other program that listens: ", err)
	}
	other := exec.Command(python, "-c", "import socket; s=socket.create_server(('127.0.0.1',0)); print(s.getsockname()[1], flush=True); input()")
	in, _ := other.StdinPipe()
	out, _ := other.StdoutPipe()
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer in.Close()
	var theirs uint16
	if _, err := fmt.Fscan(out, &theirs); err != nil {
		t.Fatal(err)
	}
	if sandbox.ServedByLathe(netip.AddrPortFrom(at.Addr(), theirs)) || sandbox.ServedByLathe(netip.MustParseAddrPort("192.0.2.1:"+port)) {
		t.Error("others are taken for ours")
	}
}

// A server of a command is reached at the same port of this machine, as long as it runs.
func TestNetwork_Ports(t *testing.T) {
	y := newNetYard(t, sandbox.Config{})
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	free.Close()
	file := filepath.Join(y.project, "serving")
	write(t, file, "")
	get := func() string {
		resp, err := http.Get("http://" + addr)
		if err != nil {
			return ""
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return string(b)
	}
	res, out := run(t, y.runner, y.shell("$SELF pages "+addr+","+file+" >/dev/null 2>&1 & sleep 0.01"))
	if res.Exit != 0 || len(res.Leftovers) == 0 {
		t.Fatalf("%+v %s", res, out)
	}
	eventually(t, 10*time.Second, "the page of the server inside", func() bool { return get() == "inside" })
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "the port closed", func() bool { return get() == "" })
}

// The commands of a session share its network: a later one reaches the server of an earlier one, and so
// does the machine. Commands of other sessions, and those that reach other hosts, do not.
func TestNetwork_Session(t *testing.T) {
	y := newNetYard(t, sandbox.Config{})
	y.profile.Session = "one"
	file := filepath.Join(y.project, "serving")
	write(t, file, "")
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	free.Close()
	if res, out := run(t, y.runner, y.shell("$SELF pages "+addr+","+file+" >/dev/null 2>&1 & until $SELF tcp "+addr+"; do sleep 0.01; done")); res.Exit != 0 || len(res.Leftovers) == 0 {
		t.Fatalf("%+v %s", res, out)
	}
	fetch := func(session string, hosts ...string) bool {
		c := y.shell("$SELF fetch http://" + addr)
		c.Profile.Session, c.Profile.Network.Hosts = session, hosts
		res, _ := run(t, y.runner, c)
		return res.Exit == 0
	}
	if !fetch("one", "example.com") {
		t.Error("a later command does not reach the server of an earlier one")
	}
	if fetch("two", "example.com") || fetch("one", "example.net") || fetch("one") {
		t.Error("the server is reached from another network")
	}
	eventually(t, 10*time.Second, "the page at the port of this machine", func() bool {
		resp, err := http.Get("http://" + addr)
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil
	})
	y.runner.EndSession("one")
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("the port is open after the end of the session")
	}
}

// A port of this machine that is taken stays with who has it, and the model is notified.
func TestNetwork_PortTaken(t *testing.T) {
	y := newNetYard(t, sandbox.Config{})
	url, port := page(t)
	file := filepath.Join(y.project, "serving")
	write(t, file, "")
	script := fmt.Sprintf("$SELF pages 127.0.0.1:%s,%s & sleep 1; $SELF fetch %s; rm %s; wait", port, file, url, file)
	res, out := run(t, y.runner, y.shell(script))
	if res.Exit != 0 || !strings.Contains(out, "inside") || len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "Port "+port) {
		t.Errorf("%+v %s", res, out)
	}
}
