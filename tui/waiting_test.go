package tui

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
)

// working tells of a turn with an open answer.
func working(s *stage) (answer lathe.Message) {
	now := lathe.Time(s.p.now().UnixMilli())
	answer = lathe.Message{ID: "msg_5", Session: sampleID, Created: now, Data: &lathe.Assistant{Parent: "msg_3", Agent: "build", Model: lathe.ModelRef{Provider: "acme", Model: "m-1"}}}
	s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{Type: lathe.Busy}}, &lathe.MessageChanged{Info: answer})
	return answer
}

// Prompts that wait for the next step and for the end of the turn have badges and counts of their own.
func TestWaiting_Badges(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		answer := working(s)
		for i, d := range []lathe.Delivery{lathe.Steer, lathe.Queue, lathe.Queue, ""} {
			m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_6%d", i)), Session: sampleID, Created: answer.Created + lathe.Time(i), Data: &lathe.User{Agent: "build"}}
			if d != "" {
				s.p.state.NoteSent(m.ID, d)
			}
			s.tell(&lathe.MessageChanged{Info: m}, &lathe.PartChanged{Part: lathe.Part{
				ID: lathe.PartID("prt" + string(m.ID)), Session: sampleID, Message: m.ID, Body: &lathe.Text{Text: fmt.Sprintf("prompt %d", i)},
			}})
		}
		s.sees("STEERING", "QUEUED", "WAITING", "1 steering", "3 queued")
		s.engine.was()
		s.typed("now")
		s.press("enter")
		s.did("submit ses_1 now")
	})
}

// The next prompt goes to the agent that the engine handed the session to. Other prompts leave the choice alone.
func TestPlan_AgentFollows(t *testing.T) {
	onStage(t, sample(), inSample(), func(s *stage) {
		answer := working(s)
		for i, synthetic := range []lathe.Flag{lathe.Unset, lathe.Yes} {
			m := lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_6%d", i)), Session: sampleID, Created: answer.Created + lathe.Time(i), Data: &lathe.User{Agent: "plan"}}
			s.tell(&lathe.MessageChanged{Info: m}, &lathe.PartChanged{Part: lathe.Part{
				ID: lathe.PartID("prt" + string(m.ID)), Session: sampleID, Message: m.ID, Body: &lathe.Text{Text: "go", Synthetic: synthetic},
			}})
			s.sees([]string{"Build · Model One · acme", "Plan · Model One · acme"}[i])
		}
	})
}

// A model that sends nothing is mentioned after a while, with the time at which lathe gives up; a running call is not
// the model's silence, and a request is the user's.
func TestWaiting_Silence(t *testing.T) {
	e := sample()
	e.info = api.Info{Directory: "/w/app", Version: "1", Trusted: true, Limits: api.ParseLimits([]byte(`{"provider":{"acme":{"options":{"timeout":120000}}}}`))}
	onStage(t, e, inSample(), func(s *stage) {
		answer := working(s)
		s.pass(14 * time.Second)
		s.lacks("no data")
		s.pass(6 * time.Second)
		s.sees("no data for 20s, gives up at 2m")
		s.tell(&lathe.PartChanged{Part: lathe.Part{ID: "prt_9", Session: sampleID, Message: answer.ID, Body: &lathe.Text{Text: "Well"}}})
		s.lacks("no data")
		s.tell(&lathe.PartChanged{Part: lathe.Part{ID: "prt_8", Session: sampleID, Message: answer.ID, Body: &lathe.ToolCall{
			CallID: "call_1", Tool: "bash", State: &lathe.Running{Input: json.RawMessage(`{"command":"make"}`), Start: lathe.Time(s.p.now().UnixMilli())},
		}}})
		s.pass(20 * time.Second)
		s.sees("make 20s")
		s.lacks("no data")
		ask := askFor("per_1", sampleID).(*lathe.PermissionAsked)
		ask.Tool = &lathe.ToolRef{Message: answer.ID, Call: "call_1"}
		s.tell(ask)
		s.pass(30 * time.Second)
		s.sees("make waiting for you 20s")
		s.tell(&lathe.PermissionReplied{Session: sampleID, Request: "per_1", Reply: lathe.Once})
		s.pass(5 * time.Second)
		s.sees("make 25s")
	})
}

// The row has the start of the reason, a click on it and /status all of it.
func TestWaiting_RetryReason(t *testing.T) {
	e := sample()
	e.info = api.Info{Directory: "/w/app", Version: "1", Trusted: true, Limits: api.ParseLimits(nil)}
	onStage(t, e, inSample(), func(s *stage) {
		s.tell(&lathe.StatusChanged{Session: sampleID, Status: lathe.Status{
			Type: lathe.Retrying, Attempt: 2, Next: lathe.Time(s.p.now().Add(5 * time.Second).UnixMilli()), Message: "too many requests for this key and model\nlimit: 40 a minute",
		}})
		s.sees("Retrying in 5s (2 of 5): too many") // 80 columns
		s.resize(120, 30)
		s.sees("Retrying in 5s (2 of 5): too many requests")
		s.lacks("40 a minute")
		s.click("Retrying")
		s.sees("limit: 40 a minute")
		s.press("esc")
		s.slash("status")
		s.sees("limit: 40 a minute")
	})
}
