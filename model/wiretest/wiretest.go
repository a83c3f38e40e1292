// Package wiretest is the test suite for every protocol.
//
// Its decoders read recorded answers of real providers, whole, cut, and in other shapes that
// mean the same ([Run]); its encoders write one rich history ([Request], [Golden]); and both
// are measured with the same inputs ([BenchStream], [BenchRequest]).
//
// The recordings lie beside the project, with the expected result of each; without them, the
// tests that need them skip with a message. Start reading at [Run].
package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// Decode reads a whole stream with a new decoder, which makes up the same ids each time.
type Decode func(body io.Reader) ([]model.Event, error)

// Recording is an answer and what must be extracted from it.
type Recording struct {
	ID, Proto, File string
	Expect          Expectation
	Data            []byte
}

// Recordings returns those of a protocol.
func Recordings(t testing.TB, proto string) (out []*Recording) {
	t.Helper()
	root := find(t)
	index, err := os.ReadFile(filepath.Join(root, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Streams []*Recording }
	if err := json.Unmarshal(index, &all); err != nil {
		t.Fatal(err)
	}
	for _, r := range all.Streams {
		if r.Proto != proto {
			continue
		}
		if r.Data, err = os.ReadFile(filepath.Join(root, r.File)); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		t.Fatalf("the index names no recording of %s", proto)
	}
	return out
}

func find(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		root := filepath.Join(dir, "shared", "fixtures", "streams")
		if _, err := os.Stat(root); err == nil {
			return root
		}
		if dir == filepath.Dir(dir) {
			t.Skip("the recorded answers (shared/fixtures/streams) are not beside the project")
		}
		dir = filepath.Dir(dir)
	}
}

// Refusal returns status and body of a recording that is no stream.
func (r *Recording) Refusal() (status int, body []byte, ok bool) {
	head, body, _ := bytes.Cut(r.Data, []byte("\n\n"))
	n, _ := fmt.Sscanf(string(head), "HTTP %d", &status)
	return status, body, n == 1
}

// answers cuts a recording that holds several: each was its own request.
func (r *Recording) answers() [][]byte {
	const head = "event: response.created"
	if bytes.Count(r.Data, []byte(head)) < 2 {
		return [][]byte{r.Data}
	}
	var out [][]byte
	for _, piece := range bytes.Split(r.Data, []byte(head))[1:] {
		out = append(out, append([]byte(head), piece...))
	}
	return out
}

// Run holds a decoder to the recordings of its protocol.
func Run(t *testing.T, proto string, decode Decode) {
	for _, r := range Recordings(t, proto) {
		if _, _, refused := r.Refusal(); refused {
			continue // for the client to read, not for a decoder
		}
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			var all []model.Event
			var failed error
			for _, body := range r.answers() {
				events, err := decode(bytes.NewReader(body))
				if wrong := CheckShape(events, err); wrong != nil {
					t.Error(wrong)
				}
				frames(t, body, decode)
				Splits(t, body, 0, decode)
				all, failed = append(all, events...), err
			}
			r.Expect.check(t, all, failed)
			short := thin(r.answers()[0])
			Splits(t, short, 3, decode)
			Cuts(t, short, decode)
		})
	}
}

// frames are other ways to send the same events.
func frames(t *testing.T, body []byte, decode Decode) {
	t.Helper()
	replace := func(old, with string) io.Reader {
		return bytes.NewReader(bytes.ReplaceAll(body, []byte(old), []byte(with)))
	}
	want := Show(decode(bytes.NewReader(body)))
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	for name, r := range map[string]io.Reader{
		"CRLF":               replace("\n", "\r\n"),
		"comments":           replace("\n\n", "\n: ping\n\n: another\n\n"),
		"no last blank line": bytes.NewReader(bytes.TrimRight(body, "\r\n")),
		"unknown events":     replace("\n\n", "\n\nevent: new.kind\ndata: {\"object\":\"new\",\"type\":\"new.kind\",\"delta\":7}\n\n"),
	} {
		if got := Show(decode(r)); got != want {
			t.Errorf("%s: %s", name, differ(got, want))
		}
	}
}

// Splits reads a stream in single bytes, which is a cut at every one, and in two large pieces,
// cut at every so many bytes; 0 is at none.
func Splits(t *testing.T, body []byte, every int, decode Decode) {
	t.Helper()
	want := Show(decode(bytes.NewReader(body)))
	if got := Show(decode(iotest.OneByteReader(bytes.NewReader(body)))); got != want {
		t.Errorf("in single bytes: %s", differ(got, want))
	}
	if got := Show(decode(iotest.DataErrReader(bytes.NewReader(body)))); got != want {
		t.Errorf("with the end in the last read: %s", differ(got, want))
	}
	for i := 0; every > 0 && i < len(body); i += every {
		r := io.MultiReader(bytes.NewReader(body[:i]), bytes.NewReader(body[i:]))
		if got := Show(decode(r)); got != want {
			t.Fatalf("split at %d: %s", i, differ(got, want))
		}
	}
}

// Cuts ends a stream at each of its bytes, and at some with a broken connection: an error that
// may be tried again, or an end with everything the whole has. It never panics or hangs.
func Cuts(t *testing.T, body []byte, decode Decode) {
	t.Helper()
	whole, failed := decode(bytes.NewReader(body))
	broken := iotest.ErrReader(errors.New("connection reset by peer"))
	for i := range body {
		ways := []io.Reader{bytes.NewReader(body[:i])}
		if i%7 == 0 {
			ways = append(ways, io.MultiReader(bytes.NewReader(body[:i]), broken))
		}
		for _, r := range ways {
			events, err := decode(r)
			if wrong := CheckShape(events, err); wrong != nil && !errors.Is(wrong, ErrInput) {
				t.Fatalf("cut at %d: %v", i, wrong)
			}
			if err == nil && reason(events) != reason(whole) {
				t.Fatalf("cut at %d: it ends with %q, the whole with %q", i, reason(events), reason(whole))
			}
			var known *lathe.Error
			if err != nil && failed == nil && (!errors.As(err, &known) || known.Code != lathe.Unavailable || !known.Fault.(*lathe.APIFault).Retryable) {
				t.Fatalf("cut at %d: %v", i, err)
			}
		}
	}
}

// Large reads a stream with one text of 20 MB; around puts it, as JSON without its quotes, into
// the events that bring it.
func Large(t *testing.T, around func(words string) []byte, decode Decode) {
	t.Helper()
	words := strings.Repeat("some words, ", 20<<20/12)
	events, err := decode(bytes.NewReader(around(words)))
	if err != nil {
		t.Fatal(err)
	}
	if got := listen(events).text.String(); got != words {
		t.Errorf("%d bytes, want %d", len(got), len(words))
	}
}

func reason(events []model.Event) string {
	for _, e := range events {
		if f, ok := e.(model.Finish); ok {
			return f.Reason
		}
	}
	return ""
}

// thin leaves out most of the events in the middle of a long stream, so that a test can look at
// each of its bytes.
func thin(body []byte) []byte {
	if len(body) < 3<<10 {
		return body
	}
	events := strings.SplitAfter(string(body), "\n\n")
	var out strings.Builder
	for i, e := range events {
		if (out.Len() < 1<<10 || i >= len(events)-4) && len(e) < 2<<10 {
			out.WriteString(e)
		}
	}
	return []byte(out.String())
}
