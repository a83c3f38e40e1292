package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// importer is a home with a long transcript of Claude Code, and an export of the same length.
type importer struct {
	*testing.T
	lathe, home string
}

// newImporter writes files of about that many megabytes.
func newImporter(t *testing.T, megabytes int) importer {
	t.Helper()
	w := importer{T: t, lathe: "lathe", home: t.TempDir()}
	dir := plainLathe() // a test has the servers of other tests in it, and the race detector takes many times the memory
	if dir == "" {
		t.Skip("the program cannot be built without the race detector")
	}
	w.lathe = filepath.Join(dir, "lathe")
	output := strings.Repeat("the quick brown fox ", 400)
	n := megabytes << 20 / (len(output) + 900)
	w.write(".claude/projects/x/long.jsonl", "", "\n", "\n", n, func(i int) string {
		return fmt.Sprintf(`{"type":"user","message":{"content":"Prompt %[1]d"},"uuid":"u%[1]d","timestamp":"2026-11-18T05:00:00.000Z","cwd":"/x"}
{"type":"assistant","message":{"id":"m%[1]d","model":"c","content":[{"type":"tool_use","id":"t%[1]d","name":"Bash","input":{"command":"x"}}],"usage":{"input_tokens":1,"output_tokens":1}},"uuid":"a%[1]d","timestamp":"2026-11-18T05:00:00.000Z"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":%[2]q}]},"uuid":"r%[1]d","timestamp":"2026-11-18T05:00:00.000Z"}`, i, output)
	})
	w.write("long.json", `{"info":{"id":"ses_long","title":"Long","time":{"created":1,"updated":2}},"messages":[`, ",", "]}", n, func(i int) string {
		return fmt.Sprintf(`{"info":{"id":"msg_%08[1]d","role":"assistant","time":{"created":%[1]d}},"parts":[{"id":"prt_%08[1]d","type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{},"output":%[2]q}}]}`, i, output)
	})
	return w
}

// write writes n records to a file without holding them.
func (w importer) write(name, before, between, after string, n int, record func(int) string) {
	w.Helper()
	path := filepath.Join(w.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		w.Fatal(err)
	}
	b := bufio.NewWriterSize(f, 1<<20)
	_, _ = b.WriteString(before) // Flush returns the error
	for i := range n {
		if i > 0 {
			_, _ = b.WriteString(between)
		}
		_, _ = b.WriteString(record(i))
	}
	_, _ = b.WriteString(after)
	if err := b.Flush(); err != nil {
		w.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.Fatal(err)
	}
}

func (w importer) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.Context(), w.lathe, args...)
	cmd.Dir = w.home
	cmd.Env = append(os.Environ(), "HOME="+w.home, "LATHE_DATA="+filepath.Join(w.home, "data"), "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "CLAUDE_CONFIG_DIR=", "GOMEMLIMIT=off", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// run runs a command to its end and returns its output and its most memory in megabytes.
func (w importer) run(args ...string) (string, int64) {
	w.Helper()
	cmd := w.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	most := int64(0) // of the usage at its end, that of the parent before exec would be a part
	for {
		select {
		case err := <-ended:
			if err != nil {
				w.Fatalf("lathe %s: %v\n%s", strings.Join(args, " "), err, &out)
			}
			if most == 0 {
				w.Errorf("the memory of lathe %s is not known", strings.Join(args, " "))
			}
			return out.String(), most
		case <-time.After(2 * time.Millisecond):
			most = max(most, peak(cmd.Process.Pid))
		}
	}
}

// peak is the most memory that a process has had, in megabytes; 0 if it is gone.
func peak(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // the process may have ended
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kb := int64(0)
	_, _ = fmt.Sscan(after, &kb)
	return kb >> 10
}

// Transcripts and an export of 64 MB take about 100 MB, which is the promise for any length; 96 to 98 in most runs. A reader that holds one of
// them takes twice its length at least. One transcript has few records that are long.
func TestImport_Memory(t *testing.T) {
	t.Parallel()
	if raced { // a child starts with the memory of its parent, which the race detector multiplies
		t.Skip("the memory of a child cannot be measured with the race detector")
	}
	w := newImporter(t, 64)
	const pieces = 15 << 20 / 20 // of a record, which is not held here: a child starts with the memory of its parent
	w.write(".claude/projects/x/records.jsonl", "", "", "", 4*pieces, func(i int) string {
		switch i % pieces {
		case 0:
			return `{"type":"user","message":{"content":[{"type":"text","text":"`
		case pieces - 1:
			return fmt.Sprintf(`"}]},"uuid":"u%d","timestamp":"2026-11-18T05:00:00.000Z","cwd":"/x"}`+"\n", i)
		default:
			return "the quick brown fox "
		}
	})
	for _, args := range [][]string{{"import", "--from", "claude"}, {"import", "long.json"}} {
		if out, most := w.run(args...); most > 120 {
			t.Errorf("lathe %s took %d MB\n%s", strings.Join(args, " "), most, out)
		}
	}
	if out, _ := w.run("session", "list", "--all", "--json"); strings.Count(out, `"id": "ses_`) != 3 {
		t.Errorf("the sessions are missing:\n%s", out)
	}
}

// A process that is killed anywhere in an import leaves no session and no file behind, and the next import is complete.
func TestImport_Killed(t *testing.T) {
	t.Parallel()
	w := newImporter(t, 8)
	w.run("import", "--from", "claude", "--dry-run")
	killed := 0
	for _, after := range []time.Duration{20, 60, 150, 300, 600, 1000} {
		cmd := w.command("import", "--from", "claude", "--only", "sessions")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(after*time.Millisecond, func() { _ = cmd.Process.Kill() }) // it may have ended
		if err := cmd.Wait(); err != nil {
			killed++
		}
		kill.Stop()
		if _, err := os.Stat(filepath.Join(w.home, "data", "lathe.db")); err != nil {
			continue
		}
		if out, _ := w.run("session", "list", "--all", "--json"); strings.Contains(out, `"id": "ses_`) {
			w.complete()
		}
	}
	if killed == 0 {
		t.Log("every import was faster than the first kill")
	}
	w.run("import", "--from", "claude", "--only", "sessions")
	w.complete()
	left, err := filepath.Glob(filepath.Join(w.home, "data", "*", "import-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// complete checks that the one session has its last message.
func (w importer) complete() {
	w.Helper()
	out, _ := w.run("session", "list", "--all", "--json")
	_, rest, _ := strings.Cut(out, `"id": "`)
	id, _, _ := strings.Cut(rest, `"`)
	file, err := os.ReadFile(filepath.Join(w.home, ".claude/projects/x/long.jsonl"))
	if err != nil {
		w.Fatal(err)
	}
	prompts := strings.Count(string(file), `"content":"Prompt `)
	export, _ := w.run("export", id)
	if got := strings.Count(export, `"text": "Prompt `); got != prompts {
		w.Errorf("%d of %d prompts", got, prompts)
	}
}
