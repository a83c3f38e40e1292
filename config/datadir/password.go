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

// ServerPassword is the password of this user's servers, and makes one at first use. Several
// servers that start together agree on one: whoever links its file first has made it.
func (f Folders) ServerPassword() (string, error) {
	path := f.ServerPasswordFile()
	if p, err := ReadPassword(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if err := os.MkdirAll(f.State, 0o700); err != nil {
		return "", lathe.Errorf(lathe.Unavailable, "no place for the password: %w", err)
	}
	var b [24]byte
	_, _ = rand.Read(b[:]) // it never fails
	tmp, err := os.CreateTemp(f.State, ".server-password-")
	if err != nil {
		return "", lathe.Errorf(lathe.Unavailable, "the password cannot be kept: %w", err)
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
		return "", lathe.Errorf(lathe.Unavailable, "the password cannot be kept: %w", err)
	}
	return ReadPassword(path)
}

// ReadPassword reads the file of a password, unless others could.
func ReadPassword(path string) (string, error) {
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
