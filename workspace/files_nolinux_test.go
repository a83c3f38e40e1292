//go:build unix && !linux

package workspace

func becomeNobody() bool { return false }
