//go:build unix

package engine_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
)

// order is what the provider is asked for, as the path it is asked at says it:
// /kind/deltas/bytes/microseconds/…
type order struct {
	kind   string // text, args or stamps
	deltas int
	bytes  int           // of each
	every  time.Duration // 0 is as fast as it can, negative also in as few writes
}

func (o order) path() string {
	return fmt.Sprintf("/%s/%d/%d/%d", o.kind, o.deltas, o.bytes, o.every.Microseconds())
}

func readOrder(path string) (o order) {
	fields := strings.Split(strings.TrimPrefix(path, "/"), "/")
	o.kind = fields[0]
	numbers := make([]int, 3)
	for i := range numbers {
		numbers[i], _ = strconv.Atoi(fields[i+1]) // only our own paths come here
	}
	o.deltas, o.bytes, o.every = numbers[0], numbers[1], time.Duration(numbers[2])*time.Microsecond
	return o
}

const (
	messageStart = "event: message_start\ndata: " + `{"type":"message_start","message":{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}` + "\n\n"
	textStart    = "event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n"
	inputStart   = "event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"keep","input":{}}}` + "\n\n"
	deltaStart   = "event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":`
	blockStop    = "event: content_block_stop\ndata: " + `{"type":"content_block_stop","index":0}` + "\n\n"
	messageEnd   = "event: message_delta\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"%s","stop_sequence":null},"usage":{"output_tokens":9}}` +
		"\n\nevent: message_stop\ndata: " + `{"type":"message_stop"}` + "\n\n"
)

// provide answers in the Messages protocol with what was ordered.
func provide(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // the answer fails too, if this does
	o := readOrder(r.URL.Path)
	if o.kind == "args" && bytes.Contains(body, []byte(`"tool_result"`)) {
		o = order{kind: "text", deltas: 1, bytes: 4, every: -1} // the step after the call
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control, out := http.NewResponseController(w), bufio.NewWriterSize(w, 32<<10)
	flush := func() {
		if o.every >= 0 {
			_ = out.Flush() // a client that went away needs no more
			_ = control.Flush()
		}
	}
	start, end := textStart, "end_turn"
	if o.kind == "args" {
		start, end = inputStart, "tool_use"
	}
	fmt.Fprint(out, messageStart, start)
	flush()
	o.speak(out, flush)
	fmt.Fprint(out, blockStop)
	fmt.Fprintf(out, messageEnd, end)
	_ = out.Flush()
}

// speak writes the deltas. Those of a paced answer come when they are due, whenever the
// one before came.
func (o order) speak(out *bufio.Writer, flush func()) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	begin := time.Now()
	for i := range o.deltas {
		if o.every > 0 {
			timer.Reset(time.Until(begin.Add(time.Duration(i) * o.every)))
			<-timer.C
		}
		out.WriteString(deltaStart)
		switch o.kind {
		case "args":
			fmt.Fprintf(out, `"input_json_delta","partial_json":%q}}`, o.piece(i))
		default:
			fmt.Fprintf(out, `"text_delta","text":%q}}`, o.piece(i))
		}
		out.WriteString("\n\n")
		flush()
	}
}

// piece is the i-th delta. Arguments are one JSON object together; a stamp says when it
// was sent.
func (o order) piece(i int) string {
	switch {
	case o.kind == "stamps":
		return strconv.FormatInt(time.Now().UnixNano(), 10) + " "
	case o.kind == "text":
		return strings.Repeat("word ", o.bytes/5+1)[:o.bytes]
	case i == 0:
		return `{"content":"` + strings.Repeat("a", o.bytes-12)
	case i == o.deltas-1:
		return strings.Repeat("z", o.bytes-2) + `"}`
	default:
		return strings.Repeat("word ", o.bytes/5+1)[:o.bytes]
	}
}

// TestBench_Provider is the provider's process when it is called so; otherwise it holds that
// the relay and the engine receive the same from it.
func TestBench_Provider(t *testing.T) {
	if flag.Arg(0) == "provide" {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = http.Serve(l, http.HandlerFunc(provide)) }()
		_, _ = fmt.Fprintln(os.Stdout, "provider: http://"+l.Addr().String())
		_, _ = io.ReadAll(os.Stdin) // until a client that wants it is gone
		return
	}
	url := startProvider(t)
	o := order{kind: "text", deltas: 50, bytes: 16}
	want := strings.Repeat(o.piece(0), 50)
	b := newBench(t, url, &http.Client{})
	m := b.say(b.session(), anthropicAt(o.path()))
	got := ""
	for _, p := range m.Parts {
		if text, ok := p.Body.(*lathe.Text); ok {
			got += text.Text
		}
	}
	var relayed string
	r := relay{client: &http.Client{}, received: func(delta string) { relayed += delta }}
	b.ok(r.run(t.Context(), url+o.path()+"/messages"))
	if got != strings.TrimRight(want, " ") || relayed != want {
		t.Errorf("the engine heard %q, the relay %q, want %q", got, relayed, want)
	}
}

// startProvider runs the provider in its own process until the end of the test.
func startProvider(tb testing.TB) (url string) {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), exe, "-test.run=^TestBench_Provider$", "provide")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // its PASS is not read
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if url, ok := strings.CutPrefix(lines.Text(), "provider: "); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return url
		}
	}
	tb.Fatal("the provider did not start")
	return ""
}
