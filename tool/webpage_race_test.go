//go:build race

package tool

// hostileSize is small, since every byte costs much here.
const hostileSize = 32 << 10
