// Package acptest is a client of the Agent Client Protocol for tests. It checks every message in both directions against
// the schema, and fails the test if one does not match.
//
// Start at Connect.
package acptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// Patience is how long a test waits for anything.
const Patience = time.Minute

// Client is an editor. Its methods may be called by many goroutines.
type Client struct {
	t        testing.TB
	w        io.Writer
	unstable bool
	done     chan struct{} // closed at the end of the agent's output

	mu      sync.Mutex // guards the fields below and the writer
	last    int
	waiting map[string]chan Message
	methods map[string]string // of our requests, by ID
	answers map[string]func(params json.RawMessage) (any, error)
	updates []Update
	changed chan struct{} // closed and replaced with each update
	raw     []Message
}

// Message is any message.
type Message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Error is the error of an answer.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// Update is a session update.
type Update struct {
	Session string
	Kind    string
	Data    json.RawMessage
}

// Text is the text of a chunk.
func (u Update) Text() string {
	var c struct {
		Content struct{ Text string }
	}
	_ = json.Unmarshal(u.Data, &c) // other updates have no text
	return c.Content.Text
}

// Connect talks to an agent over its input and output. A client of unstable features is checked with that schema.
func Connect(t testing.TB, in io.Writer, out io.Reader, unstable bool) *Client {
	t.Helper()
	c := &Client{
		t: t, w: in, unstable: unstable, done: make(chan struct{}), waiting: map[string]chan Message{}, methods: map[string]string{},
		answers: map[string]func(json.RawMessage) (any, error){}, changed: make(chan struct{}),
	}
	go c.read(out)
	return c
}

// Answer sets how a method of the client is answered. A nil result sends no answer at all.
func (c *Client) Answer(method string, f func(params json.RawMessage) (any, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[method] = f
}

// Done is closed at the end of the agent's output.
func (c *Client) Done() <-chan struct{} { return c.done }

func (c *Client) schema() *Schema {
	s, err := Stable()
	if c.unstable {
		s, err = Unstable()
	}
	if err != nil {
		c.t.Error(err)
	}
	return s
}

func (c *Client) read(out io.Reader) {
	defer close(c.done)
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			if line != "" {
				c.t.Errorf("the output ends within a line: %.200q", line)
			}
			return
		}
		var m Message
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			c.t.Errorf("not a message: %v: %.200q", err, line)
			continue
		}
		c.take(m)
	}
}

func (c *Client) take(m Message) {
	c.mu.Lock()
	c.raw = append(c.raw, m)
	c.mu.Unlock()
	switch {
	case m.Method == "":
		c.takeAnswer(m)
	case m.Method == "$/cancel_request":
		c.check(c.schema().Params("protocol", m.Method, m.Params))
	case m.ID == nil:
		c.check(c.schema().Params("client", m.Method, m.Params))
		c.takeUpdate(m)
	default:
		c.check(c.schema().Params("client", m.Method, m.Params))
		go c.answer(m)
	}
}

func (c *Client) check(err error) {
	if err != nil {
		c.t.Errorf("the message does not match the schema: %v", err)
	}
}

func (c *Client) takeAnswer(m Message) {
	c.mu.Lock()
	got, method := c.waiting[string(m.ID)], c.methods[string(m.ID)]
	delete(c.waiting, string(m.ID))
	c.mu.Unlock()
	if m.Error == nil && method != "" {
		c.check(c.schema().Result("agent", method, m.Result))
	}
	if got != nil {
		got <- m
	}
}

func (c *Client) takeUpdate(m Message) {
	var p struct {
		Session string          `json:"sessionId"`
		Update  json.RawMessage `json:"update"`
	}
	var kind struct {
		Kind string `json:"sessionUpdate"`
	}
	if json.Unmarshal(m.Params, &p) != nil || json.Unmarshal(p.Update, &kind) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = append(c.updates, Update{p.Session, kind.Kind, p.Update})
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *Client) answer(m Message) {
	c.mu.Lock()
	f := c.answers[m.Method]
	c.mu.Unlock()
	reply := Message{Version: "2.0", ID: m.ID}
	if f == nil {
		reply.Error = &Error{-32601, "not implemented"}
		c.Send(reply)
		return
	}
	result, err := f(m.Params)
	switch {
	case err != nil:
		reply.Error = &Error{-32603, err.Error()}
	case result == nil:
		return
	default:
		reply.Result, _ = json.Marshal(result)
		c.check(c.schema().Result("client", m.Method, reply.Result))
	}
	c.Send(reply)
}

// Send writes a message.
func (c *Client) Send(m any) {
	data, err := json.Marshal(m)
	if err != nil {
		c.t.Error(err)
	}
	c.SendRaw(string(data) + "\n")
}

// SendRaw writes bytes. An agent that has ended is no error.
func (c *Client) SendRaw(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.WriteString(c.w, text)
}

// Start sends a request and returns the channel of its answer.
func (c *Client) Start(method string, params any) <-chan Message {
	c.t.Helper()
	data, err := json.Marshal(params)
	if err != nil {
		c.t.Fatal(err)
	}
	c.check(c.schema().Params("agent", method, data))
	c.mu.Lock()
	c.last++
	id := fmt.Sprint(c.last)
	got := make(chan Message, 1)
	c.waiting[id], c.methods[id] = got, method
	c.mu.Unlock()
	c.Send(Message{Version: "2.0", ID: json.RawMessage(id), Method: method, Params: data})
	return got
}

// Last is the id of the last request.
func (c *Client) Last() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Wait waits for an answer and decodes its result.
func (c *Client) Wait(got <-chan Message, to any) error {
	c.t.Helper()
	select {
	case m := <-got:
		if m.Error != nil {
			return m.Error
		}
		if to != nil {
			return json.Unmarshal(m.Result, to)
		}
		return nil
	case <-c.done:
		return io.ErrUnexpectedEOF
	case <-time.After(Patience):
		c.t.Fatalf("no answer; updates so far:\n%s", c.Script())
		return nil
	}
}

// Call sends a request that may fail.
func (c *Client) Call(method string, params, to any) error {
	c.t.Helper()
	return c.Wait(c.Start(method, params), to)
}

// Must sends a request that must succeed.
func (c *Client) Must(method string, params, to any) {
	c.t.Helper()
	if err := c.Call(method, params, to); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

// Notify sends a notification.
func (c *Client) Notify(method string, params any) {
	data, err := json.Marshal(params)
	if err != nil {
		c.t.Fatal(err)
	}
	c.Send(Message{Version: "2.0", Method: method, Params: data})
}

// Updates returns the updates so far, of some kinds if kinds are given.
func (c *Client) Updates(kinds ...string) (out []Update) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range c.updates {
		if len(kinds) == 0 || strings.Contains(" "+strings.Join(kinds, " ")+" ", " "+u.Kind+" ") {
			out = append(out, u)
		}
	}
	return out
}

// Forget drops the updates so far.
func (c *Client) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = nil
}

// Until waits until an update fits.
func (c *Client) Until(what string, fits func(Update) bool) Update {
	c.t.Helper()
	deadline := time.After(Patience)
	for seen := 0; ; {
		c.mu.Lock()
		all, changed := c.updates, c.changed
		c.mu.Unlock()
		for ; seen < len(all); seen++ {
			if fits(all[seen]) {
				return all[seen]
			}
		}
		select {
		case <-changed:
		case <-c.done:
			c.t.Fatalf("the agent ended before %s:\n%s", what, c.Script())
		case <-deadline:
			c.t.Fatalf("no %s:\n%s", what, c.Script())
		}
	}
}

// UntilMessage waits until a message of the agent fits.
func (c *Client) UntilMessage(what string, fits func(Message) bool) Message {
	c.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(Patience)
	for seen := 0; ; {
		all := c.Messages()
		for ; seen < len(all); seen++ {
			if fits(all[seen]) {
				return all[seen]
			}
		}
		select {
		case <-tick.C:
		case <-deadline:
			c.t.Fatalf("no %s:\n%s", what, c.Script())
		}
	}
}

// Texts joins the chunks of a kind.
func (c *Client) Texts(kind string) string {
	var out strings.Builder
	for _, u := range c.Updates(kind) {
		out.WriteString(u.Text())
	}
	return out.String()
}

// Messages returns all messages of the agent.
func (c *Client) Messages() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Message{}, c.raw...)
}

// Script lists the updates, for the message of a failed test.
func (c *Client) Script() string {
	var out strings.Builder
	for _, u := range c.Updates() {
		fmt.Fprintf(&out, "%s %.300s\n", u.Kind, u.Data)
	}
	return out.String()
}
