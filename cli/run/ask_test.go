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

func TestAskChoices(t *testing.T) {
	for want, lists := range map[string][2][]string{
		"y once, n no, or type a reason:":                                                {},
		"y once, s session (src/*), a always (src/a.go), n no, or type a reason:":        {{"src/*"}, {"src/a.go"}},
		"y once, s session (ls * git *), a always (ls * git *), n no, or type a reason:": {{"ls *", "git *"}, {"ls *", "git *"}},
	} {
		if got := askChoices(lists[0], lists[1]); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
