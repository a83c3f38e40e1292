package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/workspace"
)

// The same session gives the same requests, byte for byte, in another process, folder and database: only then does a
// replay of a recording find its answers. The calls of a step run at the same time, and maps have no order, so that
// a request which depended on either would differ sooner or later.
func TestRequests_Prop(t *testing.T) {
	for seed := range uint64(3) {
		for _, protocol := range []modeltest.Protocol{modeltest.Chat, modeltest.Anthropic} {
			t.Run(fmt.Sprint(seed, protocol), func(t *testing.T) {
				t.Parallel()
				text := settled(wanderings(rand.New(rand.NewPCG(seed, 2))))
				first, second := requestsOf(t, text, protocol), requestsOf(t, text, protocol)
				if len(first) != len(second) || len(first) < 5 {
					t.Fatalf("%d and %d requests", len(first), len(second))
				}
				for i := range first {
					if !bytes.Equal(first[i], second[i]) {
						t.Fatalf("request %d differs:\n%s\n%s", i+1, first[i], second[i])
					}
				}
			})
		}
	}
}

// settled is a transcript in which each action waits for the end of the one before: when a cancel or a second prompt
// arrives is not the same twice.
func settled(text string) string {
	begin, end := strings.Index(text, "-- do --\n"), strings.Index(text, "-- model --\n")
	var do strings.Builder
	for line := range strings.Lines(text[begin:end]) {
		switch {
		case line == "cancel\n", strings.HasPrefix(line, "sleep"), strings.Contains(line, "delivery="):
		case strings.HasPrefix(line, "prompt"):
			do.WriteString(line + "wait\n")
		default:
			do.WriteString(line)
		}
	}
	return text[:begin] + do.String() + text[end:]
}

// requestsOf plays a transcript and returns the bodies of its requests, without the names of its own folders.
func requestsOf(t *testing.T, text string, protocol modeltest.Protocol) (out [][]byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := parseScript(t, text)
		p := beginPlay(t, s, protocol)
		for _, w := range s.do {
			p.act(w)
			synctest.Wait()
		}
		p.rest()
		for _, r := range p.server.Requests() {
			body := bytes.ReplaceAll(r.Body, []byte(p.dir), []byte("DIR"))
			out = append(out, bytes.ReplaceAll(body, []byte(p.data), []byte("DATA")))
		}
	})
	return out
}

// What was sent can be built again from what is stored, whatever happened since: restarts, other agents and models, and
// changed instructions. Only the system prompt may have been replaced.
func TestCheckRequests_Prop(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(settled(wanderings(rand.New(rand.NewPCG(seed, 5)))), "-- settings --\n", "-- settings --\nsnapshots yes\n", 1)
			synctest.Test(t, func(t *testing.T) {
				s := parseScript(t, text)
				p := beginPlay(t, s, modeltest.Chat)
				for _, w := range s.do {
					p.act(w)
					synctest.Wait()
				}
				p.rest()
				page, err := p.Messages(t.Context(), p.session, lathe.Position{}, 0)
				p.ok(err)
				var answers []lathe.MessageID
				for _, m := range page.Messages {
					if _, ok := m.Data.(*lathe.Assistant); ok {
						answers = append(answers, m.ID)
					}
				}
				set, err := p.Settings(t.Context(), workspace.Place{})
				p.ok(err)
				all, err := engine.CheckRequests(t.Context(), p.Engine, p.session, set, answers)
				p.ok(err)
				same := 0
				for _, c := range all {
					if c.Same {
						same++
					}
					if c.Version != "1.2.3" || c.Older || !c.Same && !c.Replaced {
						t.Errorf("%+v", c)
					}
				}
				set.Agents[0].Prompt, set.Agents[1].Options = "Another prompt.", json.RawMessage(`{"effort":"low"}`)
				other, err := engine.CheckRequests(t.Context(), p.Engine, p.session, set, answers)
				p.ok(err)
				if slices.Equal(all, other) && same < len(all) || len(all) < 5 || same == 0 {
					t.Errorf("%d of %d are the same, also with other options", same, len(all))
				}
			})
		})
	}
}
