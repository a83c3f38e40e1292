//go:build unix && !linux

package workspace

func dropRoot() bool { return false }
