//go:build unix

package engine_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// relay is the floor: it asks a provider, parses each event of the answer, and writes each
// delta as an event of ours to a buffer. It stores and publishes nothing.
type relay struct {
	client   *http.Client
	received func(delta string) // nil if unused
	out      bytes.Buffer
}

type providerEvent struct {
	Type  string `json:"type"`
	Delta struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"delta"`
}

type relayedEvent struct {
	ID         string       `json:"id"`
	Type       string       `json:"type"`
	Properties relayedDelta `json:"properties"`
}

type relayedDelta struct {
	Session string `json:"sessionID"`
	Message string `json:"messageID"`
	Part    string `json:"partID"`
	Field   string `json:"field"`
	Delta   string `json:"delta"`
}

// run relays one answer.
func (r *relay) run(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"stream":true}`))
	if err != nil {
		return err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(bufio.NewReaderSize(resp.Body, 32<<10))
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		if err := r.event(data); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (r *relay) event(data []byte) error {
	var ev providerEvent
	if err := json.Unmarshal(data, &ev); err != nil {
		return err
	}
	if ev.Type != "content_block_delta" {
		return nil
	}
	out, err := json.Marshal(relayedEvent{
		ID: "evt_0123456789abABCDEFGHIJKLMN", Type: "message.part.delta",
		Properties: relayedDelta{
			Session: "ses_0123456789abABCDEFGHIJKLMN", Message: "msg_0123456789abABCDEFGHIJKLMN",
			Part: "prt_0123456789abABCDEFGHIJKLMN", Field: "text", Delta: ev.Delta.Text,
		},
	})
	if err != nil {
		return err
	}
	r.out.Reset()
	r.out.WriteString("data: ")
	r.out.Write(out)
	r.out.WriteString("\n\n")
	if r.received != nil {
		r.received(ev.Delta.Text)
	}
	return nil
}
