package lathe_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/lathetest"
)

func TestMoney_OnTheWire(t *testing.T) {
	for _, tt := range []struct {
		dollars float64
		want    lathe.Money
		wire    string
	}{
		{0, 0, "0"},
		{0.000125, 125_000_000, "0.000125"}, // 70 in, 15 out, 5 thought and 30 cached, at 1, 2 and 0.5 a million
		{0.1, 100_000_000_000, "0.1"},
		{0.30000000000000004, 300_000_000_000, "0.3"},
		{-0.5, -500_000_000_000, "-0.5"},
		{5e-7, 500_000, "5e-7"},
		{1e-12, 1, "1e-12"},
		{4e-13, 0, "0"},
		{5e-13, 1, "1e-12"},
		{1234567.891, 1_234_567_891_000_000_000, "1234567.891"},
		{1e300, math.MaxInt64, "9223372.036854776"},
		{-1e300, math.MinInt64, "-9223372.036854776"},
		{math.Inf(1), math.MaxInt64, "9223372.036854776"},
		{math.NaN(), 0, "0"},
	} {
		got := lathe.Dollars(tt.dollars)
		if got != tt.want {
			t.Errorf("Dollars(%v) = %d, want %d", tt.dollars, got, tt.want)
		}
		cost := field(t, lathe.Part{Body: &lathe.StepFinish{Cost: got}}.AppendJSON(nil), "cost")
		if string(cost) != tt.wire {
			t.Errorf("%v is written %s, want %s", tt.dollars, cost, tt.wire)
		}
	}
}

func TestMoney_String(t *testing.T) {
	for m, want := range map[lathe.Money]string{
		0:                          "$0.00",
		lathe.Dollars(0.000125):    "$0.000125",
		lathe.Dollars(0.1):         "$0.10",
		lathe.Dollars(12.5):        "$12.50",
		lathe.Dollars(3):           "$3.00",
		lathe.Dollars(-0.25):       "-$0.25",
		1:                          "$0.000000000001",
		math.MaxInt64:              "$9223372.036854775807",
		math.MinInt64:              "-$9223372.036854775808",
		lathe.Dollars(1000.000001): "$1000.000001",
	} {
		if got := m.String(); got != want {
			t.Errorf("%d: %s, want %s", m, got, want)
		}
	}
}

func TestMoney_Short(t *testing.T) {
	for dollars, want := range map[float64]string{
		0: "$0.00", 0.0203967: "$0.02", 0.0123: "$0.012", 0.000373: "$0.00037", 0.00002: "$0.00002", 0.0996: "$0.10",
		0.5: "$0.50", 12.345: "$12.35", -0.25: "-$0.25", 1e-12: "$0.000000000001",
	} {
		if got := lathe.Dollars(dollars).Short(); got != want {
			t.Errorf("%v: %s, want %s", dollars, got, want)
		}
	}
}

// A thousand small sums lose nothing, and the wire's number comes back as it was.
func TestMoney_Exact(t *testing.T) {
	sum := lathe.Money(0)
	for range 1000 {
		sum = sum.Add(lathe.Dollars(0.1))
	}
	if sum.Dollars() != 100 {
		t.Errorf("a thousand dimes are %v dollars", sum.Dollars())
	}
	if text, err := json.Marshal(lathe.BoardEntry{Cost: lathe.Dollars(0.25)}); err != nil || !strings.Contains(string(text), `"cost":0.25,`) {
		t.Errorf("a quarter is %s, %v", text, err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		m := lathe.Money(rapid.Int64Range(-1e15, 1e15).Draw(rt, "money"))
		if got := lathe.Dollars(m.Dollars()); got != m {
			rt.Fatalf("%d becomes %d", m, got)
		}
		var read lathe.Money
		text, err := json.Marshal(m)
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err != nil || read != m {
			rt.Fatalf("%d is read from %s as %d: %v", m, text, read, err)
		}
	})
}

func TestMoney_Saturates(t *testing.T) {
	const most, least = lathe.Money(math.MaxInt64), lathe.Money(math.MinInt64)
	for _, tt := range []struct{ a, b, want lathe.Money }{
		{most, 1, most},
		{most, most, most},
		{most, -1, most - 1},
		{1, most, most},
		{least, -1, least},
		{least, least, least},
		{least, 1, least + 1},
		{most, least, -1},
		{3, -5, -2},
	} {
		if got := tt.a.Add(tt.b); got != tt.want {
			t.Errorf("%d + %d = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestTokens_Add(t *testing.T) {
	a := lathetest.Tokens()
	got := a.Add(lathe.Tokens{Total: 9, Input: -1, Output: math.MaxInt64, Cache: lathe.CacheTokens{Write: 3}})
	want := lathe.Tokens{Input: 69, Output: math.MaxInt64, Reasoning: 5, Cache: lathe.CacheTokens{Read: 30, Write: 5}}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestTime(t *testing.T) {
	for ms, want := range map[lathe.Time]string{
		0:               "1970-01-01T00:00:00.000Z",
		1768473045123:   "2026-01-15T10:30:45.123Z",
		1768473045123.9: "2026-01-15T10:30:45.123Z",
		1786706395136:   "2026-08-14T11:19:55.136Z",
		-1:              "1969-12-31T23:59:59.999Z",
		253402300799999: "9999-12-31T23:59:59.999Z",
	} {
		if got := ms.ISO(); got != want {
			t.Errorf("%v: %s, want %s", ms, got, want)
		}
	}
	moment := time.Date(2026, 1, 15, 10, 30, 45, 123_999_999, time.FixedZone("", 3600))
	if got := lathe.TimeOf(moment); got != 1768469445123 || !got.Std().Equal(moment.Truncate(time.Millisecond)) {
		t.Errorf("%v is %v", moment, got)
	}
	for _, odd := range []lathe.Time{0, lathe.Time(math.NaN()), 1e300, -1e300, lathe.Time(math.Inf(1))} {
		if !odd.Std().IsZero() {
			t.Errorf("%v is %v", odd, odd.Std())
		}
	}
	if lathe.TimeOf(time.Time{}) != 0 {
		t.Error("the zero time is not 0")
	}
}

func TestFlag(t *testing.T) {
	if lathe.FlagOf(true) != lathe.Yes || lathe.FlagOf(false) != lathe.No {
		t.Error("FlagOf")
	}
	if !lathe.Yes.On() || lathe.No.On() || lathe.Unset.On() {
		t.Error("On")
	}
}

func TestUTF16Len(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "漢字": 2, "😀": 2, "a😀é": 4, "e\u0301": 2, "\xff": 1, "\xf0\x9f": 2, "\ufffd": 1,
	} {
		if got := lathe.UTF16Len(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := lathetest.Text(rt)
		if got, want := lathe.UTF16Len(s), len(utf16.Encode([]rune(s))); got != want {
			rt.Fatalf("%q: %d, want %d", s, got, want)
		}
	})
}

func TestCursor(t *testing.T) {
	for in, want := range map[string]lathe.Cursor{
		"0":                    {},
		"7":                    {Seq: 7},
		"7.":                   {Seq: 7},
		"7.abc":                {Seq: 7, Feed: "abc"},
		"7.a.b":                {Seq: 7, Feed: "a.b"},
		"9223372036854775807.": {Seq: math.MaxInt64},
	} {
		got, err := lathe.ParseCursor(in)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", in, got, err)
		}
		if again, err := lathe.ParseCursor(got.String()); err != nil || again != got {
			t.Errorf("%q is written %q", in, got)
		}
	}
	for _, in := range []string{"", ".", "x", "-1", "-1.f", "7x", "7,5", " 7", "1e3", "9223372036854775808", ".feed"} {
		if c, err := lathe.ParseCursor(in); lathe.CodeOf(err) != lathe.Invalid {
			t.Errorf("%q: %v, %v", in, c, err)
		}
	}
	if got := (lathe.Cursor{Seq: 12, Feed: "k3"}).String(); got != "12.k3" {
		t.Error(got)
	}
}

func TestScope(t *testing.T) {
	inA := lathe.Event{Session: "ses_1", Directory: "/a"}
	everyone := lathe.Event{}
	for _, tt := range []struct {
		scope  lathe.Scope
		event  lathe.Event
		inside bool
	}{
		{lathe.Scope{}, inA, true},
		{lathe.Scope{}, everyone, true},
		{lathe.Scope{Directory: "/a"}, inA, true},
		{lathe.Scope{Directory: "/b"}, inA, false},
		{lathe.Scope{Directory: "/b"}, everyone, true},
		{lathe.Scope{Session: "ses_1"}, inA, true},
		{lathe.Scope{Session: "ses_2"}, inA, false},
		{lathe.Scope{Session: "ses_1"}, everyone, false},
		{lathe.Scope{Session: "ses_1", Directory: "/b"}, inA, true},
	} {
		if tt.scope.Includes(tt.event) != tt.inside {
			t.Errorf("%+v holds %+v: %v", tt.scope, tt.event, !tt.inside)
		}
	}
}

// Every fact that names a session on the wire is about it.
func TestSessionOf(t *testing.T) {
	for _, f := range append(lathetest.Facts(), lathetest.Unpublished()...) {
		want := lathetest.SessionID
		switch f.(type) {
		case *lathe.TUISessionSelect, *lathe.UnknownEvent: // asks a client; not known
			want = ""
		default:
			props := value(t, field(t, sampleEvent(f).AppendJSON(nil), "properties")).(map[string]any)
			if props["sessionID"] == nil && f.Type() != "" {
				want = ""
			}
		}
		if got := lathe.SessionOf(f); got != want {
			t.Errorf("%T: %q, want %q", f, got, want)
		}
	}
}

func TestError(t *testing.T) {
	cause := fmt.Errorf("open: %w", io.EOF)
	one := lathe.Errorf(lathe.NotFound, "read %s: %w", "x", cause)
	two := lathe.Errorf(lathe.Conflict, "%w and %w", io.EOF, context.Canceled)
	for _, tt := range []struct {
		err  error
		code lathe.Code
	}{
		{nil, ""},
		{one, lathe.NotFound},
		{fmt.Errorf("outer: %w", one), lathe.NotFound},
		{lathe.Errorf(lathe.Denied, "outer: %w", one), lathe.Denied},
		{two, lathe.Conflict},
		{context.Canceled, lathe.Canceled},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), lathe.Canceled},
		{io.EOF, lathe.Internal},
		{errors.Join(io.EOF, one), lathe.NotFound},
	} {
		if got := lathe.CodeOf(tt.err); got != tt.code {
			t.Errorf("%v: %s, want %s", tt.err, got, tt.code)
		}
	}
	if one.Error() != "read x: open: EOF" || !errors.Is(one, io.EOF) {
		t.Errorf("%v", one)
	}
	if two.Error() != "EOF and context canceled" || !errors.Is(two, io.EOF) || !errors.Is(two, context.Canceled) {
		t.Errorf("%v", two)
	}
	if plain := lathe.Errorf(lathe.Invalid, "no cause"); plain.Unwrap() != nil {
		t.Errorf("%v", plain.Unwrap())
	}
}

func TestFaultMessage(t *testing.T) {
	for _, f := range append(lathetest.Faults(), nil) {
		if got := lathe.FaultMessage(f); (got == "") != (f == nil) {
			t.Errorf("%T: %q", f, got)
		}
	}
}

func TestTitles(t *testing.T) {
	const at = lathe.Time(1768473045123)
	for _, child := range []bool{false, true} {
		if title := lathe.DefaultTitle(child, at); !lathe.IsDefaultTitle(title) {
			t.Errorf("%q is not recognised", title)
		}
	}
	for title, want := range map[string]bool{
		"New session - 2026-01-15T10:30:45.123Z":   true,
		"Child session - 2026-01-15T10:30:45.123Z": true,
		"New session - 2026-99-99T99:99:99.999Z":   true, // digits, not dates

		"":                                      false,
		"New session":                           false,
		"New session - ":                        false,
		"New session - 2026-01-15T10:30:45Z":    false,
		"New session - 2026-01-15T10:30:45.12Z": false,
		"New session - 2026-01-15T10:30:45.1234Z":          false,
		"New session - 2026-1-15T10:30:45.123Z":            false,
		"New session - 2026-01-15T10:30:45.123":            false,
		"New session - 2026-01-15T10:30:45.123z":           false,
		"New session - 2026-01-15 10:30:45.123Z":           false,
		"new session - 2026-01-15T10:30:45.123Z":           false,
		"Old session - 2026-01-15T10:30:45.123Z":           false,
		" New session - 2026-01-15T10:30:45.123Z":          false,
		"New session - 2026-01-15T10:30:45.123Z ":          false,
		"New session - 2026-01-15T10:30:45.123Z\n":         false,
		"a\nNew session - 2026-01-15T10:30:45.123Z":        false,
		"New session - ٢٠٢٦-01-15T10:30:45.123Z":           false,
		"New session - 2026-01-15T10:30:45.123Z (fork #1)": false,
	} {
		if got := lathe.IsDefaultTitle(title); got != want {
			t.Errorf("%q: %v", title, got)
		}
	}
}

func TestForkTitle(t *testing.T) {
	for title, want := range map[string]string{
		"Fix it":                              "Fix it (fork #1)",
		"Fix it (fork #1)":                    "Fix it (fork #2)",
		"Fix it (fork #9)":                    "Fix it (fork #10)",
		"Fix it (fork #1) (fork #1)":          "Fix it (fork #1) (fork #2)",
		"Fix it (fork #1) again":              "Fix it (fork #1) again (fork #1)",
		"Fix it (fork #)":                     "Fix it (fork #) (fork #1)",
		"Fix it (fork #-1)":                   "Fix it (fork #-1) (fork #1)",
		"Fix it(fork #1)":                     "Fix it(fork #1) (fork #1)",
		"Two\nlines (fork #3)":                "Two\nlines (fork #4)",
		"Fix it (fork #99999999999999999999)": "Fix it (fork #99999999999999999999) (fork #1)",
		"Fix it (fork #9223372036854775807)":  "Fix it (fork #9223372036854775807) (fork #1)",
		"":                                    " (fork #1)",
	} {
		if got := lathe.ForkTitle(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}
