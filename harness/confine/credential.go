package confine

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/internal/netaddr"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/sandbox"
)

// git in the sandbox cannot read the user's passwords. A plain git command line gets a credential helper: this program,
// which asks the lathe process outside over a socket. That process asks the user's own helpers, but only for hosts of
// the repository's remotes.

const (
	credentialWord  = "__git-credential"
	credentialGrant = "LATHE_GIT_GRANT" // the variable that says on whose behalf it asks

	credentialTime  = 30 * time.Second // for an answer of the user's helpers
	credentialBytes = 16 << 10         // of a question or an answer
	mostGrants      = 200              // of lines that may still ask
)

// credentials answers the questions of git.
type credentials struct {
	log     *slog.Logger
	environ func() []string // that the user's helpers run with

	mu     sync.Mutex
	socket string // "" until the first grant
	listen net.Listener
	order  []string // of grants, the oldest first
	grants map[string][]string
	work   sync.WaitGroup
}

// grant lets a line ask for the hosts, as https://example.org. It returns the socket and the name of
// the grant.
func (c *credentials) grant(hosts []string) (socket, name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listen == nil {
		if err := c.open(); err != nil {
			return "", "", err
		}
	}
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return "", "", err
	}
	name = hex.EncodeToString(b)
	c.grants[name] = hosts
	if c.order = append(c.order, name); len(c.order) > mostGrants {
		delete(c.grants, c.order[0])
		c.order = c.order[1:]
	}
	return c.socket, name, nil
}

// open listens in a folder that other users cannot enter: the path of a socket must be short,
// so it is not in the data folder. The mutex is held.
func (c *credentials) open() error {
	dir, err := os.MkdirTemp("", "lathe-git-")
	if err != nil {
		return err
	}
	socket := filepath.Join(dir, "s")
	if c.listen, err = net.Listen("unix", socket); err != nil {
		return errors.Join(err, os.Remove(dir))
	}
	c.socket, c.grants = socket, map[string][]string{}
	c.work.Go(func() { c.serve(c.listen) })
	return nil
}

func (c *credentials) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // closed
		}
		c.work.Go(func() {
			defer func() { _ = conn.Close() }() // the other side has what there is
			_ = conn.SetDeadline(time.Now().Add(credentialTime + 5*time.Second))
			_, _ = conn.Write(c.answer(conn)) // the command may have ended
		})
	}
}

// close ends it, and waits for those that are being answered.
func (c *credentials) close() {
	c.mu.Lock()
	if c.listen != nil {
		_ = c.listen.Close() // which removes the socket
		_ = os.Remove(filepath.Dir(c.socket))
	}
	c.mu.Unlock()
	c.work.Wait()
}

// answer reads a request, which is the name of a grant and git's input, and returns the answer for git. An empty answer
// means no password.
func (c *credentials) answer(conn io.Reader) []byte {
	lines := bufio.NewScanner(io.LimitReader(conn, credentialBytes))
	name := ""
	if lines.Scan() {
		name = lines.Text()
	}
	said := map[string]string{}
	for lines.Scan() && lines.Text() != "" {
		key, value, _ := strings.Cut(lines.Text(), "=")
		said[key] = value
	}
	c.mu.Lock()
	hosts, known := c.grants[name]
	c.mu.Unlock()
	protocol, host := said["protocol"], said["host"]
	if !known || !slices.Contains(hosts, protocol+"://"+host) {
		c.log.Warn("a command asked for a password of another host", "host", host, "granted", known)
		return nil
	}
	return c.askHelpers(protocol, host, said["path"], said["username"])
}

// askHelpers runs the user's own credential helpers outside of any repository, so that no repository's config counts.
func (c *credentials) askHelpers(protocol, host, path, username string) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), credentialTime)
	defer cancel()
	git, err := exec.LookPath("git")
	if err != nil || !filepath.IsAbs(git) {
		return nil
	}
	question := "protocol=" + protocol + "\nhost=" + host + "\n"
	if path != "" {
		question += "path=" + path + "\n"
	}
	if username != "" {
		question += "username=" + username + "\n"
	}
	cmd := exec.CommandContext(ctx, git, "credential", "fill")
	cmd.Dir, cmd.Stdin = string(filepath.Separator), strings.NewReader(question+"\n")
	cmd.Env = append(slices.DeleteFunc(slices.Clone(c.environ()), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "GIT_CONFIG_") || strings.HasPrefix(v, "SSH_ASKPASS")
	}), "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never", "GIT_ASKPASS=", "SSH_ASKPASS=")
	out, err := cmd.Output()
	if err != nil || len(out) > credentialBytes {
		return nil
	}
	var answer bytes.Buffer
	for line := range strings.Lines(string(out)) {
		if key, _, _ := strings.Cut(line, "="); key == "username" || key == "password" {
			answer.WriteString(line)
		}
	}
	return answer.Bytes()
}

// RunGitHelper runs this program as git's credential helper in the sandbox. It ignores requests to store or erase a
// password, because only the user decides that.
func RunGitHelper(args []string, env func(string) string) bool {
	if len(args) < 3 || args[1] != credentialWord {
		return false
	}
	if len(args) < 4 || args[3] != "get" {
		return true
	}
	question, err := io.ReadAll(io.LimitReader(os.Stdin, credentialBytes))
	if err != nil {
		return true
	}
	conn, err := net.Dial("unix", args[2])
	if err != nil {
		return true // git says that it has no password
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, env(credentialGrant)+"\n"+strings.TrimRight(string(question), "\n")+"\n\n"); err == nil {
		_, _ = io.Copy(os.Stdout, conn) // pass the answer to git
	}
	return true
}

// remoteHosts are the hosts that the remotes of a repository are on and that want passwords, as git
// asks for them: https://example.org:8443.
func remoteHosts(config string) (out []string) {
	data, err := gitobj.ReadFile(config, 1<<20)
	if err != nil {
		return nil
	}
	lines, _ := gitobj.ConfigLines(data) // lines before a syntax error count
	for _, l := range lines {
		if l.Header || !strings.HasPrefix(l.Key, "remote.") || !strings.HasSuffix(l.Key, ".url") && !strings.HasSuffix(l.Key, ".pushurl") {
			continue
		}
		u, err := url.Parse(l.Value)
		if err == nil && (u.Scheme == "https" || u.Scheme == "http" && netaddr.IsLoopback(u.Hostname())) && u.Host != "" { // a password for another machine goes over TLS only
			out = append(out, u.Scheme+"://"+u.Host)
		}
	}
	return out
}

// sharePasswords lets the git of a line ask for the passwords of the repository's remotes.
func (f *Policy) sharePasswords(p *sandbox.Profile, at datadir.Folders, root, config string) {
	hosts := remoteHosts(config)
	self, err := selfPath()
	if err != nil || len(hosts) == 0 || f.NoCommands {
		return
	}
	socket, name, err := f.gitPasswords.grant(hosts)
	if err != nil {
		f.host.Log.Warn("git in the sandbox gets no passwords", "error", err)
		return
	}
	p.Sockets, p.Show = append(p.Sockets, socket), append(p.Show, socket, self)
	setEnv(p, credentialGrant, name)
	base := gitEnv(f.host.Env, root, at) // ours come after those
	for _, name := range slices.Sorted(maps.Keys(base)) {
		if name != "GIT_CONFIG_COUNT" {
			setEnv(p, name, base[name])
		}
	}
	env := func(name string) string { return base[name] }
	setGit(p, env, "credential.helper", "") // those of the user would fail in there
	setGit(p, env, "credential.helper", "!"+termtext.ShellWord(self)+" "+credentialWord+" "+termtext.ShellWord(socket))
}

// selfPath is the file of this program, by the name it was started with if that is a whole path.
func selfPath() (string, error) {
	if path := os.Args[0]; filepath.IsAbs(path) {
		return path, nil
	}
	if path, err := exec.LookPath(os.Args[0]); err == nil && filepath.IsAbs(path) {
		return path, nil
	}
	return os.Executable()
}
