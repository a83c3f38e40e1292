package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lathe-agent/lathe"
)

func (f folders) serverPassword() string { return filepath.Join(f.state, "server-password") }

// serverPassword returns the password of this user's servers, and makes one at first use. Several
// servers that start together agree on one: whoever links its file first has made it.
func serverPassword(at folders) (string, error) {
	path := at.serverPassword()
	if p, err := readPassword(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if err := os.MkdirAll(at.state, 0o700); err != nil {
		return "", lathe.Errorf(lathe.Unavailable, "no place for the password: %w", err)
	}
	var b [24]byte
	_, _ = rand.Read(b[:]) // it never fails
	tmp, err := os.CreateTemp(at.state, ".server-password-")
	if err != nil {
		return "", lathe.Errorf(lathe.Unavailable, "the password cannot be kept: %w", err)
	}
	defer os.Remove(tmp.Name())
	if _, err = tmp.WriteString(base64.RawURLEncoding.EncodeToString(b[:]) + "\n"); err == nil {
		err = tmp.Sync()
	}
	if err = closing(tmp, err); err == nil {
		err = os.Link(tmp.Name(), path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", lathe.Errorf(lathe.Unavailable, "the password cannot be kept: %w", err)
	}
	return readPassword(path)
}

// readPassword reads the file, unless others could.
func readPassword(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", lathe.Errorf(lathe.Denied, "others can read the password in %s; remove the file and start again, so that a new one is made", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	password := strings.TrimSpace(string(data))
	if password == "" {
		return "", lathe.Errorf(lathe.Invalid, "the password in %s is empty; remove the file and start again, so that a new one is made", path)
	}
	return password, nil
}
