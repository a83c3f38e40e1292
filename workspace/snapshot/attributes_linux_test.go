package snapshot

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// An undo leaves extended attributes as they are.
func TestUndo_KeepsAttributes(t *testing.T) {
	b := newBench(t, gittest.RealTemp(t))
	b.write("file", "first\n")
	step := b.step()
	b.tool(step, "file", func() { b.write("file", "agent\n") })
	done := b.end(step)
	if err := unix.Setxattr(b.path("file"), "user.comment", []byte("mine"), 0); errors.Is(err, unix.ENOTSUP) {
		t.Skipf("no attributes here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	b.apply("ses", must2(b.work.Undo(t.Context(), []StepRef{done}))(t))
	if got := b.files()["file"]; got != "first\n" {
		t.Fatalf("after undo %q", got)
	}
	value := make([]byte, 10)
	if n, err := unix.Getxattr(b.path("file"), "user.comment", value); err != nil || string(value[:n]) != "mine" {
		t.Errorf("the attribute is %q, %v", value[:max(n, 0)], err)
	}
}
