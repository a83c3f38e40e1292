package builtin_test

import (
	"slices"
	"testing"

	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
)

// A question goes to the parent as it is, and an empty one to nobody. Only children have the tool.
func TestAskParent(t *testing.T) {
	d := tooltest.NewHost(t)
	res, err := d.Run(builtin.AskParent(), map[string]any{"question": " Which one? ", "to": "ses_sibling"})
	if err != nil || res.Output != "Yes." || !slices.Equal(d.AskedParent, []string{"Which one?"}) || !builtin.AskParent().Spec().Child {
		t.Errorf("%+v, %v, asked %q", res, err, d.AskedParent)
	}
	if _, err := d.Run(builtin.AskParent(), map[string]any{"question": " \n"}); err == nil || len(d.AskedParent) > 1 {
		t.Errorf("%v, asked %q", err, d.AskedParent)
	}
}
