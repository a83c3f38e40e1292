//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lathe-agent/lathe/client"
)

// startTime is how long a node may take to start.
const startTime = 60 * time.Second

// node is one machine of the cluster: a lathe process, and its connections to the services.
type node struct {
	name    string // n1
	home    string
	url     *url.URL
	store   *proxy // to PostgreSQL; nil with SQLite
	bus     *proxy // to NATS
	skew    time.Duration
	client  *client.Client
	cluster *cluster

	mu    sync.Mutex // guards the fields below
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
	run   int           // how many processes there were
}

// life is one process of a node, such as n1.3: its name in the address of the model it talks to.
func (n *node) life() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.name + "." + strconv.Itoa(n.run)
}

// pid returns the process, 0 without one.
func (n *node) pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd == nil {
		return 0
	}
	return n.cmd.Process.Pid
}

// args are the arguments of lathe.
func (n *node) args() []string {
	c := n.cluster
	a := []string{"serve", "--port", n.url.Port(), "--no-auth", "--metrics", "--print-logs", "-C", c.place}
	if n.store != nil {
		a = append(a, "--store", c.primary.Load().dsn(n.store.addr())+"&"+lifeSetting+"="+n.life(), "--place", "shop="+c.place, "--node-addr", n.url.String())
	}
	if n.bus != nil && !c.noBus {
		a = append(a, "--bus", "nats://"+n.bus.addr())
	}
	if c.s3 != nil && !c.noBlobs {
		a = append(a, "--blobs", "s3://"+bucket+"/values")
	}
	return a
}

// environment is that of a fresh user, with the scripted model as the only provider.
func (n *node) environment(model string) ([]string, error) {
	settings, err := json.Marshal(map[string]any{
		"model": "bench/m", "permission": map[string]string{"*": "allow"}, "resume": "auto", "autoupdate": false,
		"checks": map[string]bool{"todos": false, "checklist": false, "unverified": false},
		"provider": map[string]any{"bench": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "options": map[string]string{"baseURL": model + "/v1", "apiKey": "none"},
			"models": map[string]any{"m": map[string]bool{"tool_call": true}},
		}},
	})
	env := []string{
		"PATH=" + searchPath(), "HOME=" + n.home, "LATHE_CONFIG_CONTENT=" + string(settings), "LATHE_DATA=" + n.cluster.dataOf(n),
		"GIT_CONFIG_NOSYSTEM=1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=us-east-1",
	}
	if s3 := n.cluster.s3; s3 != nil {
		env = append(env, "AWS_ENDPOINT_URL="+s3.URL, "AWS_ENDPOINT_URL_S3="+s3.URL)
	}
	if n.skew != 0 {
		env = append(env, clockVariable+"="+strconv.Itoa(int(n.skew/time.Second)))
	}
	return env, err
}

// start starts a process and waits until it is ready.
func (n *node) start(ctx context.Context) error {
	n.mu.Lock()
	n.run++
	n.mu.Unlock()
	args := n.args()
	env, err := n.environment(n.cluster.provider.address(n.life()))
	if err == nil && n.cluster.compose != "" && n.store != nil {
		args, env, err = n.composed(env)
	}
	if err != nil {
		return err
	}
	log, err := os.OpenFile(n.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(n.cluster.binary, args...)
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.SysProcAttr = n.cluster.place, env, log, childOf(nil)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended, ready := make(chan struct{}), make(chan error, 1)
	n.mu.Lock()
	n.cmd, n.ended = cmd, ended
	n.mu.Unlock()
	go func() { // until the process ends, which close waits for
		line, err := bufio.NewReader(out).ReadString('\n')
		if err == nil && !strings.Contains(line, "listening on ") {
			err = fmt.Errorf("it printed %q", line)
		}
		ready <- err
		_ = cmd.Wait()
		n.mu.Lock()
		if n.cmd == cmd {
			n.cmd = nil
		}
		n.mu.Unlock()
		close(ended)
	}()
	select {
	case err = <-ready:
	case <-time.After(startTime):
		err = errors.New("it is not ready after " + startTime.String())
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("node %s does not start: %w\n%s", n.name, err, tail(n.logFile()))
	}
	return nil
}

// signal sends a signal to the process. It does nothing without one.
func (n *node) signal(sig syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd != nil {
		_ = n.cmd.Process.Signal(sig)
	}
}

// wait returns when the process has ended, and reports whether it did in time.
func (n *node) wait(limit time.Duration) bool {
	n.mu.Lock()
	ended := n.ended
	n.mu.Unlock()
	if ended == nil {
		return true
	}
	select {
	case <-ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// isLive asks the process whether it can continue. One that does not answer counts as live: it may stand still.
func (n *node) isLive(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url.String()+"/lathe/live", nil)
	if err != nil {
		return true
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return true
	}
	_ = res.Body.Close()
	return res.StatusCode < 500
}

// kill ends the process as a crash does.
func (n *node) kill() {
	n.signal(syscall.SIGKILL)
	n.wait(startTime)
}

// quit ends the process with its stacks in the log.
func (n *node) quit() {
	n.signal(syscall.SIGQUIT)
	if !n.wait(5 * time.Second) {
		n.kill()
	}
}

func (n *node) logFile() string { return filepath.Join(n.home, "log") }

// tail returns the end of a file.
func tail(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-2000):])
}
