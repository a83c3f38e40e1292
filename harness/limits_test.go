package harness

import (
	"testing"

	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine/compact"
)

// A 0 of the settings is none, and what is not said is the default.
func TestCompactionOf(t *testing.T) {
	yes, no, none, some := true, false, 0, 9
	for _, tt := range []struct {
		in   config.Compaction
		want compact.Settings
	}{
		{config.Compaction{}, compact.Settings{}},
		{config.Compaction{Auto: &yes, Prune: &no}, compact.Settings{}},
		{config.Compaction{Auto: &no, Prune: &yes}, compact.Settings{Off: true, Prune: true}},
		{config.Compaction{TailTurns: &none, PreserveRecentTokens: &none, Reserved: &none}, compact.Settings{TailTurns: -1, TailTokens: -1, Reserved: -1}},
		{config.Compaction{TailTurns: &some, PreserveRecentTokens: &some, Reserved: &some}, compact.Settings{TailTurns: 9, TailTokens: 9, Reserved: 9}},
	} {
		if got := CompactionOf(tt.in); got != tt.want {
			t.Errorf("%+v: %+v, want %+v", tt.in, got, tt.want)
		}
	}
}
