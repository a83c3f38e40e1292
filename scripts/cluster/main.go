//go:build unix

// Command cluster runs several lathe nodes on this machine, with a PostgreSQL, a NATS and an S3 server of their own.
//
//	cluster demo       shows a turn that moves from a killed node to another
//	cluster torture    does damage by seed under load, and checks that nothing was lost or done twice
//	cluster measure    prints figures, one on each line
//
// Everything listens on the loopback, on ports of its own, and ends with the program. Without PostgreSQL's programs it
// prints the reason and ends with 0.
//
// Start reading at cluster.go and torture.go; check.go says what must hold.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	lathe, control string
	seed           uint64
	lasts          time.Duration
	users, readers int
	keep           bool
	skew           time.Duration
	sqlite         bool
	bus, blobs     bool
	logs, faults   string
}

func main() {
	var o options
	flag.StringVar(&o.lathe, "lathe", "", "the built program; \"\" builds it")
	flag.StringVar(&o.control, "control", "", "switch off a protection in a test build, epoch or fence: the campaign must fail")
	flag.Uint64Var(&o.seed, "seed", 0, "repeat the campaign with this seed; 0 takes a new one")
	flag.DurationVar(&o.lasts, "for", 2*time.Minute, "how long faults happen")
	flag.IntVar(&o.users, "users", 12, "users that send prompts at the same time")
	flag.IntVar(&o.readers, "readers", 6, "readers of the event stream")
	flag.BoolVar(&o.keep, "keep", false, "leave the cluster of the demo running until Ctrl-C")
	flag.DurationVar(&o.skew, "skew", time.Hour, "how far the clock of one node is ahead, and that of another behind, in a test build; 0 needs none")
	flag.BoolVar(&o.sqlite, "sqlite", false, "processes on one database file, without PostgreSQL, NATS and S3")
	flag.BoolVar(&o.bus, "bus", true, "connect the nodes over NATS; without it they poll PostgreSQL")
	flag.BoolVar(&o.blobs, "blobs", true, "keep large values in S3")
	flag.StringVar(&o.faults, "faults", "", "only these faults, separated by commas: "+strings.Join(slices.Compact(kinds(true)), ", "))
	flag.StringVar(&o.logs, "logs", "", "copy the logs of the nodes to this folder after a violation")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx, flag.Arg(0)); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		stop()
		os.Exit(1)
	}
}

func (o options) run(ctx context.Context, what string) error {
	if _, err := findPostgres(); errors.Is(err, errAbsent) && !o.sqlite {
		fmt.Println("skipped:", err)
		return nil
	}
	dir, err := os.MkdirTemp("", "lathe-bin-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano()) % 1_000_000_000
	}
	changes, err := o.changes(what)
	if err != nil {
		return err
	}
	if o.lathe == "" || len(changes) > 0 {
		o.lathe = filepath.Join(dir, "lathe")
		if len(changes) > 0 {
			fmt.Println("building a test build of lathe, which takes minutes the first time")
		}
		if err := build(ctx, o.lathe, changes); err != nil {
			return err
		}
	}
	if o.lathe, err = filepath.Abs(o.lathe); err != nil {
		return err
	}
	switch what {
	case "demo":
		return demo(ctx, os.Stdout, o)
	case "torture":
		return o.torture(ctx)
	case "measure":
		return measure(ctx, os.Stdout, o)
	default:
		return fmt.Errorf("%q is none of demo, torture and measure", what)
	}
}

// changes are those of the test build.
func (o *options) changes(what string) (all []change, err error) {
	if o.control != "" {
		if all, err = control(o.control); err != nil {
			return nil, err
		}
	}
	if what != "torture" || o.control != "" {
		o.skew = 0
	}
	if o.skew != 0 {
		all = append(all, skewedClock()...)
	}
	return all, nil
}

func (o options) torture(ctx context.Context) error {
	p := campaign{
		setup: setup{
			binary: o.lathe, nodes: 3, seed: o.seed, sqlite: o.sqlite, noBus: !o.bus, noBlobs: !o.blobs, fsync: true, standby: !o.sqlite, logs: o.logs,
			steps: stepPlan{calls: 3, words: 40, every: 25 * time.Millisecond, long: true},
		},
		users: o.users, readers: o.readers, lasts: o.lasts, kinds: kinds(true),
	}
	if o.faults != "" {
		p.kinds = strings.Split(o.faults, ",")
		p.setup.standby = slices.Contains(p.kinds, "failover")
	}
	if p.setup.skew = o.skew; o.skew > 15*time.Minute {
		p.setup.noBlobs = true // S3 refuses requests from such a time, and a node says so and does not start
	}
	if o.control != "" { // the faults that the protections are for
		p.setup.standby, p.setup.steps.always, p.kinds = false, true, []string{"stop", "store-stall"}
	}
	if o.sqlite {
		p.kinds = []string{"kill"}
	}
	fmt.Printf("cluster-torture: %s of faults, %d users, %d readers, seed %d\n", o.lasts, o.users, o.readers, o.seed)
	_, err := p.run(ctx, os.Stdout)
	return err
}
