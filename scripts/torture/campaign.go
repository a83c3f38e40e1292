package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/lathe-agent/lathe/scripts/turncheck"
)

// earliest is when after its start a child may be killed.
const earliest = 5 * time.Millisecond

// finishTime is how long the last child may take to bring everything to rest.
const finishTime = 2 * time.Minute

// campaign is the parent's side.
type campaign struct {
	out      io.Writer
	seed     uint64
	dir      string
	provider *provider
	client   *turncheck.Reader
	from     []int           // of each slot, the first prompt that was not admitted for sure
	admitted map[string]bool // tokens of the prompts that were
	wrong    []string
	count    counts
}

func newCampaign(out io.Writer, seed uint64, dir string) (*campaign, error) {
	if err := os.MkdirAll(filepath.Join(dir, "marks"), 0o755); err != nil {
		return nil, err
	}
	p, err := newProvider(seed)
	if err != nil {
		return nil, err
	}
	return &campaign{
		out: out, seed: seed, dir: dir, provider: p, client: turncheck.NewReader(), from: make([]int, slots), admitted: map[string]bool{},
		count: counts{began: time.Now()},
	}, nil
}

func (c *campaign) close() { c.provider.close() }

func (c *campaign) violation(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// run kills, and then lets a last child finish.
func (c *campaign) run(kills int, latest time.Duration) error {
	instants := rand.New(rand.NewPCG(c.seed, 2))
	for i := range kills {
		after := earliest + time.Duration(instants.Int64N(int64(max(1, latest-earliest))))
		if err := c.child(i, after); err != nil {
			return err
		}
		if (i+1)%100 == 0 {
			fmt.Fprintf(c.out, "%5d kills, %d prompts, %d violations, %s\n", i+1, len(c.admitted), len(c.wrong), time.Since(c.count.began).Round(time.Second))
		}
	}
	c.count.killing = time.Since(c.count.began)
	c.provider.calm.Store(true)
	return c.child(kills, 0)
}

// child runs one child. A child that will be killed must not end before; the last one must.
func (c *campaign) child(run int, after time.Duration) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	work, err := json.Marshal(job{
		Dir: c.dir, URL: c.provider.url, Seed: c.seed, Run: run, Cursor: c.client.At.String(), From: c.from, Finish: after == 0,
	})
	if err != nil {
		return err
	}
	cmd := exec.Command(exe, childName, string(work))
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	end := func() { _ = cmd.Process.Kill() }
	if after == 0 { // one that hangs says where
		after, end = finishTime, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) }
	}
	timer := time.AfterFunc(after, end)
	c.listen(out)
	err = cmd.Wait()
	early := timer.Stop()
	c.requests()
	switch finish := after == finishTime; {
	case finish && err != nil:
		return fmt.Errorf("the last child did not come to rest: %w\n%s", err, said.String())
	case !finish && early:
		return fmt.Errorf("child %d ended by itself: %w\n%s", run, err, said.String())
	}
	return nil
}

// listen takes in what a child tells, until it is gone. A line without an end is none.
func (c *campaign) listen(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		switch rest := line[1:]; line[0] {
		case reportEvent:
			if err := takeLine(c.client, rest); err != nil {
				c.violation("feed: %v", err)
			}
		case reportAdmitted:
			var slot, n int
			if _, err := fmt.Sscan(rest, &slot, &n); err == nil {
				c.admitted[order{c.seed, slot}.token(n)] = true
				if slot == childSlot {
					c.count.children++
				} else {
					c.from[slot] = max(c.from[slot], n+1)
				}
			}
		case reportRecovered:
			var n int
			if _, err := fmt.Sscan(rest, &n); err == nil {
				c.count.recovered += n
			}
		case reportCanceled:
			c.count.cancels++
		case reportRejected:
			c.count.rejections++
		default:
			c.violation("%s", rest)
		}
	}
}

// requests looks at what the models were asked.
func (c *campaign) requests() {
	for _, r := range c.provider.renew() {
		c.count.requests++
		if r.Problem != "" {
			c.violation("a %s provider refuses request %d: %s\n%s", r.Protocol, r.N, r.Problem, r)
		}
	}
}

// counts are the statistics of a campaign.
type counts struct {
	began   time.Time
	killing time.Duration // until the last kill

	recovered                             int // sessions, by all children together
	sessions, messages, histories         int // histories: how many protocols each was sent to
	prompts, answers, cut, resumed        int // cut off, and continued by a prompt of the engine
	cancels, canceled                     int // by the user, and prompts that ended so
	rejections, rejected                  int // of asks, and prompts that ended so
	children, retries                     int // prompts to sessions below others; times a session said it tries again
	requests, faults                      int // faults: of the provider, by intent
	completed, interrupted, failed, marks int // calls, and what they left
	events                                int // that the client received
}

func (n *counts) print(out io.Writer, kills int) {
	each := time.Duration(0)
	if kills > 0 {
		each = n.killing / time.Duration(kills)
	}
	fmt.Fprintf(out, `kills        %d in %s (%s each), sessions recovered %d
sessions     %d with %d messages, each history sent to %d protocols
prompts      %d admitted, %d answered; answers cut off %d, continued by a prompt %d
ended        %d by %d cancels, %d by %d rejected asks; answered otherwise
children     %d prompts from tools to sessions below their own
requests     %d, provider faults %d, reported as retries %d
calls        %d completed, %d interrupted, %d failed; marks in files %d
feed         %d events across %d restarts
whole run    %s
`, kills, n.killing.Round(time.Millisecond), each.Round(time.Millisecond), n.recovered, n.sessions, n.messages, n.histories,
		n.prompts, n.answers, n.cut, n.resumed, n.canceled, n.cancels, n.rejected, n.rejections, n.children,
		n.requests, n.faults, n.retries, n.completed, n.interrupted, n.failed, n.marks,
		n.events, kills, time.Since(n.began).Round(time.Millisecond))
}
