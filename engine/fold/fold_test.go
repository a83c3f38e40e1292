package fold

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// folding is its own fold, and what it said so far.
type folding struct {
	*Fold
	t     rapid.TB
	clock lathe.Time
	parts []lathe.Part // as they are now, in the order of birth
	grown map[lathe.PartID]string
	wants []Action
}

func newFolding(t rapid.TB) *folding {
	f := &folding{t: t, clock: 1000, grown: map[lathe.PartID]string{}}
	n := 0
	set := tool.NewSet(tooltest.All()...)
	f.Fold = &Fold{
		IDs: lathe.NewIDsFrom(func() lathe.Time { return 1 }, func(b []byte) {
			n++
			copy(b, fmt.Sprintf("%08d", n))
		}),
		Message: lathe.Message{ID: "msg_1", Session: "ses_1", Data: &lathe.Assistant{}},
		Resolve: set.Resolve,
	}
	f.Reset()
	return f
}

// events folds events, a millisecond apart.
func (f *folding) events(events ...model.Event) {
	for _, e := range events {
		f.clock++
		if err := f.Event(f.clock, e); err != nil {
			f.t.Fatalf("%T: %v", e, err)
		}
		f.taken()
	}
}

// taken takes the effects over, as a step does.
func (f *folding) taken() {
	eff := f.Take()
	for _, x := range eff.Facts {
		switch x := x.(type) {
		case *lathe.PartChanged:
			f.put1(x.Part)
		case *lathe.PartRemoved:
			f.parts = nil
		default:
		}
	}
	for _, g := range eff.Grown {
		f.grown[g.Part] += g.Text
	}
	f.wants = append(f.wants, eff.Actions...)
}

func (f *folding) put1(p lathe.Part) {
	for i := range f.parts {
		if f.parts[i].ID == p.ID {
			f.parts[i] = p
			return
		}
	}
	f.parts = append(f.parts, p)
}

// shows is the parts without ids and times.
func (f *folding) shows() (out []string) {
	for _, p := range f.parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			out = append(out, fmt.Sprintf("text %q open=%v %s", b.Text, p.Open(), b.Metadata))
		case *lathe.Reasoning:
			out = append(out, fmt.Sprintf("reasoning %q open=%v %s", b.Text, p.Open(), b.Metadata))
		case *lathe.ToolCall:
			out = append(out, fmt.Sprintf("%s %s %T %s %s", b.CallID, b.Tool, b.State, history.InputOf(b.State), history.MetadataOf(b.State)))
		default:
			out = append(out, p.Body.Kind())
		}
	}
	return out
}

// The rows of the event table that a wire seldom shows. (§4.3; traps 15-19, 24, 27, 28, 38)
func TestFold_OddStreams(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		events []model.Event
		want   []string
	}{
		"reasoning blocks open at once, deltas in turns": {
			[]model.Event{
				model.ReasoningStart{ID: "a"},
				model.ReasoningStart{ID: "b"},
				model.ReasoningDelta{ID: "a", Text: "A1"},
				model.ReasoningDelta{ID: "b", Text: "B1"},
				model.ReasoningDelta{ID: "a", Text: "A2", Meta: model.Meta(`{"p":{"x":1}}`)},
				model.ReasoningEnd{ID: "b", Meta: model.Meta(`{"p":{"y":2}}`)},
				model.ReasoningEnd{ID: "a"},
			},
			[]string{`step-start`, `reasoning "A1A2" open=false {"p":{"x":1}}`, `reasoning "B1" open=false {"p":{"y":2}}`},
		},
		"a second start does not reset the text": {
			[]model.Event{
				model.ReasoningStart{ID: "a"},
				model.ReasoningDelta{ID: "a", Text: "one"},
				model.ReasoningStart{ID: "a"},
				model.ReasoningDelta{ID: "a", Text: " two"},
				model.ReasoningEnd{ID: "a"},
				model.TextStart{ID: "t"},
				model.TextDelta{ID: "t", Text: "three"},
				model.TextStart{ID: "t"},
				model.TextDelta{ID: "t", Text: " four"},
				model.TextEnd{ID: "t"},
			},
			[]string{`step-start`, `reasoning "one two" open=false `, `text "three four" open=false `},
		},
		"what nobody opened is ignored": {
			[]model.Event{
				model.TextDelta{ID: "t", Text: "lost"},
				model.TextEnd{ID: "t"},
				model.ReasoningDelta{ID: "r", Text: "lost"},
				model.ReasoningEnd{ID: "r"},
				model.InputDelta{ID: "c", Text: "{}"},
				model.InputEnd{ID: "c"},
				model.ToolResult{ID: "c", Output: json.RawMessage(`"x"`)},
			},
			[]string{`step-start`},
		},
		"a call without a start": {
			[]model.Event{model.ToolCall{ID: "c", Name: "wait", Input: `{"ms":1}`}},
			[]string{`step-start`, `c wait *lathe.Running {"ms":1} `},
		},
		"a start told twice is one call": {
			[]model.Event{
				model.InputStart{ID: "c", Name: "wait"},
				model.InputStart{ID: "c", Name: "wait"},
				model.ToolCall{ID: "c", Name: "wait", Input: `{"ms":1}`},
				model.ToolCall{ID: "c", Name: "wait", Input: `{"ms":1}`},
			},
			[]string{`step-start`, `c wait *lathe.Running {"ms":1} `},
		},
		"another call under the same id is another": {
			[]model.Event{
				model.ToolCall{ID: "c", Name: "wait", Input: `{"ms":1}`}, model.ToolCall{ID: "c", Name: "wait", Input: `{"ms":2}`},
			},
			[]string{`step-start`, `c wait *lathe.Running {"ms":1} `, `c_2 wait *lathe.Running {"ms":2} `},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolding(t)
			f.events(append([]model.Event{model.Start{}}, test.events...)...)
			if d := cmp.Diff(test.want, f.shows()); d != "" {
				t.Errorf("parts (-want +got):\n%s", d)
			}
		})
	}
}

// What a call has become stays: late results, late progress and a second end change nothing.
// Its start stays too. (§3.6; traps 18, 38)
func TestFold_SettledStays(t *testing.T) {
	t.Parallel()
	f := newFolding(t)
	f.events(model.Start{}, model.ToolCall{ID: "c", Name: "wait", Input: `{"ms":1}`})
	c := f.wants[0].(StartTool).Call
	begin := c.Body().State.(*lathe.Running).Start
	f.Progress(c, "half", json.RawMessage(`{"n":1}`), 5000)
	f.Settle(c, Outcome{Result: tool.Result{Output: "first"}}, 6000)
	settled, _ := json.Marshal(c.Part)
	f.Settle(c, Outcome{Result: tool.Result{Output: "second"}}, 7000)
	f.Settle(c, Outcome{Err: tool.Failf("third")}, 7001)
	f.Progress(c, "late", nil, 7002)
	f.fail(c, "late", history.InterruptedMark, 7003)
	f.Close(8000, nil)
	if now, _ := json.Marshal(c.Part); string(now) != string(settled) {
		t.Errorf("the call became %s, was %s", now, settled)
	}
	if done := c.Body().State.(*lathe.Completed); done.Start != begin || done.End != 6000 || done.Output != "first" {
		t.Errorf("it is %+v, and began at %v", done, begin)
	}
}

// A summary that calls a tool fails. (§4.8; trap 32)
func TestFold_SummaryCallsNoTool(t *testing.T) {
	t.Parallel()
	for _, e := range []model.Event{model.InputStart{ID: "c", Name: "wait"}, model.ToolCall{ID: "c", Name: "wait", Input: `{}`}} {
		f := newFolding(t)
		f.Message.Data = &lathe.Assistant{Summary: lathe.Yes}
		f.events(model.Start{})
		if err := f.Event(2000, e); err == nil || !strings.Contains(err.Error(), "wait") {
			t.Errorf("%T: %v", e, err)
		}
		if len(f.wants) > 0 {
			t.Errorf("%T is run", e)
		}
	}
}

// A block that is left open has its end with the message. (item 2; trap 28)
func TestFold_ClosesWhatIsOpen(t *testing.T) {
	t.Parallel()
	f := newFolding(t)
	f.events(model.Start{}, model.ReasoningStart{ID: "r"}, model.ReasoningDelta{ID: "r", Text: "hm "}, model.TextStart{ID: "t"},
		model.TextDelta{ID: "t", Text: "so "}, model.InputStart{ID: "c", Name: "wait"}, model.Finish{Reason: model.FinishStop})
	f.Finish(9000, snapshot.Patch{})
	f.Close(9001, nil)
	f.taken()
	want := []string{
		`step-start`, `reasoning "hm" open=false `, `text "so" open=false `,
		`c wait *lathe.Failed {} {"interrupted":true}`, `step-finish`,
	}
	if d := cmp.Diff(want, f.shows()); d != "" {
		t.Errorf("parts (-want +got):\n%s", d)
	}
	if start := f.parts[2].Body.(*lathe.Text).Time.Start; start >= 9000 {
		t.Errorf("the text begins at %v: its start was lost", start) // trap 24
	}
}

// However a stream is cut into deltas, the parts are the same, and what grew is what they
// say but for the space at the end. (I10)
func TestFold_CutsDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type block struct {
			kind, text string
		}
		blocks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) block {
			return block{rapid.SampledFrom([]string{"text", "reasoning", "call"}).Draw(t, "kind"), rapid.String().Draw(t, "text")}
		}), 0, 6).Draw(t, "blocks")
		stream := func(whole bool) *folding {
			f := newFolding(t)
			f.events(model.Start{})
			for i, b := range blocks {
				pieces := []string{b.text}
				if !whole {
					pieces = cuts(t, b.text)
				}
				id := fmt.Sprint(i)
				switch b.kind {
				case "text":
					f.events(model.TextStart{ID: id})
					for _, p := range pieces {
						f.events(model.TextDelta{ID: id, Text: p})
					}
					f.events(model.TextEnd{ID: id})
				case "reasoning":
					f.events(model.ReasoningStart{ID: id})
					for _, p := range pieces {
						f.events(model.ReasoningDelta{ID: id, Text: p})
					}
					f.events(model.ReasoningEnd{ID: id})
				default:
					input, _ := json.Marshal(map[string]string{"path": "a", "content": b.text})
					f.events(model.InputStart{ID: id, Name: "write"})
					for _, p := range pieces {
						f.events(model.InputDelta{ID: id, Text: p})
					}
					f.events(model.InputEnd{ID: id}, model.ToolCall{ID: id, Name: "write", Input: string(input)})
				}
			}
			return f
		}
		whole, cut := stream(true), stream(false)
		if d := cmp.Diff(whole.shows(), cut.shows()); d != "" {
			t.Fatalf("parts (-whole +cut):\n%s", d)
		}
		for _, p := range cut.parts {
			if text := p.GrowingText(); strings.TrimSpace(cut.grown[p.ID]) != strings.TrimSpace(text) {
				t.Fatalf("%q grew, and the part says %q", cut.grown[p.ID], text)
			}
		}
	})
}

// cuts cuts a text anywhere, characters included, into pieces some of which are empty.
func cuts(t *rapid.T, text string) (out []string) {
	for text != "" {
		n := rapid.IntRange(0, len(text)).Draw(t, "piece")
		out = append(out, text[:n])
		text = text[n:]
		if n == 0 && len(out) > 20 {
			out = append(out, text)
			break
		}
	}
	return out
}
