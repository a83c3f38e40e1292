package history_test

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/history"
	"github.com/lathe-agent/lathe/engine/history/historytest"
)

func ids(messages []*history.Message) (out string) {
	for _, h := range messages {
		out += " " + string(h.ID)
	}
	return strings.TrimSpace(out)
}

// TestVisible holds what of a history a model is notified, and in which order.
func TestVisible(t *testing.T) {
	request := func(id lathe.MessageID, tail lathe.MessageID, overflow lathe.Flag) *history.Message {
		return historytest.User(id, &lathe.Compaction{Auto: true, TailStart: tail, Overflow: overflow})
	}
	broken := lathe.Assistant{Finish: "error", Error: &lathe.OverflowFault{}}
	for _, tt := range []struct {
		name     string
		messages []*history.Message
		want     string
	}{
		{"nothing", nil, ""},
		{"no compaction", []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped)}, "m1 m2"},
		{"a compaction", []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped), request("c", "", lathe.No), historytest.SummaryOf("s", "c", historytest.Stopped), historytest.User("m3")}, "c s m3"},
		{"what stays comes behind it", []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped), historytest.User("m3"), historytest.Answer("m4", historytest.Stopped), request("c", "m3", lathe.No), historytest.SummaryOf("s", "c", historytest.Stopped), historytest.User("m5")}, "c s m3 m4 m5"},
		{"a tail may begin with an answer", []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling), historytest.Answer("m3", historytest.Calling), request("c", "m3", lathe.No), historytest.SummaryOf("s", "c", historytest.Stopped), historytest.User("m5")}, "c s m3 m5"},
		{"a tail that is gone", []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped), request("c", "x", lathe.No), historytest.SummaryOf("s", "c", historytest.Stopped), historytest.User("m3")}, "c s m3"},
		{"a prompt that came meanwhile is not lost", []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Calling), request("c", "m2", lathe.No), historytest.User("m3"), historytest.SummaryOf("s", "c", historytest.Stopped), historytest.User("m4")}, "c s m2 m3 m4"},
		{"one that failed hides nothing, trap 86", []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped), request("c", "", lathe.No), historytest.SummaryOf("s", "c", broken), historytest.User("m3")}, "m1 m2 m3"},
		{"nor one without an end", []*history.Message{historytest.User("m1"), historytest.Answer("m2", historytest.Stopped), request("c", "", lathe.No), historytest.SummaryOf("s", "c", lathe.Assistant{}), historytest.User("m3")}, "m1 m2 m3"},
		{"the newest counts", []*history.Message{
			historytest.User("m1"), request("c1", "", lathe.No), historytest.SummaryOf("s1", "c1", historytest.Stopped), historytest.User("m2"), historytest.Answer("m3", historytest.Stopped),
			request("c2", "m2", lathe.No), historytest.SummaryOf("s2", "c2", historytest.Stopped), historytest.User("m4"),
		}, "c2 s2 m2 m3 m4"},
		{"also before one that failed", []*history.Message{
			historytest.User("m1"), request("c1", "", lathe.No), historytest.SummaryOf("s1", "c1", historytest.Stopped), historytest.User("m2"), request("c2", "", lathe.No), historytest.SummaryOf("s2", "c2", broken), historytest.User("m4"),
		}, "c1 s1 m2 m4"},
		{"a tail may reach behind an older one", []*history.Message{
			historytest.User("m1"), historytest.Answer("m2", historytest.Stopped), request("c1", "m1", lathe.No), historytest.SummaryOf("s1", "c1", historytest.Stopped), historytest.User("m3"),
			request("c2", "m2", lathe.No), historytest.SummaryOf("s2", "c2", historytest.Stopped), historytest.User("m4"),
		}, "c2 s2 m2 m3 m4"},
		{"what is said again is not told twice", []*history.Message{
			historytest.User("m1"), historytest.Answer("m2", historytest.Stopped), historytest.User("m3"), historytest.Answer("m4", lathe.Assistant{}), request("c", "m2", lathe.Yes), historytest.SummaryOf("s", "c", historytest.Stopped), historytest.User("m5"),
		}, "c s m2 m5"},
		{"what was answered is not said again", []*history.Message{
			historytest.User("m1"), historytest.Answer("m2", historytest.Stopped), historytest.User("m3"), historytest.Answer("m4", historytest.Calling, historytest.Ran(`{}`)), request("c", "m4", lathe.Yes), historytest.SummaryOf("s", "c", historytest.Stopped), historytest.User("m5"),
		}, "c s m4 m5"},
	} {
		if got := ids(history.Visible(tt.messages)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
