//go:build !unix

package lsp_test

import (
	"testing"
	"time"
)

// processorTime is not known here.
func processorTime(b *testing.B) time.Duration {
	b.Skip("no processor time on this system")
	return 0
}
