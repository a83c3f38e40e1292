package web

import (
	"fmt"
	"strings"
	"testing"
)

// A model can only respect a limit that it knows.
func TestFetchText_StatesItsLimits(t *testing.T) {
	for _, want := range []string{fmt.Sprintf("%d MB", webBytes>>20), fmt.Sprintf("%d characters", webAddress)} {
		if !strings.Contains(webFetchText, want) {
			t.Errorf("the text of webfetch does not say %q", want)
		}
	}
}
