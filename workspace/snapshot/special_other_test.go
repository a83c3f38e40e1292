//go:build !unix

package snapshot

import (
	"testing"
	"time"
)

func cpuTime() time.Duration { return 0 }

func reportCPU(*testing.B, time.Duration) {}

func makeSpecial(t *testing.T, _, _ string) { t.Skip("there are no pipes in folders here") }
