//go:build !unix

package server

import (
	"context"
	"net"
)

// listenPrivately relies on the folder: sockets have no mode here.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(ctx, "unix", path)
}
