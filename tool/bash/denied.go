package bash

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/tool/target"
)

// refusedPath finds a name in the output of a command that it was not let write: one that is
// protected, or that lies outside of what it may write. "" means that there is none.
func refusedPath(p sandbox.Profile, dir, text string) string {
	for line := range strings.Lines(text) {
		if !denial().MatchString(line) {
			continue
		}
		for _, name := range slices.Backward(named().FindAllString(line, -1)) { // the first is often the program
			name = strings.Trim(name, `'"`+"`‘’“”")
			if path := name; path != "" {
				if !filepath.IsAbs(path) {
					path = filepath.Join(dir, path)
				}
				if closed(p, path) && (unwritable().MatchString(line) || reachable(path)) {
					return name
				}
			}
		}
	}
	return ""
}

// named finds what may be the name of a file in a message: what has quotes around it, and words
// with a slash or a dot.
var named = phrase.Regexp("'[^'\n]+'|\"[^\"\n]+\"|`[^`\n]+`|‘[^’\n]+’|[^\\s:'\"‘’()]*[/.][^\\s:'\"‘’()]*")

// unwritable is how programs say that they could not write; other words may be about reading.
var unwritable = phrase.Regexp(`(?i)read-only file system|device or resource busy|\b(EROFS|EBUSY)\b`)

// reachable reports whether the user can open a file, or could make it, so that it was the sandbox
// that refused it.
func reachable(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return target.Exists(filepath.Dir(path))
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return false
	}
	f, err := os.Open(path)
	if err == nil {
		_ = f.Close() // nothing was read
	}
	return err == nil
}

// closed reports whether a command with this profile could not write a path. Devices and what the
// kernel shows of processes say nothing about files.
func closed(p sandbox.Profile, path string) bool {
	at := FollowLinks(filepath.Clean(path))
	inside := func(folder string) bool {
		folder = FollowLinks(folder)
		return at == folder || strings.HasPrefix(at, folder+string(filepath.Separator))
	}
	switch {
	case strings.HasPrefix(at, "/dev/"), strings.HasPrefix(at, "/proc/"), strings.HasPrefix(at, "/sys/"):
		return false
	case slices.ContainsFunc(slices.Concat(p.Protect, p.Files, p.Watch), inside):
		return true
	}
	return target.Exists(filepath.Dir(at)) && !slices.ContainsFunc(p.Write, inside)
}

// wayOut says what a model can do about a refusal.
func (b *bash) wayOut() string {
	if b.NonInteractive {
		return "No user can approve running it outside the sandbox: do without, and report the remaining steps at the end."
	}
	return askOutside
}
