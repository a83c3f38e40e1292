//go:build !race

package tool

const hostileSize = 512 << 10
