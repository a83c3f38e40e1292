package waiting_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/waiting"
)

func TestText(t *testing.T) {
	for want, in := range map[string][2]time.Duration{
		"":                                     {14 * time.Second, 5 * time.Minute},
		"no data for 20s, gives up at 5m":      {20*time.Second + 300*time.Millisecond, 5 * time.Minute},
		"no data for 1m 5s, gives up at 1m30s": {65 * time.Second, 90 * time.Second},
		"no data for 40s, gives up at 1h":      {40 * time.Second, time.Hour},
		"no data for 15s":                      {15 * time.Second, 0},
	} {
		if got := waiting.Text(in[0], in[1]); got != want {
			t.Errorf("%v: %q, want %q", in, got, want)
		}
	}
}

// A running call is not the model's silence, also when prompts wait behind it.
func TestForModel(t *testing.T) {
	h := lathe.NewTranscript(lathe.Session{ID: "ses_1"}, []lathe.Message{
		{ID: "msg_1", Session: "ses_1", Created: 1, Data: &lathe.Assistant{}, Parts: []lathe.Part{{ID: "prt_1", Session: "ses_1", Message: "msg_1", Body: &lathe.ToolCall{State: &lathe.Running{}}}}},
		{ID: "msg_2", Session: "ses_1", Created: 2, Data: &lathe.User{}},
	})
	if waiting.ForModel(h) {
		t.Error("a running call counts as silence")
	}
	h.Apply(lathe.Event{Fact: &lathe.PartChanged{Part: lathe.Part{ID: "prt_1", Session: "ses_1", Message: "msg_1", Body: &lathe.ToolCall{State: &lathe.Completed{}}}}})
	if !waiting.ForModel(h) {
		t.Error("the model is not awaited")
	}
}

func TestClock(t *testing.T) {
	var c waiting.Clock
	at := time.UnixMilli(1000)
	tell := func(f lathe.Fact) {
		c.Event(lathe.Event{Session: "ses_1", Fact: f}, at)
		at = at.Add(time.Second)
	}
	if c.Silence("ses_1", at) != 0 {
		t.Error("a session that was never heard is silent")
	}
	tell(&lathe.StatusChanged{Session: "ses_1", Status: lathe.Status{Type: lathe.Busy}})
	ask := &lathe.PermissionAsked{PermissionRequest: lathe.PermissionRequest{ID: "per_1", Session: "ses_1", Tool: &lathe.ToolRef{Call: "c"}}}
	tell(ask)
	tell(ask) // again, after a reconnect
	if got, want := c.Waits("c"), []lathe.Wait{{2000, 0}}; !slices.Equal(got, want) {
		t.Errorf("waits %v, want %v", got, want)
	}
	tell(&lathe.PermissionReplied{Session: "ses_1", Request: "per_1", Reply: lathe.Once})
	if got, want := c.Waits("c"), []lathe.Wait{{2000, 4000}}; !slices.Equal(got, want) {
		t.Errorf("waits %v, want %v", got, want)
	}
	if got := c.Silence("ses_1", at.Add(9*time.Second)); got != 10*time.Second {
		t.Errorf("silent for %s", got)
	}
	tell(&lathe.StatusChanged{Session: "ses_1", Status: lathe.Status{Type: lathe.Idle}})
	if got := c.Silence("ses_1", at.Add(time.Hour)); got != 0 {
		t.Errorf("an idle session is silent for %s", got)
	}
}
