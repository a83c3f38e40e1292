package lathe_test

import (
	"regexp"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
)

// at returns a generator whose clock shows the times in order and then stays at the last.
func at(times ...lathe.Time) *lathe.IDs {
	n := 0
	clock := func() lathe.Time {
		t := times[min(n, len(times)-1)]
		n++
		return t
	}
	return lathe.NewIDsFrom(clock, func(b []byte) { clear(b) })
}

// hexPart is the twelve digits of time and counter.
func hexPart(id string) string {
	_, rest, _ := strings.Cut(id, "_")
	return rest[:12]
}

func TestIDs_Vectors(t *testing.T) {
	for _, tt := range []struct {
		ms              lathe.Time
		counter         int
		rising, falling string
	}{
		{1768435200000, 1, "bbef3b000001", "4410c4fffffe"},
		{1768435200000, 2, "bbef3b000002", "4410c4fffffd"},
		{1786706395135, 1, "fffffffff001", "000000000ffe"},
		{1786706395136, 1, "000000000001", "fffffffffffe"},
		{1794704292305, 1, "1dcb639d1001", "e2349c62effe"},
	} {
		up, down := at(tt.ms), at(tt.ms)
		for range tt.counter - 1 {
			up.Message()
			down.Session()
		}
		if got := hexPart(string(up.Message())); got != tt.rising {
			t.Errorf("%.0f/%d rising: %s, want %s", tt.ms, tt.counter, got, tt.rising)
		}
		if got := hexPart(string(down.Session())); got != tt.falling {
			t.Errorf("%.0f/%d falling: %s, want %s", tt.ms, tt.counter, got, tt.falling)
		}
	}
}

func TestIDs_Layout(t *testing.T) {
	g := lathe.NewIDs()
	for prefix, id := range map[lathe.Prefix]string{
		lathe.PrefixSession:    string(g.Session()),
		lathe.PrefixMessage:    string(g.Message()),
		lathe.PrefixPart:       string(g.Part()),
		lathe.PrefixEvent:      string(g.Event()),
		lathe.PrefixPermission: g.New(lathe.PrefixPermission),
		lathe.PrefixQuestion:   g.New(lathe.PrefixQuestion),
		lathe.PrefixPty:        g.New(lathe.PrefixPty),
		lathe.PrefixTool:       g.New(lathe.PrefixTool),
		lathe.PrefixWorkspace:  g.New(lathe.PrefixWorkspace),
		lathe.PrefixJob:        g.New(lathe.PrefixJob),
	} {
		if !regexp.MustCompile(`^` + string(prefix) + `_[0-9a-f]{12}[0-9A-Za-z]{14}$`).MatchString(id) {
			t.Errorf("%s: %s", prefix, id)
		}
		if err := lathe.CheckID(prefix, id); err != nil {
			t.Error(err)
		}
	}
}

// All letters come up in the random tail, and the same randomness gives the same id.
func TestIDs_Tail(t *testing.T) {
	next := byte(0)
	g := lathe.NewIDsFrom(func() lathe.Time { return 1 }, func(b []byte) {
		for i := range b {
			b[i] = next
			next++
		}
	})
	tails := ""
	for range 5 {
		id := string(g.Part())
		tails += id[len(id)-14:]
	}
	if want := "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"; tails[:62] != want {
		t.Errorf("alphabet %s", tails[:62])
	}
	if a, b := at(5).Message(), at(5).Message(); a != b {
		t.Errorf("%s and %s", a, b)
	}
}

// Within one generator ids rise, whatever the clock does.
func TestIDs_RiseWhateverTheClock(t *testing.T) {
	const now = 1768435200000
	for name, g := range map[string]*lathe.IDs{
		"standing still":                at(now),
		"going back":                    at(now, now-1, now-5000, now+1, now, now+2),
		"a step after many in one":      at(append(many(now, 5000), now+1, now+2, now+3)...),
		"before the epoch":              at(-5, -4, 0, 3),
		"from a long way back to today": at(5, now),
	} {
		last := ""
		for i := range 12_000 {
			id := hexPart(string(g.Message()))
			if id <= last {
				t.Fatalf("%s: %d. id %s after %s", name, i, id, last)
			}
			last = id
		}
	}
}

func many(ms lathe.Time, n int) []lathe.Time {
	out := make([]lathe.Time, n)
	for i := range out {
		out[i] = ms
	}
	return out
}

func TestIDs_RandomClocks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ms := rapid.SliceOfN(rapid.Int64Range(1768435200000, 1768435200003), 1, 50).Draw(rt, "clock")
		times := make([]lathe.Time, len(ms))
		for i := range ms {
			times[i] = lathe.Time(ms[i])
		}
		up, down := at(times...), at(times...)
		var lastUp, lastDown string
		for range times {
			u, d := hexPart(string(up.Part())), hexPart(string(down.Session()))
			if u <= lastUp || lastDown != "" && d >= lastDown {
				rt.Fatalf("%s after %s, %s after %s", u, lastUp, d, lastDown)
			}
			lastUp, lastDown = u, d
		}
	})
}

func TestIDs_UniqueAmongGoroutines(t *testing.T) {
	g := lathe.NewIDsFrom(func() lathe.Time { return 7 }, func(b []byte) { clear(b) })
	const workers, each = 8, 2000
	made := make([][]string, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for range each {
				made[w] = append(made[w], string(g.Message()))
			}
		})
	}
	group.Wait()
	seen := map[string]bool{}
	for _, ids := range made {
		for _, id := range ids {
			seen[id] = true
		}
	}
	if len(seen) != workers*each {
		t.Errorf("%d different ids of %d", len(seen), workers*each)
	}
}

func TestIDs_CallID(t *testing.T) {
	g := lathe.NewIDs()
	shape := regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	for range 100 {
		if id := g.CallID(); !shape.MatchString(id) {
			t.Fatalf("%s is no ULID", id)
		}
	}
	// The example of the ULID specification: this moment begins so.
	ms := lathe.Time(1469918176385)
	if id := at(ms).CallID(); id != "01ARYZ6S410000000000000000" {
		t.Errorf("got %s", id)
	}
}

func TestCheckID(t *testing.T) {
	long := "msg_" + strings.Repeat("a", lathe.MaxID-4)
	for id, ok := range map[string]bool{
		"msg_bbef3b000001AAAAAAAAAAAAAA": true,
		"msg":                            true, // only the letters are asked for
		"msg1":                           true,
		"msg_A-b_9":                      true,
		long:                             true,

		long + "a":        false,
		"":                false,
		"ms":              false,
		"ses_1":           false,
		"Msg_1":           false,
		" msg_1":          false,
		"msg_1 ":          false,
		"msg_../../etc":   false,
		"msg_/etc/passwd": false,
		`msg_a\b`:         false,
		"msg_.":           false,
		"msg_a%2fb":       false,
		"msg_a\x00":       false,
		"msg_a\n":         false,
		"msg_\x1b[31m":    false,
		"msg_é":           false,
		"msg_\xff":        false,
		"msg_a:b":         false,
		"msg_a?b=c":       false,
		"msg_'--":         false,
	} {
		err := lathe.CheckID(lathe.PrefixMessage, id)
		if (err == nil) != ok {
			t.Errorf("%q: %v", id, err)
		}
		if err == nil {
			continue
		}
		if lathe.CodeOf(err) != lathe.Invalid {
			t.Errorf("%q: code %s", id, lathe.CodeOf(err))
		}
		if text := err.Error(); len(text) > 250 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			t.Errorf("%q: the error is not fit to print: %q", id, text)
		}
	}
	if err := lathe.CheckID(lathe.PrefixMessage, "ses_1"); !strings.Contains(err.Error(), `"ses_1"`) || !strings.Contains(err.Error(), `"msg"`) {
		t.Errorf("the error names neither id nor prefix: %v", err)
	}
}
