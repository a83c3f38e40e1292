package main

import (
	"os"
	"testing"
)

// TestTasks runs every task through the built program and holds it to its limits: on counts, bytes,
// exit codes and results, never on time. All end checks together stay under a twentieth of what is sent.
func TestTasks(t *testing.T) {
	tasks, err := readTasks("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if len(tasks) < 12 {
		t.Fatalf("there are %d tasks, and 12 are the least that say something", len(tasks))
	}
	binary, err := build(t.Context(), t.TempDir(), "../../cmd/lathe")
	if err != nil {
		t.Fatal(err)
	}
	done := make([]result, len(tasks))
	t.Run("all", func(t *testing.T) {
		for i, task := range tasks {
			t.Run(task.name, func(t *testing.T) {
				t.Parallel()
				r, err := task.run(t.Context(), binary)
				if err != nil {
					t.Fatal(err)
				}
				if r.Skipped != "" {
					t.Skip(r.Skipped)
				}
				if err := r.check(); err != nil {
					t.Errorf("%v\n%s", err, r.printed)
				}
				done[i] = r
			})
		}
	})
	table(os.Stdout, done)
	sent, checks := 0, 0
	for _, r := range done {
		sent, checks = sent+r.Bytes, checks+r.CheckBytes
	}
	if checks*20 > sent {
		t.Errorf("end checks are %d of %d bytes", checks, sent)
	}
}

// TestResult_Check holds that every limit can fail a task, and that a task without limits fails.
func TestResult_Check(t *testing.T) {
	limits := map[string]int{"steps": 2, "bytes": 10, "failed": 0, "checks": 0, "exit": 0}
	right := result{Name: "t", Steps: 2, Bytes: 10, Right: true, limits: limits}
	if err := right.check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*result){
		"steps": func(r *result) { r.Steps++ }, "bytes": func(r *result) { r.Bytes++ }, "failed": func(r *result) { r.Failed++ }, "checks": func(r *result) { r.Checks++ },
		"exit": func(r *result) { r.Exit = 3 }, "result": func(r *result) { r.Right = false }, "no limits": func(r *result) { r.limits = nil },
	} {
		r := right
		change(&r)
		if r.check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
