package lathe_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/lathe-agent/lathe"
)

// A prompt and a command are written as requests have them, without ids that are empty, and read back as they were.
func TestPrompt_JSON(t *testing.T) {
	t.Parallel()
	ref := &lathe.ModelRef{Provider: "p", Model: "m/1"}
	parts := []lathe.Part{{Body: &lathe.Text{Text: "hi"}}}
	p := lathe.Prompt{
		ID: "msg_1", Agent: "a", Model: ref, Variant: "high", System: "s", Tools: map[string]bool{"bash": false}, Format: json.RawMessage(`{"type":"text"}`),
		Delivery: lathe.Queue, NoReply: true, Parts: parts,
	}
	const want = `{"messageID":"msg_1","model":{"providerID":"p","modelID":"m/1"},"agent":"a","variant":"high","noReply":true,"system":"s","tools":{"bash":false},` +
		`"format":{"type":"text"},"delivery":"queue","parts":[{"type":"text","text":"hi"}]}`
	var back lathe.Prompt
	if got, err := json.Marshal(p); err != nil || string(got) != want || json.Unmarshal(got, &back) != nil || !reflect.DeepEqual(back, p) {
		t.Errorf("%s, %v, read as %+v", got, err, back)
	}
	c := lathe.CommandCall{Command: "c", Arguments: "x", Message: "msg_1", Agent: "a", Model: ref, Variant: "high", Parts: parts}
	var again lathe.CommandCall
	if got, err := json.Marshal(c); err != nil || json.Unmarshal(got, &again) != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("%s, %v, read as %+v", got, err, again)
	}
}
