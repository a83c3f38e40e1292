package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/model/record"
)

// own is settings with one provider at that address.
func own(url string) string {
	return fmt.Sprintf(`LATHE_CONFIG_CONTENT={"provider":{"own":{"options":{"baseURL":%q,"apiKey":"sk-hidden-0123"},"models":{"m":{}}}}}`, url+"/v1")
}

// An interrupt in the middle of an answer: the connection is closed, what was said stands, and
// the recording has it.
func TestInterrupt_Ask(t *testing.T) {
	needUnix(t)
	for _, args := range [][]string{nil, {"--json"}, {"--record", "call.jsonl"}} {
		s := modeltest.Start(t, modeltest.MustParse("text \"Once \" \"upon\\n\"\nstall"))
		home := t.TempDir()
		cmd := command(t, home, append([]string{"debug", "ask", "-m", "own/m", "hello"}, args...)...)
		cmd.Env = append(cmd.Env, own(s.URL))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stdout)
		said := false
		for !said && lines.Scan() {
			said = strings.Contains(lines.Text(), "upon")
		}
		if !said {
			t.Fatalf("%v: nothing was said: %s", args, stderr.String())
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what is left must be read before Wait
			continue
		}
		if got := exitCode(cmd.Wait()); got != 130 {
			t.Errorf("%v: exit code %d: %s", args, got, stderr.String())
		}
		if !s.Last().ClientLeft() {
			t.Errorf("%v: the connection was not closed", args)
		}
		if strings.Contains(stderr.String(), "Error") || strings.Contains(stderr.String(), "hidden") {
			t.Errorf("%v: %s", args, stderr.String())
		}
		if len(args) == 2 {
			checkCut(t, filepath.Join(home, "call.jsonl"))
		}
		noneLeft(t, home)
	}
}

// checkCut holds that a recording has what was said until it was cut.
func checkCut(t *testing.T, path string) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := record.Read(bytes.NewReader(src))
	if err != nil || len(all) != 1 || all[0].Response.Cut == "" || !strings.Contains(string(all[0].Response.Body), "upon") {
		t.Errorf("%v %s", err, src)
	}
	if strings.Contains(string(src), "hidden") {
		t.Errorf("the key is in %s", src)
	}
}

// A reader that has seen enough ends the request, too.
func TestPipe_AskClosedByReader(t *testing.T) {
	needUnix(t)
	s := modeltest.Start(t, modeltest.MustParse("text \"one\\n\"\npause 50ms\ntext \"two\\n\" \"three\\n\" \"four\\n\"\nstall"))
	home := t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, home, "debug", "ask", "-m", "own/m", "hello")
	cmd.Env = append(cmd.Env, own(s.URL))
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &stderr
	err = cmd.Run()
	if e := w.Close(); e != nil {
		t.Error(e)
	}
	if err != nil || strings.Contains(stderr.String(), "Error") || !s.Last().ClientLeft() {
		t.Errorf("%v %s", err, stderr.String())
	}
}

// Many log in at once, each to another provider: no key is lost.
func TestLogin_ManyProcesses(t *testing.T) {
	home := t.TempDir()
	ids := []string{"anthropic", "openai", "google", "xai", "deepseek", "mistral", "groq", "cohere"}
	errs := make(chan error, len(ids))
	for _, id := range ids {
		cmd := command(t, home, "auth", "login", id)
		cmd.Stdin = strings.NewReader("sk-" + id + "\n")
		go func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%s: %w: %s", id, err, out)
			}
			errs <- err
		}()
	}
	for range ids {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	src, err := os.ReadFile(filepath.Join(home, "data", "auth.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if !bytes.Contains(src, []byte(`"sk-`+id+`"`)) {
			t.Errorf("the key of %s is lost:\n%s", id, src)
		}
	}
}
