// Command tasks runs recorded development tasks through the built program and prints what each cost.
//
// A task is a file of testdata: a project, a prompt, and the answers of a scripted model that makes
// the mistakes real ones make. The program runs headless, as in CI, against a real HTTP server that
// speaks the wire of a provider. It measures the costs of a user: requests, bytes sent, calls
// that failed, the share of the program's own end checks, how it ended, and whether the project is
// as it should be.
//
//	go run ./scripts/tasks                    # builds the program and runs all tasks
//	go run ./scripts/tasks -run push -v       # one of them, with what the program printed
//	go run ./scripts/tasks -json              # for scripts: an object a task
//
// Limits are in each task's file; the test of this package holds them. Start with task.go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"text/tabwriter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "tasks:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	binary := flag.String("binary", "", "the program; built from ./cmd/lathe if empty")
	only := flag.String("run", "", "run the tasks whose names match this expression")
	asJSON := flag.Bool("json", false, "print an object a line")
	verbose := flag.Bool("v", false, "print what the program printed too")
	dir := flag.String("dir", filepath.Join("scripts", "tasks", "testdata"), "where the tasks are")
	flag.Parse()
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	tasks, err := readTasks(*dir)
	if err != nil {
		return err
	}
	if *binary == "" {
		folder, err := os.MkdirTemp("", "lathe-tasks-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		if *binary, err = build(ctx, folder, "./cmd/lathe"); err != nil {
			return err
		}
	}
	if *binary, err = filepath.Abs(*binary); err != nil { // tasks have their own directories
		return err
	}
	var done []result
	for _, t := range tasks {
		if !match.MatchString(t.name) {
			continue
		}
		r, err := t.run(ctx, *binary)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if *verbose {
			fmt.Fprintf(os.Stderr, "== %s\n%s%s\n", t.name, r.printed, r.complaints)
		}
		done = append(done, r)
	}
	if *asJSON {
		for _, r := range done {
			if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
				return err
			}
		}
	} else {
		table(os.Stdout, done)
	}
	for _, r := range done {
		err = errors.Join(err, r.check())
	}
	return err
}

// build makes the program in a folder.
func build(ctx context.Context, folder, pkg string) (string, error) {
	binary := filepath.Join(folder, "lathe")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, pkg)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
}

// table prints what tasks cost, and the sum.
func table(w io.Writer, done []result) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "task\tsteps\tbytes sent\tcalls\tfailed\tend checks\texit\tright\t")
	var sum result
	for _, r := range done {
		right := "yes"
		if r.Skipped != "" {
			right = "skipped: " + r.Skipped
		} else if !r.Right {
			right = "NO"
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%.1f %%\t%d\t%s\t\n", r.Name, r.Steps, r.Bytes, r.Calls, r.Failed, r.share(), r.Exit, right)
		sum.Steps, sum.Bytes, sum.Calls, sum.Failed, sum.CheckBytes = sum.Steps+r.Steps, sum.Bytes+r.Bytes, sum.Calls+r.Calls, sum.Failed+r.Failed, sum.CheckBytes+r.CheckBytes
	}
	fmt.Fprintf(t, "all\t%d\t%d\t%d\t%d\t%.1f %%\t\t\t\n", sum.Steps, sum.Bytes, sum.Calls, sum.Failed, sum.share())
	_ = t.Flush() // of standard output, where nothing can be done about it
}
