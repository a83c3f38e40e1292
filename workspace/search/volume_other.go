//go:build !linux

package search

func openVolume(dir string) (volume, error) { return openRooted(dir) }
