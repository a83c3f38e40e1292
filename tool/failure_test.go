package tool_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

func TestFailf(t *testing.T) {
	err := tool.Failf("cannot read %s: %w", "a.go", fs.ErrNotExist)
	var f *tool.Failure
	if !errors.As(err, &f) || f.Text != "cannot read a.go: file does not exist" || err.Error() != f.Text {
		t.Fatalf("%#v", err)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("the cause is lost")
	}
}

type broken struct{ tool.Tool }

func (broken) Spec() tool.Spec { panic("no spec") }

func (broken) Run(context.Context, *tool.Call) (tool.Result, error) {
	return tool.Result{Output: "half"}, blowUp()
}

func blowUp() error { panic(errors.New("boom")) }

func TestRun_Panic(t *testing.T) {
	raw := tool.Raw(tool.Spec{Name: "bad"}, func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{Output: "half"}, blowUp()
	})
	for name, x := range map[string]tool.Tool{"bad": raw, "?": broken{}} {
		r, err := run(x, `{}`)
		if lathe.CodeOf(err) != lathe.Internal || !strings.Contains(err.Error(), "tool "+name+" failed inside: boom") {
			t.Errorf("%s: error %v", name, err)
		}
		var p *tool.Panic
		if !errors.As(err, &p) || p.Value != "boom" || !strings.Contains(string(p.Stack), "blowUp") {
			t.Errorf("%s: cause %#v", name, p)
		}
		if strings.Contains(err.Error(), "blowUp") || r.Output != "" {
			t.Errorf("%s: the stack is shown, or half a result: %v, %v", name, err, r)
		}
	}
}

func TestRun_PassesResultsAndErrors(t *testing.T) {
	refused := lathe.Errorf(lathe.Denied, "no")
	x := tool.Raw(tool.Spec{Name: "x"}, func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{Output: "so far"}, refused
	})
	if r, err := run(x, `{}`); !errors.Is(err, refused) || r.Output != "so far" {
		t.Fatal(r, err)
	}
}
