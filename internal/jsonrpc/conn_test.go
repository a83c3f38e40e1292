package jsonrpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lathe-agent/lathe/internal/jsonrpc"
)

// pair connects two ends, each with its configuration.
func pair(t testing.TB, a, b jsonrpc.Config) (*jsonrpc.Conn, *jsonrpc.Conn) {
	t.Helper()
	fromB, toA := io.Pipe()
	fromA, toB := io.Pipe()
	x, y := jsonrpc.Open(fromB, toB, a), jsonrpc.Open(fromA, toA, b)
	t.Cleanup(func() {
		if err := errors.Join(x.Close(), y.Close()); err != nil {
			t.Error(err)
		}
	})
	return x, y
}

// wire connects one end, and returns what the test writes to it and reads from it.
func wire(t testing.TB, c jsonrpc.Config) (conn *jsonrpc.Conn, in io.WriteCloser, out *bufio.Reader) {
	t.Helper()
	r, in := io.Pipe()
	sent, w := io.Pipe()
	conn = jsonrpc.Open(r, w, c)
	t.Cleanup(func() { _ = conn.Close() })
	return conn, in, bufio.NewReader(sent)
}

func echo(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	switch method {
	case "echo":
		return params, nil
	case "fail":
		return nil, &jsonrpc.Error{Code: 7, Message: "no", Data: json.RawMessage(`{"why":1}`)}
	default:
		return nil, errors.New("what is " + method)
	}
}

func TestConn_BothWays(t *testing.T) {
	for _, framing := range []jsonrpc.Framing{jsonrpc.Lines, jsonrpc.Headers} {
		c := jsonrpc.Config{Framing: framing, Handle: echo, Concurrent: 400}
		a, b := pair(t, c, c)
		var all sync.WaitGroup
		for i := range 200 {
			for _, conn := range []*jsonrpc.Conn{a, b} {
				all.Go(func() {
					want := fmt.Sprintf(`{"n":%d,"text":"line\nbreak"}`, i)
					got, err := conn.Call(t.Context(), "echo", json.RawMessage("{\n\"n\":"+fmt.Sprint(i)+",\r\n\"text\":\"line\\nbreak\"}"))
					var compact bytes.Buffer
					if err != nil || json.Compact(&compact, got) != nil || compact.String() != want {
						t.Errorf("%s, %v", got, err)
					}
				})
			}
		}
		all.Wait()
		_, err := a.Call(t.Context(), "fail", nil)
		var e *jsonrpc.Error
		if !errors.As(err, &e) || e.Code != 7 || e.Message != "no" || string(e.Data) != `{"why":1}` {
			t.Errorf("%#v", err)
		}
		if _, err := a.Call(t.Context(), "nothing", nil); !errors.As(err, &e) || e.Code != jsonrpc.CodeInternal || e.Message != "what is nothing" {
			t.Errorf("%#v", err)
		}
	}
}

func TestConn_NoHandler(t *testing.T) {
	a, _ := pair(t, jsonrpc.Config{}, jsonrpc.Config{})
	var e *jsonrpc.Error
	if _, err := a.Call(t.Context(), "x", nil); !errors.As(err, &e) || e.Code != jsonrpc.CodeMethodNotFound {
		t.Errorf("%v", err)
	}
}

// A call that is given up returns at once, and the other side is notified.
func TestConn_Cancel(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error)
	a, b := pair(t, jsonrpc.Config{}, jsonrpc.Config{Handle: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}})
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error)
	go func() {
		_, err := a.Call(ctx, "wait", nil)
		failed <- err
	}()
	<-began
	cancel(why)
	if err := <-failed; !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n := b.Skipped() + a.Skipped(); n != 0 {
		t.Errorf("%d messages were passed over", n)
	}
}

// A handler of the test that answers by hand: the answer says that it was canceled.
func TestConn_CancelAnswer(t *testing.T) {
	_, in, out := wire(t, jsonrpc.Config{Handle: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	_, _ = io.WriteString(in, `{"id":"a","method":"wait"}`+"\n"+`{"id":"a","method":"again"}`+"\n")
	if line, err := out.ReadString('\n'); err != nil || !strings.Contains(line, "a request with this id is being answered") {
		t.Errorf("%s, %v", line, err)
	}
	_, _ = io.WriteString(in, `{"method":"$/cancelRequest","params":{"id":"a"}}`+"\n")
	if line, err := out.ReadString('\n'); err != nil || line != `{"jsonrpc":"2.0","id":"a","error":{"code":-32800,"message":"the request was canceled"}}`+"\n" {
		t.Errorf("%s, %v", line, err)
	}
}

// The other side ends: all calls fail, those that come later too.
func TestConn_PeerEnds(t *testing.T) {
	conn, in, out := wire(t, jsonrpc.Config{})
	failed := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := conn.Call(context.Background(), "x", nil)
			failed <- err
		}()
	}
	for range 3 {
		if _, err := out.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	_ = in.Close()
	for range 3 {
		if err := <-failed; !jsonrpc.IsClosed(err) {
			t.Errorf("%v", err)
		}
	}
	<-conn.Done()
	if _, err := conn.Call(t.Context(), "x", nil); !errors.Is(err, jsonrpc.ErrClosed) || !errors.Is(conn.Err(), jsonrpc.ErrClosed) {
		t.Errorf("%v, %v", err, conn.Err())
	}
	if err := conn.TryNotify("x", nil); !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// What is no message is passed over and counted; too much of it in a row ends the conversation.
func TestConn_Nonsense(t *testing.T) {
	var reasons []string
	conn, in, out := wire(t, jsonrpc.Config{MaxSkipped: 8, Skipped: func(err error) { reasons = append(reasons, err.Error()) }})
	answers := make(chan string, 1)
	go func() {
		got, err := conn.Call(context.Background(), "x", nil)
		answers <- fmt.Sprint(string(got), err)
	}()
	if _, err := out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	junk := []string{"hello", "{", "[]", "{}", `{"id":1}`, `{"id":99,"result":1}`, `{"id":{},"method":"x"}`}
	_, _ = io.WriteString(in, strings.Join(junk, "\n")+"\n\n  \n"+`{"id":1,"result":"yes"}`+"\n")
	if got := <-answers; got != `"yes"<nil>` {
		t.Error(got)
	}
	if conn.Skipped() != len(junk) || conn.Err() != nil {
		t.Errorf("%d passed over, %v: %q", conn.Skipped(), conn.Err(), reasons)
	}
	go func() { _, _ = io.WriteString(in, strings.Repeat("junk\n", 1000)) }()
	<-conn.Done()
	if !errors.Is(conn.Err(), jsonrpc.ErrInvalid) {
		t.Error(conn.Err())
	}
}

// A message that is too long is passed over without being held; the call it answers fails at once.
func TestConn_TooLong(t *testing.T) {
	for _, framing := range []jsonrpc.Framing{jsonrpc.Lines, jsonrpc.Headers} {
		synctest.Test(t, func(t *testing.T) { // where a call that waits for its deadline would be seen
			conn, in, out := wire(t, jsonrpc.Config{Framing: framing, MaxMessage: 1000})
			send := func(text string) {
				if framing == jsonrpc.Headers {
					text = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text)
				} else {
					text += "\n"
				}
				_, _ = io.WriteString(in, text)
			}
			go func() {
				_, _ = out.ReadString('}')
				send(`{"id":1,"result":"` + strings.Repeat("x", 300_000) + `"}`)
				_, _ = out.ReadString('}')
				send(`{"id":2,"result":"short"}`)
			}()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if _, err := conn.Call(ctx, "x", nil); !errors.Is(err, jsonrpc.ErrTooLarge) {
				t.Errorf("%v", err)
			}
			if got, err := conn.Call(ctx, "x", nil); string(got) != `"short"` || err != nil {
				t.Errorf("%s, %v", got, err)
			}
			if _, err := conn.Call(ctx, "x", json.RawMessage(`"`+strings.Repeat("y", 1000)+`"`)); !errors.Is(err, jsonrpc.ErrTooLarge) {
				t.Errorf("%v", err)
			}
			_, _ = conn.Close(), in.Close()
		})
	}
}

// The other side does not read: nothing piles up, and no caller waits longer than he wants.
func TestConn_Full(t *testing.T) {
	conn, _, _ := wire(t, jsonrpc.Config{Queue: 4})
	var all error
	for range 10 {
		all = errors.Join(all, conn.TryNotify("x", nil))
	}
	if !errors.Is(all, jsonrpc.ErrFull) {
		t.Errorf("%v", all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := conn.Notify(ctx, "x", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := conn.Call(ctx, "x", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := conn.Close(); err != nil { // although a write is running
		t.Error(err)
	}
}

// More requests at once than are answered are refused, and those before are not disturbed.
func TestConn_Busy(t *testing.T) {
	hold := make(chan struct{})
	_, in, out := wire(t, jsonrpc.Config{Concurrent: 2, Handle: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		<-hold
		return json.RawMessage("true"), nil
	}})
	_, _ = io.WriteString(in, `{"id":1,"method":"x"}`+"\n"+`{"id":2,"method":"x"}`+"\n"+`{"id":3,"method":"x"}`+"\n")
	if line, _ := out.ReadString('\n'); !strings.Contains(line, `"id":3,"error":{"code":-32000`) {
		t.Error(line)
	}
	close(hold)
	for range 2 {
		if line, _ := out.ReadString('\n'); !strings.Contains(line, `"result":true`) {
			t.Error(line)
		}
	}
}

// Notifications come in order.
func TestConn_Notifications(t *testing.T) {
	received := make(chan string, 100)
	a, _ := pair(t, jsonrpc.Config{}, jsonrpc.Config{Notify: func(method string, params json.RawMessage) { received <- method + string(params) }})
	for i := range 100 {
		if err := a.Notify(t.Context(), "n", fmt.Appendf(nil, "%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		if got := <-received; got != fmt.Sprintf("n%d", i) {
			t.Fatal(got)
		}
	}
}

// Language servers print before they begin, and send headers we do not know.
func TestConn_Headers(t *testing.T) {
	received := make(chan string, 1)
	conn, in, _ := wire(t, jsonrpc.Config{Framing: jsonrpc.Headers, Notify: func(method string, _ json.RawMessage) { received <- method }})
	_, _ = io.WriteString(in, "starting up\n\ncontent-length:14\r\nContent-Type: x; charset=utf-8\r\n\r\n{\"method\":\"m\"}")
	if got := <-received; got != "m" {
		t.Error(got)
	}
	_, _ = io.WriteString(in, "Content-Length: many\r\n\r\n")
	<-conn.Done()
	if !errors.Is(conn.Err(), jsonrpc.ErrInvalid) {
		t.Error(conn.Err())
	}
}

// FuzzConn feeds bytes to a connection of either framing: it neither panics, hangs nor keeps a call waiting.
func FuzzConn(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"result":1}`, `{"id":1,"error":{"code":1,"message":"x"}}`, `{"id":"a","method":"echo","params":[1]}`,
		"Content-Length: 19\r\n\r\n{\"id\":1,\"result\":1}", "Content-Length: 9999999999999\r\n\r\n{", `{"method":"$/cancelRequest","params":{"id":1}}`,
		"junk\n\n\xff\xfe", `[{"id":1,"result":1}]`, `{"id":1,"result":"` + strings.Repeat("x", 5000) + `"}`,
	} {
		f.Add([]byte(seed+"\n"), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, headers bool) {
		conf := jsonrpc.Config{MaxMessage: 4096, Handle: echo, Notify: func(string, json.RawMessage) {}}
		if headers {
			conf.Framing = jsonrpc.Headers
		}
		conn := jsonrpc.Open(io.NopCloser(bytes.NewReader(data)), discard{}, conf)
		got, err := conn.Call(context.Background(), "x", nil)
		if err == nil && !json.Valid(got) {
			t.Errorf("an answer that is no JSON: %q", got)
		}
		<-conn.Done()
		if conn.Close() != nil || conn.Err() == nil {
			t.Error("it ended without a reason")
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

func BenchmarkCall(b *testing.B) {
	x, _ := pair(b, jsonrpc.Config{}, jsonrpc.Config{Handle: echo})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.Call(b.Context(), "echo", json.RawMessage(`{"a":1}`)); err != nil {
			b.Fatal(err)
		}
	}
}
