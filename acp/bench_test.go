package acp

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/jsonrpc"
)

type sink struct{}

func (sink) Write(b []byte) (int, error) { return len(b), nil }
func (sink) Close() error                { return nil }

const benchDelta = "a few words of an answer, "

// BenchmarkDelta forwards a delta of a text; BenchmarkRelay is the floor: the event as JSON through the same connection.
func BenchmarkDelta(b *testing.B) {
	r, _ := io.Pipe()
	s := &server{Options: Options{Log: slog.New(slog.DiscardHandler)}, ctx: b.Context(), conn: jsonrpc.Open(r, sink{}, jsonrpc.Config{})}
	defer s.conn.Close()
	v := newView(&loop{server: s, ctx: b.Context()}, &session{}, "ses_1", "/")
	v.messages["msg_1"] = &message{}
	v.parts["prt_1"] = &sent{chunk: agentChunk, message: "msg_1"}
	b.ReportAllocs()
	for b.Loop() {
		v.delta(&lathe.PartDelta{Session: "ses_1", Message: "msg_1", Part: "prt_1", Field: "text", Delta: benchDelta, Offset: -1})
	}
}

func BenchmarkRelay(b *testing.B) {
	r, _ := io.Pipe()
	conn := jsonrpc.Open(r, sink{}, jsonrpc.Config{})
	defer conn.Close()
	ev := lathe.Event{ID: "evt_1", Session: "ses_1", Fact: &lathe.PartDelta{Session: "ses_1", Message: "msg_1", Part: "prt_1", Field: "text", Delta: benchDelta, Offset: -1}}
	b.ReportAllocs()
	for b.Loop() {
		if err := conn.Notify(context.Background(), "event", ev.AppendJSON(nil)); err != nil {
			b.Fatal(err)
		}
	}
}
