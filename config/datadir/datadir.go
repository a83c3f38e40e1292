// Package datadir locates lathe's files: the database, credentials, caches, logs and the
// server password.
package datadir

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/lathe-agent/lathe"
)

// Folders are the folders for lathe's files.
type Folders struct {
	Data   string // the database, the files of large values, credentials
	Owners string // the locks of running processes
	State  string // recent models and other conveniences
	Cache  string // files that can be downloaded again
	DB     string // path of the database, if it is not in Data
	Store  string // URL of a database for many nodes, instead of a file; it may have a password
}

func (f Folders) Database() string     { return cmp.Or(f.DB, filepath.Join(f.Data, "lathe.db")) }
func (f Folders) Credentials() string  { return filepath.Join(f.Data, "auth.json") }
func (f Folders) Outputs() string      { return filepath.Join(f.Data, "tool-output") }
func (f Folders) Logs() string         { return filepath.Join(f.Data, "log", "lathe.log") }
func (f Folders) Plans() string        { return filepath.Join(f.Data, "plans") }
func (f Folders) Instructions() string { return filepath.Join(f.Cache, "instructions") }
func (f Folders) Skills() string       { return filepath.Join(f.Cache, "skills") }
func (f Folders) Languages() string    { return filepath.Join(f.Cache, "lsp") }
func (f Folders) Snapshots() string    { return filepath.Join(f.Data, "snapshot") }
func (f Folders) Devices() string      { return filepath.Join(f.Data, "devices.json") }
func (f Folders) Servers() string      { return filepath.Join(f.State, "servers") } // one file for each that runs

// Worktrees is the folder for isolated trees. It is beside the data folder, which commands cannot see.
func (f Folders) Worktrees() string { return filepath.Clean(f.Data) + "-worktrees" }

func (f Folders) Models() string             { return filepath.Join(f.Cache, "models.json") }
func (f Folders) ServerPasswordFile() string { return filepath.Join(f.State, "server-password") }
func (f Folders) RecentModels() string       { return filepath.Join(f.State, "model.json") }

// Overlay is the folder for a project's changes to tool caches.
func (f Folders) Overlay(root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(f.Overlays(), hex.EncodeToString(sum[:8]))
}

func (f Folders) Overlays() string { return filepath.Join(f.Data, "overlay") }

// Blobs is the folder for large values. It is beside the database, since unreferenced blobs are deleted.
func (f Folders) Blobs() string {
	if f.DB != "" {
		return f.DB + ".blobs"
	}
	return filepath.Join(f.Data, "blobs")
}

// BlobCache is the folder for copies of large values that a bucket has.
func (f Folders) BlobCache() string { return filepath.Join(f.Cache, "blobs") }

// Exists reports whether the database exists. It is true if that cannot be determined, so that
// opening the database reports the reason.
func (f Folders) Exists() bool {
	if f.Store != "" {
		return true
	}
	_, err := os.Lstat(f.Database())
	return !os.IsNotExist(err)
}

// Find reads the environment. LATHE_DB names another database, relative to the data folder. Its
// blobs and locks are beside it: processes that share a database must see each other's locks.
// OpenCode's own variable is not read, since its database has another format. LATHE_STORE names a PostgreSQL database.
func Find(env func(string) string) (Folders, error) {
	at, err := dataFolders(env)
	at.Store = env("LATHE_STORE")
	if db := env("LATHE_DB"); db != "" && err == nil {
		if db == ":memory:" {
			return at, lathe.Errorf(lathe.Invalid, "LATHE_DB must be a file path; for a temporary database set LATHE_DATA to a temporary folder")
		}
		if at.DB = filepath.Clean(db); !filepath.IsAbs(db) {
			at.DB = filepath.Join(at.Data, db)
		}
		at.Owners = at.DB + ".owners"
	}
	return at, err
}

// dataFolders returns the folders for everything but a database named by LATHE_DB.
func dataFolders(env func(string) string) (Folders, error) {
	if dir := env("LATHE_DATA"); dir != "" {
		data, err := filepath.Abs(dir)
		if err != nil {
			return Folders{}, fmt.Errorf("LATHE_DATA %q: %w", dir, err)
		}
		return Folders{Data: data, Owners: filepath.Join(data, "owners"), State: filepath.Join(data, "state"), Cache: filepath.Join(data, "cache")}, nil
	}
	data, err := baseFolder(env, "XDG_DATA_HOME", runtime.GOOS)
	if err != nil {
		return Folders{}, err
	}
	state, err := baseFolder(env, "XDG_STATE_HOME", runtime.GOOS)
	if err != nil {
		return Folders{}, err
	}
	cache, err := baseFolder(env, "XDG_CACHE_HOME", runtime.GOOS)
	if err != nil {
		return Folders{}, err
	}
	return Folders{
		Data:   filepath.Join(data, "lathe"),
		Owners: filepath.Join(state, "lathe", "owners"),
		State:  filepath.Join(state, "lathe"),
		Cache:  filepath.Join(cache, "lathe"),
	}, nil
}

// baseFolder is the folder for data, state or cache: the value of the variable, else the default of the
// system. A relative path in the variable is ignored, as the XDG standard demands.
func baseFolder(env func(string) string, variable, system string) (string, error) {
	if dir := env(variable); filepath.IsAbs(dir) {
		return dir, nil
	}
	home := env("HOME")
	if system == "windows" {
		if dir := env("LOCALAPPDATA"); dir != "" {
			return dir, nil
		}
		home = env("USERPROFILE")
	}
	if home == "" {
		return "", lathe.Errorf(lathe.Invalid, "home folder not found; set HOME, or set LATHE_DATA to the folder for the database")
	}
	switch {
	case system == "windows":
		return filepath.Join(home, "AppData", "Local"), nil
	case system == "darwin" && variable == "XDG_CACHE_HOME":
		return filepath.Join(home, "Library", "Caches"), nil
	case system == "darwin":
		return filepath.Join(home, "Library", "Application Support"), nil
	case variable == "XDG_STATE_HOME":
		return filepath.Join(home, ".local", "state"), nil
	case variable == "XDG_CACHE_HOME":
		return filepath.Join(home, ".cache"), nil
	default:
		return filepath.Join(home, ".local", "share"), nil
	}
}
