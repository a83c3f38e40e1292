// Command tuibench measures the terminal UI from outside, in a pseudo-terminal of 120 columns and 40
// rows: how soon its first frame is there, how soon a key shows while a model streams into a session of
// 10,000 parts, what scrolling in it takes, and what it costs when nothing happens.
//
//	tuibench -lathe ./bin/lathe              all of it
//	tuibench -lathe ./bin/lathe first idle   some of it
//
// Each measurement is a line: name, value, unit, and if it has a limit, the limit and whether
// it holds. It ends with 1 when a limit is passed, with 2 when something could not be measured.
// The numbers are for an otherwise idle machine, whose load is printed with them.
//
// Start reading here; measure.go has the measurements, terminal.go the terminal, stage.go what
// is shown in it, provider.go the model, floor.go what a key is held against.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/lathe-agent/lathe/scripts/procstat"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == echoName {
		echoMain()
		return
	}
	b := &bench{out: os.Stdout}
	flag.StringVar(&b.lathe, "lathe", "", "the program to measure")
	flag.IntVar(&b.starts, "starts", 20, "how many times it is started for the first frame")
	flag.IntVar(&b.parts, "parts", 10_000, "how many parts the session has")
	flag.DurationVar(&b.streams, "stream", 10*time.Second, "how long the model streams")
	flag.DurationVar(&b.idles, "rest", 5*time.Second, "how long it is watched while nothing happens")
	flag.Parse()
	err := b.take(flag.Args())
	switch {
	case errors.Is(err, errOver):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "tuibench:", err)
		os.Exit(2)
	}
}

// errOver says that a limit was passed; the line of the figure has said which.
var errOver = errors.New("a limit was passed")

// bench takes measurements and prints them.
type bench struct {
	lathe          string
	starts, parts  int
	streams, idles time.Duration
	out            io.Writer
	over           bool
	*stage
}

// take takes the named measurements, or all.
func (b *bench) take(names []string) error {
	if b.lathe == "" {
		return errors.New("say which program to measure: tuibench -lathe ./bin/lathe")
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	defer stop()
	var err error
	if b.stage, err = newStage(ctx, b.lathe, b.parts); err != nil {
		return err
	}
	defer b.close()
	for _, f := range []struct {
		name string
		take func(context.Context) error
	}{{"first", b.first}, {"idle", b.idle}, {"stream", b.stream}} {
		if len(names) > 0 && !slices.Contains(names, f.name) {
			continue
		}
		if err := f.take(ctx); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if l := procstat.Load(); l >= 0 {
		b.figure("load", l, "processes")
	}
	if b.over {
		return errOver
	}
	return nil
}

// figure prints a figure without a limit.
func (b *bench) figure(name string, value float64, unit string) {
	_, _ = fmt.Fprintf(b.out, "%-24s %8.4g %s\n", name, value, unit)
}

// check prints a figure with its limit.
func (b *bench) check(name string, value, limit float64, unit string) {
	verdict := "ok"
	if value > limit {
		verdict, b.over = "over", true
	}
	_, _ = fmt.Fprintf(b.out, "%-24s %8.4g %-10s < %-6.4g %s\n", name, value, unit, limit, verdict)
}

// durations are many of one kind.
type durations []time.Duration

// at is the one of which such a part is shorter, in milliseconds.
func (d durations) at(part float64) float64 {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return ms(d[min(int(float64(len(d))*part), len(d)-1)])
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
