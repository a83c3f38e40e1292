//go:build race

package config

// slowdown is how much smaller large files are under the race detector.
const slowdown = 8
