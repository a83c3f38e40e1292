//go:build !unix

package gitguard

// openFlags keep an open from following a symlink and from waiting; here are none.
const openFlags = 0
