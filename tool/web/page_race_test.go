//go:build race

package web

// hostileSize is small, since every byte costs much here.
const hostileSize = 32 << 10
