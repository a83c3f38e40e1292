//go:build race

package tool_test

// gigabyte is a small one, since every byte costs much here.
const gigabyte = 32 << 20
