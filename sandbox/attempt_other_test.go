//go:build !linux

package sandbox_test

func attempt([]string) int { return 2 }
