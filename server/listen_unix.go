//go:build unix

package server

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// listenPrivately creates the socket in a private folder and moves it to its place once its mode is
// set: at no moment can others connect.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), ".lathe-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	hidden := filepath.Join(dir, strconv.Itoa(os.Getpid()))
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", hidden)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err = os.Chmod(hidden, 0o600); err == nil {
		err = place(hidden, path)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return &socket{l, path}, nil
}

// place gives the socket its name. Unlike a rename a link replaces nothing, but not every system
// has one for sockets.
func place(hidden, path string) error {
	err := os.Link(hidden, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, there := os.Lstat(path); !errors.Is(there, fs.ErrNotExist) {
		return err
	}
	return os.Rename(hidden, path)
}

// socket removes its file on Close.
type socket struct {
	net.Listener
	path string
}

func (s *socket) Close() error {
	err := s.Listener.Close()
	if e := os.Remove(s.path); err == nil && !os.IsNotExist(e) {
		err = e
	}
	return err
}
