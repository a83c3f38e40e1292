package main

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

// folders says where things are kept.
type folders struct {
	data   string // the database, the files of large values, credentials
	owners string // the locks of running processes
	state  string // what is remembered for convenience
	cache  string // what can be fetched again
	db     string // the database, if it is elsewhere
}

func (f folders) database() string     { return cmp.Or(f.db, filepath.Join(f.data, "lathe.db")) }
func (f folders) credentials() string  { return filepath.Join(f.data, "auth.json") }
func (f folders) outputs() string      { return filepath.Join(f.data, "tool-output") }
func (f folders) logs() string         { return filepath.Join(f.data, "log", "lathe.log") }
func (f folders) plans() string        { return filepath.Join(f.data, "plans") }
func (f folders) instructions() string { return filepath.Join(f.cache, "instructions") }
func (f folders) skills() string       { return filepath.Join(f.cache, "skills") }
func (f folders) snapshots() string    { return filepath.Join(f.data, "snapshot") }
func (f folders) models() string       { return filepath.Join(f.cache, "models.json") }
func (f folders) choices() string      { return filepath.Join(f.state, "model.json") }

// overlay is where changes of commands to the caches of tools are kept, for one project.
func (f folders) overlay(root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(f.overlays(), hex.EncodeToString(sum[:8]))
}

func (f folders) overlays() string { return filepath.Join(f.data, "overlay") }

// blobs is where large values are: with their database, since what no row there names is removed.
func (f folders) blobs() string {
	if f.db != "" {
		return f.db + ".blobs"
	}
	return filepath.Join(f.data, "blobs")
}

// exists reports whether there is a database. What cannot be looked at counts as one, so that
// opening it says why.
func (f folders) exists() bool {
	_, err := os.Lstat(f.database())
	return !os.IsNotExist(err)
}

// findFolders reads the environment. LATHE_DB names another database, a path from the data folder on. Its
// large values and locks are beside it: processes that share a database must see each other's locks,
// whatever else they are told. The reference's own variable is not read: what it names is not ours.
func findFolders(env func(string) string) (folders, error) {
	at, err := dataFolders(env)
	if db := env("LATHE_DB"); db != "" && err == nil {
		if db == ":memory:" {
			return at, lathe.Errorf(lathe.Invalid, "LATHE_DB names a file; for a database that leaves nothing behind set LATHE_DATA to a folder that you delete")
		}
		if at.db = filepath.Clean(db); !filepath.IsAbs(db) {
			at.db = filepath.Join(at.data, db)
		}
		at.owners = at.db + ".owners"
	}
	return at, err
}

// dataFolders are those that hold everything.
func dataFolders(env func(string) string) (folders, error) {
	if dir := env("LATHE_DATA"); dir != "" {
		data, err := filepath.Abs(dir)
		if err != nil {
			return folders{}, fmt.Errorf("LATHE_DATA %q: %w", dir, err)
		}
		return folders{data: data, owners: filepath.Join(data, "owners"), state: filepath.Join(data, "state"), cache: filepath.Join(data, "cache")}, nil
	}
	data, err := baseFolder(env, "XDG_DATA_HOME", runtime.GOOS)
	if err != nil {
		return folders{}, err
	}
	state, err := baseFolder(env, "XDG_STATE_HOME", runtime.GOOS)
	if err != nil {
		return folders{}, err
	}
	cache, err := baseFolder(env, "XDG_CACHE_HOME", runtime.GOOS)
	if err != nil {
		return folders{}, err
	}
	return folders{
		data:   filepath.Join(data, "lathe"),
		owners: filepath.Join(state, "lathe", "owners"),
		state:  filepath.Join(state, "lathe"),
		cache:  filepath.Join(cache, "lathe"),
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
