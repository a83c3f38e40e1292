//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lathe-agent/lathe/client"
)

// setup says which cluster to start.
type setup struct {
	binary  string // lathe
	nodes   int
	seed    uint64
	sqlite  bool // a database file that all processes share, without NATS and S3
	noBus   bool // the nodes are not connected over NATS
	noBlobs bool // large values are in files of each node
	fsync   bool // PostgreSQL writes to the disk before it answers
	standby bool // and a second server follows it
	skew    time.Duration
	logs    string // folder for the logs of the nodes after a violation; "" keeps none
	compose string // a Compose file whose nodes to start; "" starts the usual ones
	steps   stepPlan
}

// cluster is everything that runs on this machine.
type cluster struct {
	setup
	out      io.Writer
	dir      string // everything is below it
	place    string // the shared project
	began    time.Time
	provider *provider
	primary  atomic.Pointer[postgres] // nil with SQLite
	spare    *postgres                // the standby, nil without one
	nats     *natsServer
	s3       *httptest.Server
	nodes    []*node
	front    *http.Server
	url      string // of the front
	client   *client.Client

	mu sync.Mutex // guards out
}

// say prints a line with the time since the start.
func (c *cluster) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.out, "%7.2fs  %s\n", time.Since(c.began).Seconds(), fmt.Sprintf(format, args...))
}

// newCluster starts all services and nodes. The caller closes it also after an error.
func newCluster(ctx context.Context, out io.Writer, s setup) (c *cluster, err error) {
	c = &cluster{setup: s, out: out, began: time.Now()}
	if c.dir, err = os.MkdirTemp("", "lathe-cluster-"); err != nil {
		return c, err
	}
	if c.dir, err = filepath.EvalSymlinks(c.dir); err != nil {
		return c, err
	}
	if err := os.Chmod(c.dir, 0o711); err != nil { // PostgreSQL runs as another user
		return c, err
	}
	if err := c.makePlace(ctx); err != nil {
		return c, err
	}
	if c.provider, err = newProvider(s.seed, c.place, s.steps); err != nil {
		return c, err
	}
	if !s.sqlite {
		if err := c.startServices(ctx); err != nil {
			return c, err
		}
	}
	return c, c.startNodes(ctx)
}

// makePlace makes the project that all nodes have, a git repository where git is.
func (c *cluster) makePlace(ctx context.Context) error {
	c.place = filepath.Join(c.dir, "shop")
	if err := errors.Join(os.MkdirAll(c.effects(), 0o755), os.MkdirAll(filepath.Join(c.place, "out"), 0o755),
		os.WriteFile(filepath.Join(c.place, "README.md"), []byte("# Shop\n"), 0o600),
		os.WriteFile(filepath.Join(c.place, ".gitignore"), []byte("effects\n"), 0o600)); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "git", "init", "-q", "-b", "main", c.place)
	if out, err := cmd.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("git init: %w\n%s", err, out)
	}
	return nil
}

// effects is the folder in which commands leave their marks.
func (c *cluster) effects() string { return filepath.Join(c.place, "effects") }

func (c *cluster) startServices(ctx context.Context) (err error) {
	began := time.Now()
	db, err := newPostgres(ctx, filepath.Join(c.dir, "pg"), c.fsync)
	if err != nil {
		return err
	}
	c.primary.Store(db)
	c.say("PostgreSQL %s listens on %s, after %s", filepath.Base(filepath.Dir(db.bin)), db.addr(), time.Since(began).Round(time.Millisecond))
	if c.setup.standby {
		if c.spare, err = db.standby(ctx, filepath.Join(c.dir, "standby")); err != nil {
			return err
		}
		c.say("a standby of it listens on %s; each commit waits for it", c.spare.addr())
	}
	c.nats = &natsServer{}
	if err := c.nats.start(); err != nil {
		return err
	}
	if c.s3, err = newS3(); err != nil {
		return err
	}
	c.say("NATS listens on %s, an S3 server on %s", c.nats.addr(), c.s3.Listener.Addr())
	return nil
}

func (c *cluster) startNodes(ctx context.Context) error {
	var urls []*url.URL
	for i := range c.setup.nodes {
		n, err := c.newNode(i)
		if err != nil {
			return err
		}
		c.nodes, urls = append(c.nodes, n), append(urls, n.url)
		began := time.Now()
		if err := n.start(ctx); err != nil {
			return err
		}
		c.say("node %s serves %s, after %s", n.name, n.url, time.Since(began).Round(time.Millisecond))
		if i == 0 {
			if err := c.watchLeases(ctx); err != nil {
				return err
			}
		}
	}
	var err error
	if c.front, c.url, err = serveLoopback(newFront(urls)); err != nil {
		return err
	}
	c.client, err = client.New(c.url, client.Options{Directory: c.place, Timeout: 10 * time.Second})
	return err
}

func (c *cluster) newNode(i int) (n *node, err error) {
	n = &node{name: fmt.Sprintf("n%d", i+1), cluster: c}
	n.home = filepath.Join(c.dir, n.name)
	if err := os.MkdirAll(n.home, 0o700); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	n.url = &url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}
	n.skew = time.Duration([]int{0, 1, -1}[i%3]) * c.skew
	if n.client, err = client.New(n.url.String(), client.Options{Directory: c.place, Timeout: 10 * time.Second}); err != nil || c.sqlite {
		return n, err
	}
	if n.store, err = newProxy(c.primary.Load().addr()); err != nil {
		return nil, err
	}
	n.bus, err = newProxy(c.nats.addr())
	return n, err
}

// dataOf is the folder of a node's own files. With SQLite it is the same for all, as processes of one user have it.
func (c *cluster) dataOf(n *node) string {
	if c.sqlite {
		return filepath.Join(c.dir, "data")
	}
	return filepath.Join(n.home, "data")
}

// close ends everything and removes it.
func (c *cluster) close() {
	if c.front != nil {
		_ = c.front.Close()
	}
	var all sync.WaitGroup
	for _, n := range c.nodes {
		all.Go(func() {
			n.signal(syscall.SIGCONT)
			n.signal(syscall.SIGTERM)
			if !n.wait(3 * time.Second) {
				n.kill()
			}
			for _, p := range []*proxy{n.store, n.bus} {
				if p != nil {
					p.close()
				}
			}
			_ = n.client.Close()
		})
	}
	all.Wait()
	if c.provider != nil {
		c.provider.close()
	}
	if c.nats != nil {
		c.nats.stop()
	}
	if c.s3 != nil {
		c.s3.Close()
	}
	for _, p := range []*postgres{c.spare, c.primary.Load()} {
		if p != nil {
			p.stop(syscall.SIGQUIT)
		}
	}
	if c.client != nil {
		_ = c.client.Close()
	}
	_ = os.RemoveAll(c.dir)
}
