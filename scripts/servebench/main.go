// Command servebench measures a server over HTTP, from outside: how soon it answers and how much
// memory it takes, how long a word takes from the model's socket to a client, what a step costs
// beside its model, and what many streams cost.
//
//	servebench -lathe ./bin/lathe                     all of it, with servers of its own
//	servebench -url http://127.0.0.1:4096 delta       one figure of a server that runs
//	servebench -lathe ./bin/lathe soak                its memory over thousands of turns, and at rest
//
// It plays the model itself. A server that runs already must know it as an OpenAI-compatible
// provider at the address of -provider; its settings are printed with -settings. Each
// measurement is a line: name, value, unit. Compare runs on one machine that is otherwise idle.
//
// Start reading here; measure.go has the measurements, provider.go the model, relay.go the
// floor that a delta is held against.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

// options are what the command line says.
type options struct {
	lathe    string
	url      string
	password string
	pid      int
	provider string
	model    string
	sessions int
	deltas   int
	streams  int

	// Of a soak: turns a second, how long it works and rests, and where heap profiles are written.
	rate         float64
	length, rest time.Duration
	profiles     string
	debugAddr    string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == relayName {
		relayMain(os.Args[2:])
		return
	}
	var o options
	settings := false
	flag.StringVar(&o.lathe, "lathe", "", "measure servers of this program")
	flag.StringVar(&o.url, "url", "", "measure the server at this address instead")
	flag.StringVar(&o.password, "password", "", "its password; the name is opencode")
	flag.IntVar(&o.pid, "pid", 0, "its process, for memory and processor time")
	flag.StringVar(&o.provider, "provider", "127.0.0.1:0", "where the model is played")
	flag.StringVar(&o.model, "model", "bench/m", "the model, as the server knows it")
	flag.IntVar(&o.sessions, "sessions", 50, "how many sessions stream")
	flag.IntVar(&o.deltas, "deltas", 300, "how many words each says")
	flag.IntVar(&o.streams, "streams", 1000, "how many clients listen, and how many sessions there are")
	flag.Float64Var(&o.rate, "rate", 38, "soak: how many turns a second")
	flag.DurationVar(&o.length, "for", 12*time.Minute, "soak: how long turns are run")
	flag.DurationVar(&o.rest, "rest", 5*time.Minute, "soak: how long the server rests then")
	flag.StringVar(&o.profiles, "profiles", "", "soak: write heap profiles to files that begin so")
	flag.StringVar(&o.debugAddr, "debug-addr", "127.0.0.1:6061", "soak: where the server offers its profiles")
	flag.BoolVar(&settings, "settings", false, "print the config for a server and exit")
	flag.Parse()
	if settings {
		fmt.Println(settingsFor(o.provider))
		return
	}
	if err := measure(o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "servebench:", err)
		os.Exit(1)
	}
}

// measure takes the named measurements, or all.
func measure(o options, names []string) error {
	if (o.lathe == "") == (o.url == "") {
		return errors.New("say either -lathe PROGRAM or -url ADDRESS")
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute+o.length+o.rest)
	defer stop()
	p, err := startProvider(o.provider)
	if err != nil {
		return err
	}
	defer p.close()
	b := &bench{options: o, provider: p, out: os.Stdout}
	if slices.Equal(names, []string{"soak"}) { // takes too long to be one of all
		return b.soak(ctx)
	}
	for _, f := range []struct {
		name string
		take func(context.Context) error
	}{{"start", b.start}, {"delta", b.delta}, {"step", b.step}, {"many", b.many}, {"run", b.run}} {
		if len(names) > 0 && !slices.Contains(names, f.name) {
			continue
		}
		if err := f.take(ctx); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}
