package run

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/lathe-agent/lathe"
)

func TestUnknownOf(t *testing.T) {
	for meta, want := range map[string][]string{
		`{"command":"$X","unknown":[{"text":"$X","why":"not known"},{"text":"$Y","why":"a number"}]}`: {"$X: not known", "$Y: a number"},
		`{"command":"ls"}`: nil,
		``:                 nil,
	} {
		if got := unknownOf(lathe.PermissionRequest{Metadata: json.RawMessage(meta)}); !slices.Equal(got, want) {
			t.Errorf("%s: %q; want %q", meta, got, want)
		}
	}
}
