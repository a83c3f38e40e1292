package tty

import (
	"strings"

	"github.com/charmbracelet/colorprofile"
)

// Colors is how many colors a terminal shows by its environment: 0, 16, 256 or 1<<24. Any value of NO_COLOR means none.
// The terminal is not asked, so that the first frame has its final colors.
func Colors(env []string) int {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "NO_COLOR="); ok && v != "" {
			return 0
		}
	}
	switch colorprofile.Env(env) {
	case colorprofile.TrueColor:
		return 1 << 24
	case colorprofile.ANSI256:
		return 256
	case colorprofile.ANSI:
		return 16
	default:
		return 0
	}
}
