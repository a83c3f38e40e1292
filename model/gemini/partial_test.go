package gemini

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// streamed is an answer whose calls come in these pieces, each the value of functionCall.
func streamed(finish string, pieces ...string) string {
	var b strings.Builder
	for _, p := range pieces {
		fmt.Fprintf(&b, `data: {"candidates":[{"content":{"parts":[{"functionCall":%s}]}}]}`+"\n\n", p)
	}
	fmt.Fprintf(&b, `data: {"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":%q}]}`+"\n\n", finish)
	return b.String()
}

func callsIn(events []model.Event) (calls []model.ToolCall) {
	for _, e := range events {
		if c, ok := e.(model.ToolCall); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

func TestPartial_OneCall(t *testing.T) {
	events, err := drain(strings.NewReader(streamed("STOP",
		`{"id":"c1","name":"edit","willContinue":true}`,
		`{"partialArgs":[{"jsonPath":"$.filePath","stringValue":"a","willContinue":true}],"willContinue":true}`,
		`{"partialArgs":[{"jsonPath":"$.filePath","stringValue":".go"},{"jsonPath":"$.n","numberValue":1.5}],"willContinue":true}`,
		`{"partialArgs":[{"jsonPath":"$.list[0].x","boolValue":true},{"jsonPath":"$['list'][1]","nullValue":"NULL_VALUE"}],"willContinue":true}`,
		`{"partialArgs":[{"jsonPath":"$.empty","stringValue":""}],"willContinue":true}`,
		`{}`,
		`{"name":"read","args":{"filePath":"b"}}`)))
	if err != nil {
		t.Fatal(err)
	}
	calls := callsIn(events)
	if len(calls) != 2 || calls[0].Name != "edit" || calls[1].Name != "read" {
		t.Fatalf("calls %+v", calls)
	}
	if want := `{"empty":"","filePath":"a.go","list":[{"x":true},null],"n":1.5}`; calls[0].Input != want {
		t.Errorf("arguments %s, want %s", calls[0].Input, want)
	}
	if last := events[len(events)-1].(model.Finish); last.Reason != model.FinishCalls {
		t.Errorf("finish %+v", last)
	}
}

// A call without its end is never made a call, whatever the answer says of its end.
func TestPartial_NoEnd(t *testing.T) {
	open := []string{`{"name":"bash","willContinue":true}`, `{"partialArgs":[{"jsonPath":"$.command","stringValue":"rm -rf x"}],"willContinue":true}`}
	for finish, want := range map[string]string{"STOP": model.FinishError, "MAX_TOKENS": model.FinishLength} {
		events, err := drain(strings.NewReader(streamed(finish, open...)))
		if err != nil || len(callsIn(events)) > 0 || events[len(events)-1].(model.Finish).Reason != want {
			t.Errorf("%s: %+v, %v", finish, events, err)
		}
	}
	events, err := drain(strings.NewReader(streamed("STOP", append(open, `{"name":"read","args":{}}`)...)))
	if calls := callsIn(events); err != nil || len(calls) > 1 || len(calls) == 1 && calls[0].Name != "read" {
		t.Errorf("another call behind it: %+v, %v", calls, err)
	}
}

// Paths are a server's word: none makes a value larger than what was sent.
func TestPartial_HostilePaths(t *testing.T) {
	for _, path := range []string{
		"$.a[1000000000]", "$.a[1]", "$.a[-1]", "$.a[99999999999999999999]", "$" + strings.Repeat(".a", 100), "$" + strings.Repeat("[0]", 65),
		"", "$", "a", "$..a", "$.*", "$[*]", "$.a[0:5]", "$[?@.x]", "$['a", `$['a\'b']`, "$.", "$[", "$[]",
	} {
		piece, _ := json.Marshal(map[string]any{"name": "x", "partialArgs": []any{map[string]any{"jsonPath": path, "stringValue": "v"}}})
		events, err := drain(strings.NewReader(streamed("STOP", string(piece))))
		if lathe.CodeOf(err) != lathe.Unavailable || len(callsIn(events)) > 0 {
			t.Errorf("%q: %+v, %v", path, events, err)
		}
	}
	for _, paths := range [][2]string{{"$.a", "$.a.b"}, {"$.a[0]", "$.a.b"}, {"$.a.b", "$.a[0]"}} {
		piece := fmt.Sprintf(`{"name":"x","partialArgs":[{"jsonPath":%q,"stringValue":"v"},{"jsonPath":%q,"stringValue":"v"}]}`, paths[0], paths[1])
		if events, err := drain(strings.NewReader(streamed("STOP", piece))); err == nil || len(callsIn(events)) > 0 {
			t.Errorf("%v: %+v, %v", paths, events, err)
		}
	}
}

func FuzzPartial(f *testing.F) {
	for _, path := range []string{"$.a", "$.a[0].b", "$['x y'][0]", `$["q"]`, "$.a.b.c"} {
		f.Add(path, "text", true)
	}
	f.Fuzz(func(t *testing.T, path, text string, more bool) {
		c := &partialCall{args: &argument{}}
		if c.add(partialArg{Path: path, String: &text, WillContinue: more}) != nil {
			return
		}
		if err := c.add(partialArg{Path: path, String: &text}); err != nil {
			t.Fatalf("%q once, then %v", path, err)
		}
		if out := c.args.append(nil); !json.Valid(out) {
			t.Fatalf("%q makes %s", path, out)
		}
	})
}
