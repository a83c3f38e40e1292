//go:build race

package bash_test

// gigabyte is a small one, since every byte costs much here.
const gigabyte = 32 << 20
