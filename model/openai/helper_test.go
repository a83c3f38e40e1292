package openai

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// testIDs gives call ids that count.
func testIDs() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("made_%d", n)
	}
}

// realIDs is a generator that gives the same ids each time.
func realIDs() *lathe.IDs {
	n := uint64(0)
	return lathe.NewIDsFrom(func() lathe.Time { return 1700000000000 }, func(b []byte) {
		n++
		clear(b)
		if len(b) >= 8 {
			binary.BigEndian.PutUint64(b[len(b)-8:], n)
		}
	})
}

func chatForTest() *chatDecoder { return &chatDecoder{provider: "test", callID: testIDs()} }

func responsesForTest() *responsesDecoder {
	return &responsesDecoder{provider: "test", callID: testIDs()}
}

// buffers are large; tests read so many bodies that new ones would cost more than reading.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 32<<10) }}

// drain reads a whole body with a decoder. Deltas of the same block that follow each other are
// joined: how a stream is cut is no part of what it says.
func drain(d decoder, body io.Reader) (out []model.Event, err error) {
	r := buffers.Get().(*bufio.Reader)
	defer buffers.Put(r)
	r.Reset(body)
	read(context.Background(), "test", r, d, func(e model.Event, failed error) bool {
		if failed != nil {
			err = failed
			return false
		}
		out = join(out, e)
		return true
	})
	return out, err
}

func join(out []model.Event, e model.Event) []model.Event {
	if len(out) == 0 {
		return append(out, e)
	}
	last := &out[len(out)-1]
	switch e := e.(type) {
	case model.TextDelta:
		if o, ok := (*last).(model.TextDelta); ok && o.ID == e.ID {
			*last = model.TextDelta{ID: e.ID, Text: o.Text + e.Text}
			return out
		}
	case model.ReasoningDelta:
		if o, ok := (*last).(model.ReasoningDelta); ok && o.ID == e.ID {
			*last = model.ReasoningDelta{ID: e.ID, Text: o.Text + e.Text}
			return out
		}
	case model.InputDelta:
		if o, ok := (*last).(model.InputDelta); ok && o.ID == e.ID {
			*last = model.InputDelta{ID: e.ID, Text: o.Text + e.Text}
			return out
		}
	default:
	}
	return append(out, e)
}

// show writes events one a line, so that tests can be read.
func show(events []model.Event, err error) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintln(&b, line(e))
	}
	if err != nil {
		fmt.Fprintf(&b, "error %s: %s\n", lathe.CodeOf(err), err)
	}
	return b.String()
}

func line(e model.Event) string {
	meta := func(m model.Meta) string {
		if m == nil {
			return ""
		}
		return " " + string(m)
	}
	run := func(executed bool) string {
		if executed {
			return " (executed)"
		}
		return ""
	}
	switch e := e.(type) {
	case model.Start:
		return strings.TrimSpace("start " + e.ID + " " + e.Model)
	case model.TextStart:
		return "text " + e.ID
	case model.TextDelta:
		return fmt.Sprintf("text %s + %q", e.ID, e.Text)
	case model.TextEnd:
		return "text " + e.ID + " end" + meta(e.Meta)
	case model.ReasoningStart:
		return "reasoning " + e.ID + meta(e.Meta)
	case model.ReasoningDelta:
		return fmt.Sprintf("reasoning %s + %q", e.ID, e.Text)
	case model.ReasoningEnd:
		return "reasoning " + e.ID + " end" + meta(e.Meta)
	case model.InputStart:
		return "input " + e.ID + " of " + e.Name + run(e.Executed)
	case model.InputDelta:
		return fmt.Sprintf("input %s + %q", e.ID, e.Text)
	case model.InputEnd:
		return "input " + e.ID + " end"
	case model.ToolCall:
		return "call " + e.ID + " " + e.Name + " " + e.Input + run(e.Executed) + meta(e.Meta)
	case model.ToolResult:
		return fmt.Sprintf("result %s %s %s failed=%t%s", e.ID, e.Name, e.Output, e.Failed, meta(e.Meta))
	case model.Source:
		return strings.TrimSpace("source " + e.URL + " " + e.Title)
	case model.Used:
		u := e.Usage
		out := fmt.Sprintf("used in=%d read=%d write=%d out=%d reasoning=%d total=%d", u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Total)
		if u.Billed != nil {
			out += fmt.Sprintf(" billed=%d", *u.Billed)
		}
		return out
	case model.Finish:
		return strings.TrimSpace("finish " + e.Reason + " " + e.Raw)
	}
	return fmt.Sprintf("%#v", e)
}

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

// checkShape says what is wrong with the order of some events.
func checkShape(events []model.Event, err error) error {
	open := map[string]bool{}
	finished := false
	for _, e := range events {
		if finished {
			return errors.New("an event after the finish: " + line(e))
		}
		id, starts, ends := blockOf(e)
		switch {
		case starts && open[id]:
			return errors.New("started twice: " + line(e))
		case !starts && id != "" && !open[id]:
			return errors.New("not open: " + line(e))
		case starts:
			open[id] = true
		case ends:
			delete(open, id)
		}
		if c, ok := e.(model.ToolCall); ok && !json.Valid([]byte(c.Input)) {
			return errors.New("input is no JSON: " + c.Input)
		}
		_, finished = e.(model.Finish)
	}
	switch {
	case err != nil && finished:
		return fmt.Errorf("an error after the finish: %w", err)
	case err == nil && !finished:
		return errors.New("neither finish nor error")
	case finished && len(open) > 0:
		return fmt.Errorf("left open: %v", open)
	}
	return nil
}

func blockOf(e model.Event) (id string, starts, ends bool) {
	switch e := e.(type) {
	case model.TextStart:
		return "t" + e.ID, true, false
	case model.TextDelta:
		return "t" + e.ID, false, false
	case model.TextEnd:
		return "t" + e.ID, false, true
	case model.ReasoningStart:
		return "r" + e.ID, true, false
	case model.ReasoningDelta:
		return "r" + e.ID, false, false
	case model.ReasoningEnd:
		return "r" + e.ID, false, true
	case model.InputStart:
		return "i" + e.ID, true, false
	case model.InputDelta:
		return "i" + e.ID, false, false
	case model.InputEnd:
		return "i" + e.ID, false, true
	default:
		return "", false, false
	}
}
