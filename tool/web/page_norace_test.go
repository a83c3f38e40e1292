//go:build !race

package web

const hostileSize = 512 << 10
