package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lathe-agent/lathe/scripts/procstat"
)

// The texts that show that a screen is ready.
const (
	homeSign    = "Ask anything" // in the empty prompt of the home screen
	sessionSign = "tests pass"   // at the end of the long session
	modelSign   = "bench"        // below the prompt, once providers were read
	patience    = 20 * time.Second
)

// first measures the time from the start of the process to the first byte after which the prompt of the home
// screen is there.
func (b *bench) first(ctx context.Context) error {
	var took durations
	for i := range b.starts + 2 {
		t, err := b.run(ctx)
		if err != nil {
			return err
		}
		at, err := t.see(homeSign, patience)
		t.still(200 * time.Millisecond) // it ends in better order when it has opened all
		t.end()
		if err != nil {
			return err
		}
		if i >= 2 { // the first ones read from disk
			took = append(took, at.Sub(t.began))
		}
	}
	b.check("first-frame", took.at(0.5), 25, "ms")
	b.figure("first-frame-worst", took.at(1), "ms")
	return nil
}

// idle measures processor use and memory while nothing happens, on both screens.
func (b *bench) idle(ctx context.Context) error {
	for _, s := range []struct {
		name, sign string
		args       []string
	}{{"home", homeSign, nil}, {"session", sessionSign, []string{"-s", string(b.session)}}} {
		t, err := b.run(ctx, s.args...)
		if err != nil {
			return err
		}
		if _, err := t.see(s.sign, patience); err != nil {
			t.end()
			return err
		}
		b.rest(t, s.name)
		t.end()
	}
	return nil
}

// rest measures a program at rest.
func (b *bench) rest(t *terminal, name string) {
	t.still(2 * time.Second)
	before := procstat.ProcessorTime(t.cmd.Process.Pid)
	if before == 0 {
		return // the system does not tell
	}
	began := time.Now()
	time.Sleep(b.idles)
	used := procstat.ProcessorTime(t.cmd.Process.Pid) - before
	b.check("idle-"+name, 100*float64(used)/float64(time.Since(began)), 0.5, "%")
	b.figure("memory-"+name, procstat.Peak(t.cmd.Process.Pid), "MB")
}

// stream measures the long session while a model streams into it, and then scrolls in it.
func (b *bench) stream(ctx context.Context) error {
	t, err := b.run(ctx, "-s", string(b.session))
	if err != nil {
		return err
	}
	defer t.end()
	at, err := t.see(sessionSign, patience)
	if err != nil {
		return err
	}
	b.figure("session-shown", ms(at.Sub(t.began)), "ms")
	if _, err := t.see(modelSign, patience); err != nil {
		return err
	}
	t.still(500 * time.Millisecond)
	b.model.words.Store(int64(b.streams / every))
	t.mark()
	if err := t.typed("continue\r"); err != nil {
		return err
	}
	if _, err := t.see("www", patience); err != nil { // its words are on the screen
		return err
	}
	if err := b.types(ctx, t); err != nil {
		return err
	}
	if _, err := t.see(lastWord, patience+b.streams); err != nil {
		return err
	}
	b.rest(t, "streamed")
	return b.scroll(t)
}

// typing types characters that appear nowhere else, at times that have nothing to do with
// frames, and waits for each to show.
func typing(t *terminal, most time.Duration, seed uint64) (took durations, err error) {
	chance := rand.New(rand.NewPCG(3, seed))
	began := time.Now()
	for n := 0; time.Since(began) < most; n++ {
		time.Sleep(time.Duration(10+chance.IntN(40)) * time.Millisecond)
		if n%60 == 59 { // the prompt stays one row
			if err := t.typed("\x15"); err != nil {
				return nil, err
			}
			continue
		}
		sign := string(rune(0x1401 + n%600))
		t.mark()
		sent := time.Now()
		if err := t.typed(sign); err != nil {
			return nil, err
		}
		at, err := t.see(sign, 5*time.Second)
		if err != nil {
			return nil, err
		}
		took = append(took, at.Sub(sent))
	}
	return took, nil
}

// types measures keys and frames for most of the stream.
func (b *bench) types(ctx context.Context, t *terminal) error {
	echo, err := startEcho(ctx)
	if err != nil {
		return err
	}
	defer echo.end()
	floor := make(chan durations, 1)
	go func() {
		took, _ := typing(echo, b.streams*8/10, 5) // without numbers when it fails
		floor <- took
	}()
	began, used, said := time.Now(), procstat.ProcessorTime(t.cmd.Process.Pid), b.model.done.Load()
	took, err := typing(t, b.streams*8/10, 4)
	if err != nil {
		return err
	}
	frames, lasted := t.drawn(began), time.Since(began)
	used = procstat.ProcessorTime(t.cmd.Process.Pid) - used
	b.figure("deltas", float64(b.model.done.Load()-said)/lasted.Seconds(), "/s")
	b.figure("echo-p50", took.at(0.5), "ms")
	b.check("echo-p99", took.at(0.99), 12, "ms")
	b.figure("echo-worst", took.at(1), "ms")
	least := <-floor
	b.figure("floor-echo-p99", least.at(0.99), "ms")
	b.figure("floor-echo-worst", least.at(1), "ms")
	if len(frames) < 2 {
		return errors.New("no frames were drawn while the model streamed")
	}
	var gaps durations
	for i := range frames[1:] {
		gaps = append(gaps, frames[i+1].Sub(frames[i]))
	}
	b.figure("frames", float64(len(frames))/lasted.Seconds(), "/s")
	b.figure("frame-gap-p50", gaps.at(0.5), "ms")
	b.figure("frame-gap-p99", gaps.at(0.99), "ms")
	b.figure("frame-gap-worst", gaps.at(1), "ms")
	if used > 0 { // else the system does not tell
		b.check("frame-processor", ms(used)/float64(len(frames)), 16, "ms")
		b.figure("stream-processor", 100*float64(used)/float64(lasted), "%")
	}
	return nil
}

// scroll goes up through the session by pages.
func (b *bench) scroll(t *terminal) error {
	var took durations
	for range 50 {
		t.still(100 * time.Millisecond) // the previous page is loaded
		began := time.Now()
		if err := t.typed("\x1b[5~"); err != nil {
			return err
		}
		for len(t.drawn(began)) == 0 {
			select {
			case <-t.more:
			case <-t.ended:
				return fmt.Errorf("it ended while it scrolled; seen was %q", t.tail())
			case <-time.After(patience):
				return fmt.Errorf("a page up shows nothing; seen was %q", t.tail())
			}
		}
		took = append(took, t.drawn(began)[0].Sub(began))
	}
	b.figure("scroll-p50", took.at(0.5), "ms")
	b.figure("scroll-worst", took.at(1), "ms")
	return nil
}
