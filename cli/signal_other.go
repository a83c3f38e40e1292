//go:build !linux

package cli

// checkPidfd has nothing to do: only Linux has pidfds.
func checkPidfd() {}
