//go:build !race

package tool_test

const gigabyte = 1 << 30
