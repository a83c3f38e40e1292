package wiretest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// IDs is a generator that gives the same ids each time.
func IDs() *lathe.IDs {
	n := uint64(0)
	return lathe.NewIDsFrom(func() lathe.Time { return 1700000000000 }, func(b []byte) {
		n++
		clear(b)
		if len(b) >= 8 {
			binary.BigEndian.PutUint64(b[len(b)-8:], n)
		}
	})
}

// Collect gathers what a stream yields. Deltas of the same block that follow each other are
// joined: how a stream is cut is no part of what it says.
func Collect(stream func(yield func(model.Event, error) bool)) (out []model.Event, err error) {
	stream(func(e model.Event, failed error) bool {
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

// Show writes events one a line, so that tests can be read.
func Show(events []model.Event, err error) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintln(&b, line(e))
	}
	if err != nil {
		fmt.Fprintf(&b, "error %s: %s\n", lathe.CodeOf(err), err)
	}
	return b.String()
}

// differ shows the first line in which two lists of events are not the same.
func differ(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		var g, w string
		if i < len(a) {
			g = a[i]
		}
		if i < len(b) {
			w = b[i]
		}
		if g != w {
			return fmt.Sprintf("event %d is %.300q, want %.300q", i, g, w)
		}
	}
	return ""
}

func line(e model.Event) string {
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
		return "input " + e.ID + " of " + e.Name + executed(e.Executed)
	case model.InputDelta:
		return fmt.Sprintf("input %s + %q", e.ID, e.Text)
	case model.InputEnd:
		return "input " + e.ID + " end"
	case model.ToolCall:
		return "call " + e.ID + " " + e.Name + " " + e.Input + executed(e.Executed) + meta(e.Meta)
	case model.ToolResult:
		return fmt.Sprintf("result %s %s %s failed=%t%s", e.ID, e.Name, e.Output, e.Failed, meta(e.Meta))
	case model.Source:
		return strings.TrimSpace("source " + e.URL + " " + e.Title)
	case model.UsageUpdate:
		return "used " + usage(e.Usage)
	case model.Finish:
		return strings.TrimSpace("finish " + e.Reason + " " + e.Raw)
	}
	return fmt.Sprintf("%#v", e)
}

func meta(m model.Meta) string {
	if m == nil {
		return ""
	}
	return " " + string(m)
}

func executed(yes bool) string {
	if yes {
		return " (executed)"
	}
	return ""
}

func usage(u model.Usage) string {
	out := fmt.Sprintf("in=%d read=%d write=%d out=%d reasoning=%d total=%d", u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Total)
	if u.Billed != nil {
		out += fmt.Sprintf(" billed=%d", *u.Billed)
	}
	return out
}

// ErrInput says that the input of a call is not JSON. Models do send such input.
var ErrInput = errors.New("the input is not JSON")

// CheckShape reports an error in the order of events.
func CheckShape(events []model.Event, err error) error {
	open := map[string]bool{}
	finished := false
	var wrong error
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
			wrong = fmt.Errorf("%w: %s", ErrInput, c.Input)
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
	return wrong
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
