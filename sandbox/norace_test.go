//go:build !race

package sandbox_test

// raced says that the race detector runs, with which every program that a test starts is slow.
const raced = false
