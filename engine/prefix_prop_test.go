package engine_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lathe-agent/lathe/model/modeltest"
)

// Whatever happens to a session, the bytes of a request begin with those of the one before:
// tools, what goes before the conversation, and the messages. Only another agent or model
// changes what goes before, and then nothing else.
func TestPrefix_Prop(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := parseScript(t, wanderings(rand.New(rand.NewPCG(seed, 1))))
				p := beginPlay(t, s, modeltest.Chat)
				for _, w := range s.do {
					p.act(w)
					synctest.Wait()
				}
				p.rest()
				p.check()
				holdPrefix(t, p.server.Requests())
			})
		})
	}
}

// wanderings is a transcript in which a session is prompted, steered, canceled and restarted
// while instructions and skills change and agents and models are switched.
func wanderings(r *rand.Rand) string {
	var do, model strings.Builder
	for range 30 {
		fmt.Fprintln(&do, [](func() string){
			func() string { return fmt.Sprintf("prompt \"words %d\"", r.IntN(100)) },
			func() string { return fmt.Sprintf("prompt \"words %d\" delivery=queue", r.IntN(100)) },
			func() string { return "prompt \"other\" agent=other" },
			func() string { return "prompt \"second\" model=test/second" },
			func() string { return "prompt \"first\" agent=build model=test/big" },
			func() string { return fmt.Sprintf("write A.md \"Rule %d.\"", r.IntN(3)) },
			func() string { return fmt.Sprintf("write skills/one/SKILL.md \"When %d\\nDo.\"", r.IntN(3)) },
			func() string { return "write B.md \"\"" },
			func() string { return "write B.md \"More.\"" },
			func() string { return "sleep 30ms" },
			func() string { return "cancel" },
			func() string { return "wait\nrestart" },
			func() string { return "wait" },
		}[r.IntN(13)]())
	}
	for i := range 200 {
		if i > 0 {
			fmt.Fprintln(&model, "--")
		}
		switch r.IntN(3) {
		case 0:
			fmt.Fprintf(&model, "call wait {\"ms\":%d}\nfinish tool-calls\n", 10+r.IntN(50))
		case 1:
			fmt.Fprintf(&model, "text \"Looking.\"\ncall print {\"lines\":%d}\ncall wait {\"ms\":%d}\nfinish tool-calls\n", r.IntN(9), r.IntN(9))
		default:
			fmt.Fprintf(&model, "text \"Answer %d.\"\nfinish stop\n", i)
		}
	}
	return "-- settings --\ninstruction A.md\ninstruction B.md\nskills yes\nattempts 1\n-- files/A.md --\nBe brief.\n-- files/skills/one/SKILL.md --\nWhen it fits\nDo.\n" +
		"-- do --\n" + do.String() + "-- model --\n" + model.String()
}

// holdPrefix compares the bytes of requests.
func holdPrefix(t *testing.T, requests []modeltest.Request) {
	t.Helper()
	type body struct {
		Model    string
		Tools    json.RawMessage
		Messages []json.RawMessage
	}
	var before body
	for i, r := range requests {
		var now body
		if err := json.Unmarshal(r.Body, &now); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			other := strings.Contains(string(before.Messages[0]), "You are the other one.") != strings.Contains(string(now.Messages[0]), "You are the other one.")
			declared := other || before.Model != now.Model
			if string(before.Tools) != string(now.Tools) {
				t.Errorf("request %d has other tools", i+1)
			}
			for n := range before.Messages {
				if n >= len(now.Messages) || string(before.Messages[n]) != string(now.Messages[n]) && (n > 0 || !declared) {
					t.Fatalf("request %d differs from the one before in message %d:\n%s\n%s", i+1, n, before.Messages[n], now.Messages[min(n, len(now.Messages)-1)])
				}
			}
		}
		before = now
	}
	if len(requests) < 5 {
		t.Errorf("only %d requests", len(requests))
	}
}
