package workspace

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
)

// UserExcludes is the file with what a person's git ignores in all repositories: core.excludesFile
// of the user's or the machine's configuration, or the place git looks at without it. It need not
// be there. What a repository says in its own configuration does not count. Env returns a variable of
// the environment.
func UserExcludes(env func(string) string) string {
	home := env("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home = env("USERPROFILE")
	}
	own := env("XDG_CONFIG_HOME")
	if own == "" && home != "" {
		own = filepath.Join(home, ".config")
	}
	for _, file := range gitConfigs(env, home, own) {
		if path, ok := excludesIn(file, home, maxIncludes); ok {
			return path
		}
	}
	if own == "" {
		return ""
	}
	return filepath.Join(own, "git", "ignore")
}

// maxIncludes is how deep configuration files may include each other.
const maxIncludes = 5

// gitConfigs are the files of git's configuration that belong to no repository, the one that wins
// first.
func gitConfigs(env func(string) string, home, own string) (files []string) {
	switch global := env("GIT_CONFIG_GLOBAL"); {
	case global != "":
		files = append(files, global)
	default:
		if home != "" {
			files = append(files, filepath.Join(home, ".gitconfig"))
		}
		if own != "" {
			files = append(files, filepath.Join(own, "git", "config"))
		}
	}
	switch system := env("GIT_CONFIG_SYSTEM"); {
	case env("GIT_CONFIG_NOSYSTEM") != "":
	case system != "":
		files = append(files, system)
	case runtime.GOOS != "windows":
		files = append(files, "/etc/gitconfig")
	}
	return files
}

// excludesIn is core.excludesFile in a configuration file or one that it includes.
func excludesIn(file, home string, depth int) (path string, ok bool) {
	config, err := gitobj.ReadConfig(file)
	if err != nil || depth == 0 {
		return "", false
	}
	if name := config.Last("core.excludesfile"); name != "" {
		return placeOf(name, home, filepath.Dir(file)), true
	}
	for _, name := range config.Includes(false) {
		if path, ok := excludesIn(placeOf(name, home, filepath.Dir(file)), home, depth-1); ok {
			return path, true
		}
	}
	return "", false
}

// placeOf is the path that git's configuration names.
func placeOf(name, home, dir string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
