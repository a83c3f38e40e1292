package engine_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model/modeltest"
)

// A provider that sends more bytes than an answer can have is asked once. The turn ends with an error
// that says so, and what came before is kept.
func TestWire_TooLong(t *testing.T) {
	t.Parallel()
	for _, protocol := range modeltest.Protocols() {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				answer := recordAnswer(t, protocol, "text \"Hi \" \"there.\"\nfinish stop")
				resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer.bytes())), nil)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(resp.Body) // who read it did not wait for its last chunk
				for limit, want := range map[int]string{
					bytes.Index(body, []byte("Hi ")): "Hi, too long", // what comes with the byte too many is taken
					len(body):                        "Hi there., whole",
				} {
					if got := longAnswer(t, protocol, answer, limit); got != want {
						t.Errorf("%d bytes of %d: %q, not %q", limit, len(body), got, want)
					}
				}
			})
		})
	}
}

// longAnswer lets a model answer with so many bytes at most, and says what is kept and how it ended.
func longAnswer(t *testing.T, protocol modeltest.Protocol, answer recorded, limit int) string {
	t.Helper()
	h := &halting{answer: answer, stops: []int{answer.len()}}
	p := beginPlay(t, parseScript(t, "-- model --\n"), protocol)
	p.wire = limit
	p.server.Client.Transport = h.client().Transport
	m, err := p.Prompt(t.Context(), p.session, lathe.Prompt{Parts: text("hello")})
	p.ok(err)
	p.rest()
	p.check()
	stored, err := p.Message(t.Context(), p.session, m.ID)
	p.ok(err)
	fault := stored.Data.(*lathe.Assistant).Error
	if h.requests() != 1 || fault != nil && !strings.Contains(lathe.FaultMessage(fault), "KB of data, beyond this model's limit") {
		t.Errorf("%d bytes: %v after %d requests", limit, fault, h.requests())
	}
	if fault == nil {
		return wordsOf(stored) + ", whole"
	}
	return wordsOf(stored) + ", too long"
}
