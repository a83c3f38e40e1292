// Package overview describes a directory and the tools on the machine, so that a model need not
// find out first.
//
// It reads names, a few manifests, and the index of a repository; it executes nothing, follows no
// links, and gives up at its deadline. It owns no state: [Take] may be called by many goroutines.
//
// Start reading at Take; tree.go lists names, manifest.go reads commands, git.go the repository.
package overview

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The limits of an overview.
const (
	deadline  = 300 * time.Millisecond
	maxBytes  = 2000 // about 550 tokens
	maxNames  = 60
	maxRead   = 64 << 10 // of a manifest
	maxListed = 20_000   // names of one directory
)

// Config is the environment of the program.
type Config struct {
	Path string // the PATH variable
	// Excludes returns the path of the user's global gitignore file; nil means none.
	Excludes func() string
}

// Heading is the first line of every overview. [lathe.Text.IsReminder] knows it.
const Heading = "Project overview at the start of this session:"

// Describe describes a directory. It returns "" if that takes too long or finds nothing.
func Describe(ctx context.Context, dir string, cfg Config) string {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	done := make(chan string, 1)
	go func() { done <- describe(ctx, dir, cfg) }() // a read on a dead network drive cannot be canceled
	select {
	case text := <-done:
		return text
	case <-ctx.Done():
		return ""
	}
}

func describe(ctx context.Context, dir string, cfg Config) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	excludes := ""
	if cfg.Excludes != nil {
		excludes = cfg.Excludes()
	}
	lines := []string{Heading}
	lines = append(lines, tree(ctx, real, excludes)...)
	lines = append(lines, repository(ctx, real)...)
	lines = append(lines, manifests(real)...)
	if have := programs(cfg.Path); len(have) > 0 {
		lines = append(lines, "On PATH: "+strings.Join(have, ", "))
	}
	lines = append(lines, machine())
	if ctx.Err() != nil || len(lines) == 2 {
		return ""
	}
	return cut(strings.Join(lines, "\n"))
}

// cut shortens an overview at the end of a line.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxBytes {
		return text
	}
	text = text[:maxBytes]
	return text[:strings.LastIndexByte(text, '\n')] + "\n…"
}

// programs returns the development tools on the PATH.
func programs(path string) (have []string) {
	for _, name := range []string{
		"go", "node", "bun", "deno", "python3", "python", "cargo", "java", "make", "docker", "rg", "git",
		"npm", "pnpm", "yarn", "pip", "uv", "poetry", "mvn", "gradle", "apt-get", "brew",
	} {
		if name == "python" && slices.Contains(have, "python3") {
			continue
		}
		if onPath(path, name) {
			have = append(have, name)
		}
	}
	return have
}

func onPath(path, name string) bool {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, suffix := range suffixes() {
			info, err := os.Stat(filepath.Join(dir, name+suffix))
			if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
				return true
			}
		}
	}
	return false
}

func suffixes() []string {
	if runtime.GOOS == "windows" {
		return []string{".exe", ".cmd", ".bat"}
	}
	return []string{""}
}

// machine describes the capacity of the machine.
func machine() string {
	line := fmt.Sprintf("Machine: %d cores", runtime.NumCPU())
	for _, l := range strings.Split(string(readSome("/proc/meminfo")), "\n") {
		var kb int64
		if n, _ := fmt.Sscanf(l, "MemAvailable: %d kB", &kb); n == 1 {
			line += fmt.Sprintf(", %.1f GB of memory free", float64(kb)/(1<<20))
		}
	}
	return line
}

// readSome reads the beginning of a regular file; nil if there is none.
func readSome(path string) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return nil
	}
	return data
}
