package sse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/internal/sse"
)

// got is an event as its own value; a missing field is not an empty one.
type got struct {
	Name, ID     string
	NoName, NoID bool
	Data         string
}

func data(s string) got        { return got{NoName: true, NoID: true, Data: s} }
func named(n, s string) got    { return got{Name: n, NoID: true, Data: s} }
func full(n, id, s string) got { return got{Name: n, ID: id, Data: s} }

func value(e sse.Event) got {
	return got{Name: string(e.Name), ID: string(e.ID), NoName: e.Name == nil, NoID: e.ID == nil, Data: string(e.Data)}
}

// all reads a stream to its end.
func all(r *sse.Reader) (out []got, err error) {
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, value(e))
	}
}

var table = []struct {
	name, in string
	want     []got
}{
	{"nothing", "", nil},
	{"blank lines", "\n\n\r\n\n", nil},
	{"one", "data: a\n\n", []got{data("a")}},
	{"no space", "data:a\n\n", []got{data("a")}},
	{"only one space is taken", "data:  a \n\n", []got{data(" a ")}},
	{"empty data", "data:\n\n", []got{data("")}},
	{"data without a colon", "data\n\n", []got{data("")}},
	{"name and id", "id: 7\nevent: tick\ndata: a\n\n", []got{full("tick", "7", "a")}},
	{"fields after data", "data: a\nevent: tick\n\n", []got{named("tick", "a")}},
	{"empty name", "event:\ndata: a\n\n", []got{named("", "a")}},
	{"the last name counts", "event: a\nevent: b\ndata: c\n\n", []got{named("b", "c")}},
	{"several lines", "data: a\ndata:\ndata: b\n\n", []got{data("a\n\nb")}},
	{"two", "data: a\n\ndata: b\n\n", []got{data("a"), data("b")}},
	{"a name does not stay", "event: x\ndata: a\n\ndata: b\n\n", []got{named("x", "a"), data("b")}},
	{"without data there is no event", "event: x\nid: 1\n\ndata: b\n\n", []got{data("b")}},
	{"comments", ": hi\n:\ndata: a\n: there\ndata: b\n\n: end\n\n", []got{data("a\nb")}},
	{"unknown fields", "retry: 10\nfoo: bar\nDATA: no\ndata : no\ndata: a\n\n", []got{data("a")}},
	{"byte order mark", "\ufeffdata: a\n\n", []got{data("a")}},
	{"a mark later is text", "data: a\n\n\ufeffdata: b\n\n", []got{data("a")}},
	{"only a mark", "\ufeff", nil},
	{"crlf", "event: x\r\ndata: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", []got{named("x", "a\nb"), data("c")}},
	{"mixed ends", "data: a\r\n\ndata: b\n\r\n", []got{data("a"), data("b")}},
	{"a return inside a line stays", "data: a\rb\n\n", []got{data("a\rb")}},
	{"no last blank line", "data: a\n\ndata: b\n", []got{data("a"), data("b")}},
	{"no last line end", "data: a\n\nevent: x\ndata: b", []got{data("a"), named("x", "b")}},
	{"no last line end, crlf", "data: a\r\n\r\ndata: b\r", []got{data("a"), data("b")}},
	{"ends after a name", "data: a\n\nevent: x", []got{data("a")}},
	{"colons in data", "data: a: b:c\n\n", []got{data("a: b:c")}},
	{"any bytes", "data: \xff\x00\n\n", []got{data("\xff\x00")}},
	{"longer than the buffer", "data: " + strings.Repeat("x", 100<<10) + "\ndata: y\n\ndata: z\n\n", []got{data(strings.Repeat("x", 100<<10) + "\ny"), data("z")}},
	{"a long comment", ":" + strings.Repeat("x", 100<<10) + "\ndata: y\n\n", []got{data("y")}},
}

func TestReader(t *testing.T) {
	for _, c := range table {
		t.Run(c.name, func(t *testing.T) {
			for form, r := range map[string]io.Reader{
				"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in)),
				"error with the last bytes": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				out, err := all(sse.NewReader(r))
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				if diff := cmp.Diff(c.want, out); diff != "" {
					t.Errorf("%s: %s", form, diff)
				}
			}
		})
	}
}

// How the network cuts a stream does not change its events.
func TestReader_EverySplit(t *testing.T) {
	for _, c := range table {
		if len(c.in) > 1000 {
			continue
		}
		for i := range len(c.in) + 1 {
			r := io.MultiReader(strings.NewReader(c.in[:i]), strings.NewReader(c.in[i:]))
			out, err := all(sse.NewReader(r))
			if diff := cmp.Diff(c.want, out); diff != "" || err != nil {
				t.Fatalf("%s split at %d: %v %s", c.name, i, err, diff)
			}
		}
	}
}

// The same stream with the other line end gives the same events.
func TestReader_EveryLineEnd(t *testing.T) {
	for _, c := range table {
		if strings.Contains(c.in, "\r") {
			continue
		}
		out, err := all(sse.NewReader(strings.NewReader(strings.ReplaceAll(c.in, "\n", "\r\n"))))
		if diff := cmp.Diff(c.want, out); diff != "" || err != nil {
			t.Errorf("%s: %v %s", c.name, err, diff)
		}
	}
}

func TestReader_Large(t *testing.T) {
	big := strings.Repeat("x", 20<<20)
	out, err := all(sse.NewReader(strings.NewReader("event: e\ndata: " + big + "\n\ndata: small\n\n")))
	if err != nil || len(out) != 2 || out[0].Data != big || out[1].Data != "small" {
		t.Errorf("%d events, %v", len(out), err)
	}
}

// An event may have as many bytes as the limit says; one more is an error, in one line or in
// many, and however long the line that never ends.
func TestReader_Limit(t *testing.T) {
	const limit = 100 << 10
	for _, c := range []struct {
		name, in string
		ok       bool
	}{
		{"all of it", "data: " + strings.Repeat("x", limit) + "\n\n", true},
		{"one more", "data: " + strings.Repeat("x", limit+1) + "\n\n", false},
		{"all of it in lines", strings.Repeat("data: "+strings.Repeat("x", 1023)+"\n", 100) + "\n", true},
		{"more in lines", strings.Repeat("data: "+strings.Repeat("x", 1023)+"\n", 101) + "\n", false},
		{"empty lines count", strings.Repeat("data\n", limit+2) + "\n", false},
		{"a line without end", "data: " + strings.Repeat("x", 10*limit), false},
		{"a comment without end", ":" + strings.Repeat("x", 10*limit), false},
		{"a name without end", "event: " + strings.Repeat("x", 10*limit), false},
	} {
		_, err := all(sse.NewReaderLimit(strings.NewReader(c.in), limit))
		if (err == nil) != c.ok || err != nil && !errors.Is(err, sse.ErrTooLarge) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Small limits hold too, below the size of the buffer.
func TestReader_SmallLimit(t *testing.T) {
	for n, ok := range map[int]bool{0: true, 9: true, 10: true, 11: false, 80: false, 1000: false} {
		_, err := all(sse.NewReaderLimit(strings.NewReader("data: "+strings.Repeat("x", n)+"\n\n"), 10))
		if (err == nil) != ok {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// An error of the connection is returned as it is, after the events before it. A half event is
// not one.
func TestReader_BrokenConnection(t *testing.T) {
	broken := errors.New("reset")
	for _, in := range []string{"data: a\n\n", "data: a\n\ndata: b", "data: a\n\ndata: b\n", "data: a\n\nevent: b\n"} {
		out, err := all(sse.NewReader(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken))))
		if !errors.Is(err, broken) {
			t.Errorf("%q: %v", in, err)
		}
		if diff := cmp.Diff([]got{data("a")}, out); diff != "" {
			t.Errorf("%q: %s", in, diff)
		}
	}
}

// After the end there is only the end.
func TestReader_EndStays(t *testing.T) {
	r := sse.NewReader(strings.NewReader("data: a"))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if e, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("%v %v", e, err)
		}
	}
}

// naive reads a stream the way the description says it, without regard for cost.
func naive(in string) (out []got) {
	in = strings.TrimPrefix(in, "\ufeff")
	var lines []string
	for line := range strings.Lines(in) {
		lines = append(lines, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	next, has := got{NoName: true, NoID: true}, false
	end := func() {
		if has {
			next.Data = strings.TrimSuffix(next.Data, "\n")
			out = append(out, next)
		}
		next, has = got{NoName: true, NoID: true}, false
	}
	for _, line := range lines {
		field, v, _ := strings.Cut(line, ":")
		v = strings.TrimPrefix(v, " ")
		switch {
		case line == "":
			end()
		case field == "data":
			next.Data, has = next.Data+v+"\n", true
		case field == "event":
			next.Name, next.NoName = v, false
		case field == "id":
			next.ID, next.NoID = v, false
		}
	}
	end()
	return out
}

func FuzzReader(f *testing.F) {
	for _, c := range table {
		if len(c.in) < 1000 {
			f.Add(c.in, 3)
		}
	}
	f.Fuzz(func(t *testing.T, in string, step int) {
		want := naive(in)
		for _, r := range []io.Reader{strings.NewReader(in), &steps{left: in, step: step}} {
			out, err := all(sse.NewReader(r))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, out); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// steps gives a few bytes at a time.
type steps struct {
	left string
	step int
}

func (s *steps) Read(p []byte) (int, error) {
	if s.left == "" {
		return 0, io.EOF
	}
	n := copy(p, s.left[:min(len(s.left), s.step&7+1)])
	s.left = s.left[n:]
	return n, nil
}

// endless repeats an event, so that a reader never ends.
type endless struct {
	event []byte
	at    int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], e.event[e.at:])
		n, e.at = n+c, (e.at+c)%len(e.event)
	}
	return n, nil
}

func delta(size int) []byte {
	return fmt.Appendf(nil, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"text\":\"%s\"}\n\n", bytes.Repeat([]byte("x"), size))
}

// Reading makes no garbage, once the buffers have grown.
func TestReader_NoAllocations(t *testing.T) {
	for _, size := range []int{5, 1000, 200 << 10} {
		r := sse.NewReader(&endless{event: delta(size)})
		next := func() {
			if e, err := r.Next(); err != nil || len(e.Data) < size {
				t.Fatal(len(e.Data), err)
			}
		}
		next()
		if n := testing.AllocsPerRun(200, next); n != 0 {
			t.Errorf("%g allocations for an event of %d bytes", n, size)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	for _, size := range []int{5, 1000, 200 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			event := delta(size)
			r := sse.NewReader(&endless{event: event})
			b.SetBytes(int64(len(event)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
