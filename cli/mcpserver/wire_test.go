package mcpserver

import (
	"bytes"
	"io"
	"log/slog"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Whatever comes in, what the sieve lets through are messages, one on each line, and each other line
// that is not empty is answered once.
func FuzzMCPSieve(f *testing.F) {
	for _, seed := range []string{
		"", "\n\n", "hello\n", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n", `{"jsonrpc":"2.0","method":"x","params":{}}`, "[]\n{}\n7\nnull\n\"a\"",
		`{"jsonrpc":"2.0","id":1,"result":{}}` + "\r\n" + `{"jsonrpc":"2.0","id":1,` + "\n", "\xff\x00\n", `{"jsonrpc":"2.0","id":{},"method":"x"}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var answers bytes.Buffer
		ended := 0
		s := newSieve(bytes.NewReader(in), &answers, slog.New(slog.DiscardHandler), func() { ended++ })
		passed, err := io.ReadAll(s)
		if err != nil || ended != 1 {
			t.Fatalf("it ended %d times, with %v", ended, err)
		}
		count := bytes.Count(answers.Bytes(), []byte("\n"))
		for line := range bytes.Lines(passed) {
			count++
			if _, err := jsonrpc.DecodeMessage(bytes.TrimSpace(line)); err != nil {
				t.Errorf("%q was let through: %v", line, err)
			}
		}
		want := 0
		for line := range bytes.Lines(in) {
			if len(bytes.TrimSpace(line)) > 0 {
				want++
			}
		}
		if count != want {
			t.Errorf("%d of %d lines were passed on or answered", count, want)
		}
	})
}
