package bash

import (
	"fmt"
	"strings"
	"testing"
)

// A model can only respect a limit that it knows.
func TestText_StatesItsLimit(t *testing.T) {
	if want := fmt.Sprintf("%d s", int(defaultTimeout.Seconds())); !strings.Contains(bashText, want) {
		t.Errorf("the text of bash does not say %q", want)
	}
}
