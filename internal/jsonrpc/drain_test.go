package jsonrpc_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/jsonrpc"
)

// A client that writes its requests and closes its end still gets the answers, in whole lines, and what a handler
// sends after its answer.
func TestConn_Drain(t *testing.T) {
	var conn *jsonrpc.Conn
	opened := make(chan struct{})
	conf := jsonrpc.Config{Drain: time.Minute, AnswerInvalid: true, Handle: func(ctx context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
		<-opened
		jsonrpc.AfterReply(ctx, func() { _ = conn.Notify(context.Background(), "after", nil) })
		return json.RawMessage(`"` + method + `"`), nil
	}}
	sent, w := io.Pipe()
	conn = jsonrpc.Open(io.NopCloser(strings.NewReader("garbage\n"+`{"id":"x","method":"a"}`)), w, conf)
	close(opened)
	got, err := io.ReadAll(sent)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"invalid message: expected a JSON object"}}` + "\n" +
		`{"jsonrpc":"2.0","id":"x","result":"a"}` + "\n" + `{"jsonrpc":"2.0","method":"after"}` + "\n"
	if string(got) != want {
		t.Errorf("got:\n%s", got)
	}
	<-conn.Done()
}

// A protocol may have its own notification for cancellation, in both directions.
func TestConn_CancelMethod(t *testing.T) {
	canceled := make(chan struct{})
	conn, in, out := wire(t, jsonrpc.Config{CancelMethod: "$/cancel_request", CancelMember: "requestId", Handle: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done()
		close(canceled)
		return nil, ctx.Err()
	}})
	_, _ = io.WriteString(in, `{"id":5,"method":"m"}`+"\n"+`{"method":"$/cancel_request","params":{"requestId":5}}`+"\n")
	<-canceled
	if line, _ := out.ReadString('\n'); !strings.Contains(line, `"code":-32800`) {
		t.Error(line)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		_, _ = out.ReadString('\n')
		stop()
	}()
	if _, err := conn.Call(ctx, "x", nil); err == nil {
		t.Error("the call was not canceled")
	}
	if line, _ := out.ReadString('\n'); !strings.Contains(line, `"method":"$/cancel_request","params":{"requestId":1}`) {
		t.Error(line)
	}
}
