//go:build !race

package bash_test

const gigabyte = 1 << 30
