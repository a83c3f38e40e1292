// Package datadir says where lathe keeps its files: the database, credentials, caches, logs, and the
// password of its servers.
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

// Folders says where things are kept.
type Folders struct {
	Data   string // the database, the files of large values, credentials
	Owners string // the locks of running processes
	State  string // what is remembered for convenience
	Cache  string // what can be fetched again
	DB     string // the database, if it is elsewhere
}

func (f Folders) Database() string           { return cmp.Or(f.DB, filepath.Join(f.Data, "lathe.db")) }
func (f Folders) Credentials() string        { return filepath.Join(f.Data, "auth.json") }
func (f Folders) Outputs() string            { return filepath.Join(f.Data, "tool-output") }
func (f Folders) Logs() string               { return filepath.Join(f.Data, "log", "lathe.log") }
func (f Folders) Plans() string              { return filepath.Join(f.Data, "plans") }
func (f Folders) Instructions() string       { return filepath.Join(f.Cache, "instructions") }
func (f Folders) Skills() string             { return filepath.Join(f.Cache, "skills") }
func (f Folders) Snapshots() string          { return filepath.Join(f.Data, "snapshot") }
func (f Folders) Models() string             { return filepath.Join(f.Cache, "models.json") }
func (f Folders) ServerPasswordFile() string { return filepath.Join(f.State, "server-password") }
func (f Folders) RecentModels() string       { return filepath.Join(f.State, "model.json") }

// Overlay is where changes of commands to the caches of tools are kept, for one project.
func (f Folders) Overlay(root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(f.Overlays(), hex.EncodeToString(sum[:8]))
}

func (f Folders) Overlays() string { return filepath.Join(f.Data, "overlay") }

// Blobs is where large values are: with their database, since what no row there names is removed.
func (f Folders) Blobs() string {
	if f.DB != "" {
		return f.DB + ".blobs"
	}
	return filepath.Join(f.Data, "blobs")
}

// Exists reports whether there is a database. What cannot be looked at counts as one, so that
// opening it says why.
func (f Folders) Exists() bool {
	_, err := os.Lstat(f.Database())
	return !os.IsNotExist(err)
}

// Find reads the environment. LATHE_DB names another database, a path from the data folder on. Its
// large values and locks are beside it: processes that share a database must see each other's locks,
// whatever else they are told. The reference's own variable is not read: what it names is not ours.
func Find(env func(string) string) (Folders, error) {
	at, err := dataFolders(env)
	if db := env("LATHE_DB"); db != "" && err == nil {
		if db == ":memory:" {
			return at, lathe.Errorf(lathe.Invalid, "LATHE_DB names a file; for a database that leaves nothing behind set LATHE_DATA to a folder that you delete")
		}
		if at.DB = filepath.Clean(db); !filepath.IsAbs(db) {
			at.DB = filepath.Join(at.Data, db)
		}
		at.Owners = at.DB + ".owners"
	}
	return at, err
}

// dataFolders are those that hold everything.
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

// baseFolder is where programs keep their data, state or cache: what the variable says, else what the
// system has for it. A relative path in the variable is ignored, as its standard demands.
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
		return "", lathe.Errorf(lathe.Invalid, "your home folder is not known; set LATHE_DATA to the folder for the database")
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
