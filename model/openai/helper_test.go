package openai

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

// testIDs gives call ids that count.
func testIDs() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("made_%d", n)
	}
}

func chatForTest() *chatDecoder { return &chatDecoder{provider: "test", callID: testIDs()} }

func responsesForTest() *responsesDecoder {
	return &responsesDecoder{provider: "test", callID: testIDs()}
}

// buffers are large; tests read so many bodies that new ones would cost more than reading.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 32<<10) }}

// drain reads a whole body with a decoder.
func drain(d decoder, body io.Reader) ([]model.Event, error) {
	r := buffers.Get().(*bufio.Reader)
	defer buffers.Put(r)
	r.Reset(body)
	return wiretest.Collect(func(yield func(model.Event, error) bool) { read(context.Background(), "test", r, d, yield) })
}

// show writes events one a line, so that tests can be read.
func show(events []model.Event, err error) string { return wiretest.Show(events, err) }

// sseBody makes a stream of events; each is the data of one.
func sseBody(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

// same compares what a test got with what it wants, by lines.
func same(t *testing.T, got, want string) {
	t.Helper()
	got, want = strings.TrimSpace(got), strings.TrimSpace(dedent(want))
	if got != want {
		t.Errorf("got:\n%s\n\nwant:\n%s", got, want)
	}
}

// dedent takes the white space off the lines of a text in the source.
func dedent(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
