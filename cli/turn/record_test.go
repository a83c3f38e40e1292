package turn

import (
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
)

// The time of a turn is without what a person was waited for, by one call or by several at once.
func TestRecord_Worked(t *testing.T) {
	began := time.UnixMilli(10_000)
	r := Record{waits: map[lathe.PartID][]lathe.Wait{"prt_1": {{20_000, 60_000}}, "prt_2": {{30_000, 65_000}}}}
	if got := r.worked(began, began.Add(time.Minute)); got != 15*time.Second {
		t.Errorf("%s", got)
	}
}
