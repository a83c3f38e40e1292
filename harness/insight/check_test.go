package insight

import (
	"errors"
	"strings"
	"testing"
)

func TestSandboxLevel(t *testing.T) {
	t.Parallel()
	missing := errors.New("Landlock is off")
	for _, row := range []struct {
		none, partial error
		mounts        bool
		want          string
	}{
		{missing, missing, false, "level none: Landlock is off"},
		{missing, missing, true, "level none"},
		{nil, missing, true, "level basic: this kernel"},
		{nil, nil, false, "level basic: Landlock confines commands, without mounts"},
		{nil, nil, true, "level full"},
	} {
		got := sandboxLevel(row.none, row.partial, row.mounts)
		if !strings.HasPrefix(got.Detail, row.want) || (got.Fix == "") != strings.Contains(row.want, "full") {
			t.Errorf("%v, %v, %v: %+v", row.none, row.partial, row.mounts, got)
		}
	}
}
