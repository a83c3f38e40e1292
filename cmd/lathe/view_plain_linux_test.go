package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sameAs holds a text to a file of testdata/view.
func sameAs(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", "view", name)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// turnScript is a turn with everything in it, one call after the other: those that run side by side end in
// any order.
func turnScript(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("testdata", "view", "turn.script"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(script), "\nand ", "\nfinish tool-calls\n--\nwhen \"show all\"\ncall ")
}

// A whole turn where nothing may be styled is the same for every way to forbid it, and however
// wide the screen is: lines are the terminal's to break.
func TestView_PlainGolden(t *testing.T) {
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		for _, width := range []uint16{40, 80, 120} {
			t.Run(env, func(t *testing.T) {
				t.Parallel()
				home, _ := viewHome(t, turnScript(t))
				code, sent := onScreen(t, home, width, 24, []string{env}, "-C", "p", "run", "--title", "A view", "show all").end()
				if code != 0 || strings.Contains(sent, "\x1b") {
					t.Errorf("exit code %d: %q", code, sent)
				}
				sameAs(t, "plain.golden", steadyTime(strings.ReplaceAll(steady(sent, home), "\r\n", "\n")))
			})
		}
	}
}

// A whole turn through pipes: the answer on one, everything else on the other.
func TestView_PipeGolden(t *testing.T) {
	t.Parallel()
	home, _ := viewHome(t, turnScript(t))
	cmd := command(t, home, "-C", "p", "run", "--title", "A view", "show all")
	var out, received bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &received
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	sameAs(t, "pipe.golden", "-- standard output --\n"+out.String()+"-- standard error --\n"+steadyTime(steady(received.String(), home)))
}

// Output that cannot be written. The turn is done all the same, and where it was full the exit
// code says that words were lost; who closed it wanted none, and no file of ours is opened in
// its place.
func TestView_NoOutput(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("there is no shell: %v", err)
	}
	for redirect, want := range map[string]int{">&-": 0, ">/dev/full": 1} {
		for _, format := range []string{"default", "json", "stream-json"} {
			t.Run(redirect+" "+format, func(t *testing.T) {
				t.Parallel()
				home, server := viewHome(t, "call write {\"filePath\":\"b.txt\",\"content\":\"x\\n\"}\nfinish tool-calls\n--\ntext \"Said.\"\nfinish stop")
				cmd := command(t, home)
				sh, err := exec.LookPath("sh")
				if err != nil {
					t.Fatal(err)
				}
				cmd.Path, cmd.Args = sh, []string{"sh", "-c", "lathe -C p run --format " + format + " --title 'A view' 'show all' " + redirect}
				var received bytes.Buffer
				cmd.Stderr = &received
				err = cmd.Run()
				if code := exitCode(err); code != want || strings.Contains(received.String(), "Error: ") != (want != 0) {
					t.Errorf("exit code %d: %s", code, received.String())
				}
				if _, err := os.Stat(filepath.Join(home, "p", "b.txt")); err != nil || len(server.Requests()) != 2 {
					t.Errorf("the turn was not done: %v, %d requests", err, len(server.Requests()))
				}
				must(t, home, "db", "check")
				noneLeft(t, home)
			})
		}
	}
}
