package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// sshServer runs git for a client that has the key of the user, as the servers of a forge do.
type sshServer struct {
	t      *testing.T
	env    []string
	config *ssh.ServerConfig
	work   sync.WaitGroup
}

// serveSSH starts one that knows a key, and returns its address and the line of known_hosts for it.
func serveSSH(t *testing.T, env []string, known ssh.PublicKey) (address, hosts string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	host, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	s := &sshServer{t: t, env: env, config: &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if string(key.Marshal()) != string(known.Marshal()) {
				return nil, errors.New("not the key of the user")
			}
			return nil, nil
		},
	}}
	s.config.AddHostKey(host)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(); s.work.Wait() })
	s.work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			s.work.Go(func() { s.serve(conn) })
		}
	})
	ip, port, _ := strings.Cut(l.Addr().String(), ":")
	return l.Addr().String(), fmt.Sprintf("[%s]:%s %s", ip, port, ssh.MarshalAuthorizedKey(host.PublicKey()))
}

func (s *sshServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return // which is what happens to those without the key
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		if c.ChannelType() != "session" {
			_ = c.Reject(ssh.UnknownChannelType, "only sessions")
			continue
		}
		ch, asked, err := c.Accept()
		if err != nil {
			return
		}
		s.work.Go(func() { s.session(ch, asked) })
	}
}

// session runs the command of the first request that has one.
func (s *sshServer) session(ch ssh.Channel, asked <-chan *ssh.Request) {
	defer func() { _ = ch.Close() }()
	for r := range asked {
		var exe struct{ Command string }
		if r.Type != "exec" || ssh.Unmarshal(r.Payload, &exe) != nil || !strings.HasPrefix(exe.Command, "git-receive-pack ") {
			_ = r.Reply(r.Type == "env", nil)
			continue
		}
		_ = r.Reply(true, nil)
		cmd := exec.Command("/bin/sh", "-c", exe.Command)
		cmd.Env, cmd.Stdout, cmd.Stderr = s.env, ch, ch.Stderr()
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			s.t.Error(err)
			return
		}
		go func() {
			_, _ = io.Copy(in, ch) // it ends with the channel
			_ = in.Close()
		}()
		_ = cmd.Wait() // how it ended is reported:
		_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(cmd.ProcessState.ExitCode())}))
		return
	}
}

// startAgent starts an agent of OpenSSH and returns its socket.
func startAgent(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"ssh", "ssh-agent", "ssh-add"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	if _, err := user.Current(); err != nil {
		t.Skipf("ssh runs only for a user with a name: %v", err)
	}
	dir, err := os.MkdirTemp("", "agent") // its path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	agent := exec.Command("ssh-agent", "-D", "-a", dir+"/s")
	out, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil { // it listens
		t.Fatal(err)
	}
	return dir + "/s"
}

// sshUser gives the user a key, an agent that has it, and a server that knows it, and returns
// the address of the server. That ssh is notified of its files by the settings of git is for
// the test alone: it finds the folder of a user without HOME.
func (p *pusher) sshUser() string {
	p.t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	block, err1 := ssh.MarshalPrivateKey(private, "")
	known, err2 := ssh.NewPublicKey(public)
	if err := errors.Join(err1, err2); err != nil {
		p.t.Fatal(err)
	}
	p.env = append(p.env, "SSH_AUTH_SOCK="+startAgent(p.t))
	address, hosts := serveSSH(p.t, p.env, known)
	if err := os.MkdirAll(p.home+"/.ssh", 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.write("home/.ssh/id_ed25519", string(pem.EncodeToMemory(block)), 0o600)
	p.write("home/.ssh/id_ed25519.pub", string(ssh.MarshalAuthorizedKey(known)), 0o644)
	p.write("home/.ssh/known_hosts", hosts, 0o600)
	p.write("home/.ssh/config", "UserKnownHostsFile "+p.home+"/.ssh/known_hosts\nIdentityFile "+p.home+"/.ssh/id_ed25519\n", 0o600)
	p.write("home/.gitconfig", "[core]\n\tsshCommand = ssh -F "+p.home+"/.ssh/config\n", 0o600)
	return address
}

// A line of git pushes to a server over SSH by the agent of the user; other lines do not reach it.
func TestPush_Agent(t *testing.T) {
	t.Parallel()
	p := newPusher(t)
	settings := func(text string) { p.write("home/.config/lathe/lathe.json", `{"sandbox": {`+text+`}}`, 0o600) }
	p.git(p.project, "remote", "add", "origin", "ssh://git@"+p.sshUser()+p.remote)
	if out, err := p.run(p.project, "git", "push", "-q", "origin", "main"); err != nil {
		t.Fatalf("the user cannot push with the key: %s", out)
	}
	settings(`"ssh_agent": false, "credentials": ["ssh"]`)
	if out, arrived := p.line("git push origin main"); !arrived {
		t.Errorf("not pushed with the key that the settings open: %s", out)
	}
	settings("")
	if out, arrived := p.line("git push origin main"); arrived {
		t.Fatalf("pushed though the agent is empty and the key hidden: %s", out)
	}
	if out, err := p.run(p.base, "ssh-add", "-q", p.home+"/.ssh/id_ed25519"); err != nil {
		t.Fatal(out)
	}
	if out, arrived := p.line("git push origin main"); !arrived {
		t.Errorf("not pushed: %s", out)
	}
	if out, arrived := p.line("true; git push origin main"); arrived || !strings.Contains(out, `"ssh" to sandbox.credentials`) {
		t.Errorf("pushed by a line that runs more than git, or nothing names the setting: %s", out)
	}
	if out, _ := p.line("ssh-add -l"); strings.Contains(out, "ED25519") {
		t.Errorf("another line reaches the agent: %s", out)
	}
	settings(`"ssh_agent": true`)
	if out, _ := p.line("ssh-add -l"); !strings.Contains(out, "ED25519") {
		t.Errorf("with the setting: %s", out)
	}
	settings(`"ssh_agent": false`)
	if out, arrived := p.line("git push origin main"); arrived {
		t.Errorf("though it is off: %s", out)
	}
	settings("")
	p.write("home/.ssh/known_hosts", "", 0o600)
	if out, arrived := p.line("git push origin main"); arrived || !strings.Contains(out, "Host key verification failed") { // and the user is not asked
		t.Errorf("to a host that is not known: %s", out)
	}
}
