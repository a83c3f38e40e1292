package mcp

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestReadLine holds no more than it may.
func TestReadLine(t *testing.T) {
	in := bufio.NewReaderSize(io.MultiReader(strings.NewReader("short\n"), &endless{}), 16)
	if line, err := readLine(in, 100); string(line) != "short" || err != nil {
		t.Errorf("%q %v", line, err)
	}
	if _, err := readLine(in, 100); err != errLarge {
		t.Error(err)
	}
	in = bufio.NewReaderSize(strings.NewReader("a line that is longer than the buffer\nthe end"), 16)
	for _, want := range []string{"a line that is longer than the buffer", "the end"} {
		if line, err := readLine(in, 100); string(line) != want || err != nil {
			t.Errorf("%q %v", line, err)
		}
	}
	if _, err := readLine(in, 100); err != io.EOF {
		t.Error(err)
	}
}

type endless struct{}

func (*endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n": "plain\ttext\n", "\x1b[1;31mred\x1b[0m": "red", "a\x1b]0;title\x07b": "ab", "a\x1b]8;;x\x1b\\b": "ab", "a\x1b]open\nb": "a\nb",
		"a\x00\x07\rb": "ab", "bad\xffbyte": "badbyte", "\u202eturned": "turned", "hid\U000e0041den": "hidden", "a\x1b": "a", "a\x1b[": "a", "\x1bcx": "x",
		"\u009b31mx": "31mx", "kept � sign": "kept � sign",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestToolName(t *testing.T) {
	for _, c := range [][3]string{
		{"my server", "get.it", "my_server_get_it"}, {"a", "😀", "a___"}, {"ä", "é", "___"}, {"a-b_C", "9", "a-b_C_9"},
	} {
		if got := toolName([]string{sanitize(c[0])}, sanitize(c[0]), c[1]); got != c[2] {
			t.Errorf("%v: got %s", c, got)
		}
	}
	both := []string{"a", "a_b", "a_b_c"}
	for _, c := range [][3]string{
		{"a", "b_c", "a_b-c"}, {"a_b", "c", "a_b_c"}, {"a", "b_c_d", "a_b-c_d"}, {"a_b", "c_d", "a_b_c-d"}, {"a_b_c", "d", "a_b_c_d"}, {"a", "bc", "a_bc"},
	} {
		if got := toolName(both, c[0], c[1]); got != c[2] {
			t.Errorf("%v beside others: got %s", c, got)
		}
	}
	long := strings.Repeat("x", 70)
	a, b := toolName(nil, "s", long+"a"), toolName(nil, "s", long+"b")
	if len(a) != mostName || len(b) != mostName || a == b {
		t.Errorf("%s and %s", a, b)
	}
}

func TestProgram(t *testing.T) {
	env := []string{"PATH=relative:/usr/bin:/bin"}
	if got, err := program("sh", "/", env); err != nil || !strings.HasSuffix(got, "/bin/sh") {
		t.Error(got, err)
	}
	if got, err := program("./sh", "/bin", nil); err != nil || got != "/bin/sh" {
		t.Error(got, err)
	}
	for _, name := range []string{"no-such-program", "/no/such/program", "./none"} {
		if got, err := program(name, "/", env); err == nil {
			t.Errorf("%s is %s", name, got)
		}
	}
	if _, err := program("sh", "/bin", nil); err == nil {
		t.Error("a program was found without PATH")
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		name := filepath.Join(dir, strconv.Itoa(i)+cacheEnding)
		at := time.Unix(int64(1000+i), 0)
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "not ours"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	prune(dir, 3)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 4 || filepath.Base(left[0]) != "7.json" || filepath.Base(left[3]) != "not ours" {
		t.Error(left, err)
	}
}

// A client that waits for a server and then asks for its tools must not be given a list of
// before: with the change of a state the list has to be made again, not a moment later.
func TestPeer_HubKnowsOfEveryChange(t *testing.T) {
	h := &Hub{}
	p := newServerEntry(h, Server{Name: "s"})
	p.over = make(chan struct{})
	before := h.grown.Load()
	if !p.set(p.over, func(s *state) { s.at = Connected }) || h.grown.Load() == before {
		t.Error("it is connected, and the hub does not know")
	}
}
