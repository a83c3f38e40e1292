package harness

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tailscale/hujson"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
)

// forget drops the config and models of a directory, so that they are read again.
func (s *Harness) forget(dir string) {
	s.extensionSets.forget(dir)
	s.loader.Forget(dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.dirs, dir)
}

// Config returns the effective config of a directory.
func (b *backend) Config(ctx context.Context, at workspace.Place) (*config.Loaded, error) {
	k, err := b.setup.ConfigWithPlugins(ctx, at)
	if err != nil {
		return nil, err
	}
	return k.loaded, nil
}

// Tools returns the tools of a directory.
func (b *backend) Tools(ctx context.Context, at workspace.Place) ([]server.Tool, error) {
	s, err := b.setup.Settings(ctx, at)
	if err != nil {
		return nil, err
	}
	var out []server.Tool
	for _, t := range s.Tools.All() {
		if spec := t.Spec(); !spec.Hidden {
			out = append(out, server.Tool{ID: spec.Name, Description: spec.Description, Parameters: spec.Schema})
		}
	}
	return out, nil
}

// UserConfigFile returns the path of the user's config file. A lathe file wins over an OpenCode file.
func (a *Host) UserConfigFile() string {
	for _, name := range []string{"lathe/lathe.jsonc", "lathe/lathe.json"} {
		if path := filepath.Join(a.UserDir(), name); FileExists(path) {
			return path
		}
	}
	return filepath.Join(a.UserDir(), "lathe", "lathe.jsonc")
}

// GlobalConfig returns the user's config file as JSON.
func (b *backend) GlobalConfig(context.Context) (json.RawMessage, error) {
	return ReadConfigFile(b.app.UserConfigFile())
}

// ReadConfigFile returns a config file as plain JSON, nil if it does not exist.
func ReadConfigFile(path string) (json.RawMessage, error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "cannot read the config file: %w", err)
	}
	plain, err := hujson.Standardize(src)
	if err != nil {
		return nil, lathe.Errorf(lathe.Invalid, "%s is not JSON: %w", path, err)
	}
	return plain, nil
}

// UpdateConfig writes to the config file of the directory. It writes to an OpenCode file only if no lathe file
// exists.
func (b *backend) UpdateConfig(_ context.Context, at workspace.Place, change json.RawMessage) error {
	return config.Edit(DirConfigFile(at.Directory), change)
}

// DirConfigFile returns the path of the directory's config file that updates go to.
func DirConfigFile(dir string) string {
	for _, name := range []string{"lathe.jsonc", "lathe.json", "opencode.jsonc", "opencode.json"} {
		if path := filepath.Join(dir, name); FileExists(path) {
			return path
		}
	}
	return filepath.Join(dir, "lathe.json")
}

// UpdateGlobalConfig writes to the user's config file.
func (b *backend) UpdateGlobalConfig(_ context.Context, change json.RawMessage) error {
	path := b.app.UserConfigFile()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return lathe.Errorf(lathe.Unavailable, "cannot create the config folder: %w", err)
	}
	return config.Edit(path, change)
}
