package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// attackScript is a client of the server in bash alone: it asks for the sessions, shows the status, and
// then sends a request to make one and leaves without waiting for the answer.
const attackScript = `exec 3<>/dev/tcp/127.0.0.1/%[1]s || exit 9
printf 'GET /session HTTP/1.0\r\nHost: localhost\r\nAuthorization: Basic %[2]s\r\n\r\n' >&3
read -r line <&3; echo "status: $line"; grep -o 'cannot use lathe' <&3
exec 3>&-
exec 3<>/dev/tcp/127.0.0.1/%[1]s
printf 'POST /session HTTP/1.0\r\nHost: localhost\r\nAuthorization: Basic %[2]s\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{"title":"attack"}' >&3
exec 3>&-
exit 0
`

// debugScript asks for a profile of the server and shows the status.
const debugScript = `exec 3<>/dev/tcp/127.0.0.1/%[1]s || exit 9
printf 'GET /debug/pprof/heap HTTP/1.0\r\nHost: localhost\r\nAuthorization: Basic %[2]s\r\n\r\n' >&3
read -r line <&3; echo "profiles: $line"
exec 3>&-
`

// peerScene is a server whose model runs attack.sh, in the project, when it is prompted.
type peerScene struct {
	*serving
	dir string
}

func newPeerScene(t *testing.T, mode string, env []string, args ...string) *peerScene {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the attack is written for bash: ", err)
	}
	m := modeltest.Start(t, modeltest.MustParse("call bash {\"command\":\"bash attack.sh\"}\nfinish tool-calls\n--\ntext \"Done.\"\nfinish stop\n--\ntext \"Title\"\nfinish stop\n"))
	home := serveHome(t, m.URL)
	dir := filepath.Join(home, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	env = append(env, `LATHE_CONFIG_CONTENT={"sandbox":"`+mode+`","permission":"allow"}`)
	return &peerScene{startServe(t, home, env, args...), dir}
}

// attack has the model run a script and returns what it printed.
func (s *peerScene) attack(script string) string {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "attack.sh"), []byte(script), 0o755); err != nil {
		s.Fatal(err)
	}
	at := "?directory=" + url.QueryEscape(s.dir)
	var session struct{ ID string }
	s.ask(200, &session, "POST", "/session"+at, `{"title":"the prompt"}`)
	return s.ask(200, nil, "POST", "/session/"+session.ID+"/message"+at, `{"parts":[{"type":"text","text":"Attack."}]}`) +
		s.ask(200, nil, "GET", "/session/"+session.ID+"/message"+at, "")
}

// freePort is a port that nobody listens at, and none that the system gives to clients: those would take it meanwhile.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(10_000 + rand.IntN(20_000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("all ports are in use")
	return ""
}

func (s *peerScene) titles() (out []string) {
	var list []struct{ Title string }
	s.ask(200, &list, "GET", "/session?scope=project", "")
	for _, l := range list {
		out = append(out, l.Title)
	}
	return out
}

// A command of a model reaches the server and knows the password, and is refused. The same script is
// served when the user runs it.
func TestServe_RefusesCommands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode, password string
	}{
		"password":        {"workspace", "hidden-word"},
		"no password":     {"workspace", ""},
		"without sandbox": {"off", "hidden-word"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.mode != "off" {
				confinable(t)
			}
			env := []string{"LATHE_NO_AUTH=1"}
			if tt.password != "" {
				env = []string{"OPENCODE_SERVER_PASSWORD=" + tt.password}
			}
			debug := freePort(t)
			s := newPeerScene(t, tt.mode, env, "--debug-addr", "127.0.0.1:"+debug)
			s.key = tt.password
			key := base64.StdEncoding.EncodeToString([]byte("opencode:" + tt.password))
			script := fmt.Sprintf(debugScript, debug, key) + fmt.Sprintf(attackScript, s.url[strings.LastIndex(s.url, ":")+1:], key)
			got := s.attack(script)
			if !strings.Contains(got, "status: HTTP/1.0 403 Forbidden") || !strings.Contains(got, "cannot use lathe") || !strings.Contains(got, "profiles: HTTP/1.0 403 Forbidden") {
				t.Errorf("the command was told: %s", got)
			}
			if all := fmt.Sprint(s.titles()); strings.Contains(all, "attack") {
				t.Errorf("the command made sessions: %s", all)
			}
			cmd := exec.Command("bash", filepath.Join(s.dir, "attack.sh"))
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "status: HTTP/1.0 200 OK") || !strings.Contains(string(out), "profiles: HTTP/1.0 200 OK") {
				t.Errorf("the user was told: %s (%v)", out, err)
			}
			s.end()
		})
	}
}

// The same over a unix socket, which the command knows how to reach.
func TestServe_RefusesCommandsOnSocket(t *testing.T) {
	m := modeltest.Start(t, modeltest.MustParse("call bash {\"command\":\"sh attack.sh\"}\nfinish tool-calls\n--\ntext \"Done.\"\nfinish stop\n--\ntext \"Title\"\nfinish stop\n"))
	home := serveHome(t, m.URL)
	socket := filepath.Join(home, "s")
	startServe(t, home, []string{"LATHE_NO_AUTH=1"}, "--socket", socket)
	list := []string{"session", "list", "--attach", "unix://" + socket}
	lathe, err := exec.LookPath("lathe")
	if err != nil {
		t.Fatal(err)
	}
	script := "LATHE_DATA=" + home + "/other " + lathe + " " + strings.Join(list, " ") + " 2>&1; echo code $?"
	if err := os.WriteFile(filepath.Join(home, "attack.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	run := command(t, home, "run", "--attach", "unix://"+socket, "--format", "json", "--title", "attack", "--auto", "Attack.")
	run.Env = append(run.Env, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"))
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "cannot use lathe") || strings.Contains(string(out), "code 0") {
		t.Errorf("%v: %s", err, out)
	}
	if out := must(t, home, list...); !strings.Contains(out, "ses_") {
		t.Errorf("the user sees %q", out)
	}
}

// Terminals and shell commands of clients have the sandbox of the directory, and job control. With
// the sandbox off they have neither, and may use the server.
func TestServe_TerminalsConfined(t *testing.T) {
	t.Parallel()
	confinable(t)
	for _, mode := range []string{"workspace", "off"} {
		t.Run(mode, func(t *testing.T) {
			s := newPeerScene(t, mode, []string{"LATHE_NO_AUTH=1"})
			outside := filepath.Join(s.home, ".bashrc") // a folder for temporary files may be around the home
			port := s.url[strings.LastIndex(s.url, ":")+1:]
			script := `set -m; sleep 0.01 & fg >/dev/null && (: < /dev/tty) && echo jobs > jobs; echo x > ` + outside + `; exec 3<>/dev/tcp/127.0.0.1/` + port +
				` && printf 'GET /path HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3 && read -r line <&3; echo "$line" > said; echo $$ > all; mv all pid; sleep 60`
			body, err := json.Marshal(map[string]any{"command": "bash", "args": []string{"-c", script}})
			if err != nil {
				t.Fatal(err)
			}
			at := "?directory=" + url.QueryEscape(s.dir)
			s.ask(200, nil, "POST", "/pty"+at, string(body))
			terminalPID(t, s.dir)
			s.confined(mode, "terminal", outside)
			if text, err := os.ReadFile(filepath.Join(s.dir, "jobs")); err != nil || string(text) != "jobs\n" {
				t.Errorf("no job control: %q (%v)", text, err)
			}
			var session struct{ ID string }
			s.ask(200, &session, "POST", "/session"+at, `{}`)
			script = strings.TrimSuffix(script[strings.Index(script, "echo x >"):], "; echo $$ > all; mv all pid; sleep 60")
			body, err = json.Marshal(map[string]any{"agent": "build", "command": "bash -c " + shellQuote(script)})
			if err != nil {
				t.Fatal(err)
			}
			s.ask(200, nil, "POST", "/session/"+session.ID+"/shell"+at, string(body))
			s.confined(mode, "shell command", outside)
			s.end()
		})
	}
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// confined holds what a script could do, and removes what it left.
func (s *peerScene) confined(mode, what, outside string) {
	s.Helper()
	said, _ := os.ReadFile(filepath.Join(s.dir, "said"))
	text, _ := os.ReadFile(outside) // where it is protected, something empty may stand in for it
	if wrote := string(text) == "x\n"; wrote != (mode == "off") {
		s.Errorf("%s in mode %s: it wrote outside: %v", what, mode, wrote)
	}
	want := map[string]string{"off": "HTTP/1.0 200 OK", "workspace": "HTTP/1.0 403 Forbidden"}[mode]
	if got := strings.TrimSpace(string(said)); got != want {
		s.Errorf("%s in mode %s: the server said %q, not %q", what, mode, got, want)
	}
	_ = os.Remove(outside)
	_ = os.Remove(filepath.Join(s.dir, "said"))
}
