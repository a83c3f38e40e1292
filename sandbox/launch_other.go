//go:build !linux

package sandbox

import "fmt"

// Self is empty: only Linux has a launcher.
func Self() string { return "" }

// Launch is for the launcher, which only Linux has.
func Launch([]string, func() []string) (exit int, mine bool) { return 0, false }

func probe() Kernel { return Kernel{} }

func unsupported() error {
	return fmt.Errorf("%w: only Linux has it; set \"sandbox\": \"off\"", ErrUnavailable)
}
