package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// relayName is the first word of a process that relays.
const relayName = "relay"

// relayMain is the floor: a server that asks the provider for many answers, parses each event and
// writes each word as an event to its one client. It keeps nothing.
func relayMain(args []string) {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
	fmt.Printf("http://%s\n", l.Addr())
	s := &http.Server{Handler: &relay{provider: args[0]}, ReadHeaderTimeout: time.Minute}
	_ = s.Serve(l)
}

type relay struct{ provider string }

// staggered is between two answers that begin.
const staggered = 7 * time.Millisecond

func (s *relay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	sessions, _ := strconv.Atoi(q.Get("sessions"))
	deltas, _ := strconv.Atoi(q.Get("deltas"))
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	var mu sync.Mutex // guards the writer
	var group sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: sessions}}
	for range sessions {
		time.Sleep(staggered) // prompts come one after the other too, and so do their words
		group.Go(func() {
			_ = s.one(r.Context(), client, deltas, func(text string) {
				data, _ := json.Marshal(deltaEvent{Payload: payload{ID: "evt_0123456789abABCDEFGHIJKLMN", Type: "message.part.delta", Properties: properties{
					Session: "ses_0123456789abABCDEFGHIJKLMN", Message: "msg_0123456789abABCDEFGHIJKLMN", Part: "prt_0123456789abABCDEFGHIJKLMN", Field: "text", Delta: text,
				}}})
				mu.Lock()
				defer mu.Unlock()
				_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
				_ = control.Flush()
			})
		})
	}
	group.Wait()
}

// one relays one answer.
func (s *relay) one(ctx context.Context, client *http.Client, deltas int, report func(string)) error {
	body := fmt.Sprintf(`{"stream":true,"messages":[{"role":"user","content":"%s%d"}]}`, streamWord, deltas)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.provider+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: {"))
		if !ok {
			continue
		}
		var ev struct {
			Choices []struct {
				Delta struct {
					Content string `json:"content"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := json.Unmarshal(append([]byte("{"), data...), &ev); err != nil {
			return err
		}
		if len(ev.Choices) > 0 && ev.Choices[0].Delta.Content != "" {
			report(ev.Choices[0].Delta.Content)
		}
	}
	return lines.Err()
}

// relayed measures the floor.
func (b *bench) relayed(ctx context.Context) (latencies, error) {
	self, err := os.Executable()
	if err != nil {
		return latencies{}, err
	}
	cmd := exec.CommandContext(ctx, self, relayName, b.provider.url())
	out, err := cmd.StdoutPipe()
	if err != nil {
		return latencies{}, err
	}
	if err := cmd.Start(); err != nil {
		return latencies{}, err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return latencies{}, err
	}
	url := fmt.Sprintf("%s/?sessions=%d&deltas=%d", strings.TrimSpace(line), b.sessions, b.deltas)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return latencies{}, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return latencies{}, err
	}
	defer res.Body.Close()
	l := latencies{pid: cmd.Process.Pid}
	if err := l.read(res.Body, b.sessions*b.deltas); err != nil && err != io.EOF {
		return l, err
	}
	return l, nil
}
