package datadir

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/lathe-agent/lathe"
)

// ServerPassword returns the password of this user's servers and creates it at first use. Servers
// that start together agree on one: the first to link its file wins.
func (f Folders) ServerPassword() (string, error) {
	path := f.ServerPasswordFile()
	if p, err := ReadPassword(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if err := os.MkdirAll(f.State, 0o700); err != nil {
		return "", lathe.Errorf(lathe.Unavailable, "cannot create the folder for the server password: %w", err)
	}
	var b [24]byte
	_, _ = rand.Read(b[:]) // it never fails
	tmp, err := os.CreateTemp(f.State, ".server-password-")
	if err != nil {
		return "", lathe.Errorf(lathe.Unavailable, "cannot save the server password: %w", err)
	}
	defer os.Remove(tmp.Name())
	if _, err = tmp.WriteString(base64.RawURLEncoding.EncodeToString(b[:]) + "\n"); err == nil {
		err = tmp.Sync()
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Link(tmp.Name(), path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", lathe.Errorf(lathe.Unavailable, "cannot save the server password: %w", err)
	}
	return ReadPassword(path)
}

// ReadPassword reads a password file. It refuses a file that other users can read.
func ReadPassword(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", lathe.Errorf(lathe.Denied, "other users can read the password in %s; delete the file and restart to create a new one", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	password := strings.TrimSpace(string(data))
	if password == "" {
		return "", lathe.Errorf(lathe.Invalid, "the password in %s is empty; delete the file and restart to create a new one", path)
	}
	return password, nil
}
