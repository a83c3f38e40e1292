package builtin

import (
	"fmt"
	"strings"
	"testing"
)

// A model can only respect a limit that it knows: every limit that refuses a call, or cuts what
// it gives, stands in the text of its tool.
func TestTexts_StateTheirLimits(t *testing.T) {
	texts := map[string]string{
		"edit": editText, "apply_patch": applyPatchText, "read": readText, "grep": grepText, "glob": globText, "write": writeText,
	}
	for _, limit := range []struct{ tool, says string }{
		{"edit", fmt.Sprintf("%d MB", editLimit>>20)},
		{"read", fmt.Sprintf("%d lines", readLines)},
		{"read", fmt.Sprintf("%d KB", readBytes>>10)},
		{"read", fmt.Sprintf("over %d characters", readWidth)},
		{"grep", fmt.Sprintf("At most %d", searchLimit)},
		{"glob", fmt.Sprintf("At most %d", searchLimit)},
		{"write", "neither read nor written"},
		{"edit", "only once"},
	} {
		if text, ok := texts[limit.tool]; !ok || !strings.Contains(text, limit.says) {
			t.Errorf("the text of %s does not say %q", limit.tool, limit.says)
		}
	}
}
