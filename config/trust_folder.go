package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// How much of the folders of programs trust is bound to. Beyond that names, sizes and times count.
const (
	trustedFiles = 4000
	trustedBytes = 32 << 20
	trustedNames = 20_000
)

// programRisks are the files that the programs of a project's settings are made of: those that a local
// MCP server or a plugin loads from its own folder. Trust is bound to them, so that a change there
// asks again.
func (l *loading) programRisks(s *source) (out []Risk) {
	if servers := s.root.get("mcp"); servers != nil {
		for _, m := range servers.members {
			// Where it starts depends on the directory of the session; what is trusted must not.
			dirs := []string{s.dir}
			if root := l.root(); root != s.dir {
				dirs = append(dirs, root)
			}
			for _, dir := range dirs {
				if cwd := m.val.get("cwd"); cwd != nil && !filepath.IsAbs(cwd.text) {
					dir = filepath.Join(dir, cwd.text)
				} else if cwd != nil {
					dir = cwd.text
				}
				out = append(out, l.commandRisks(dir, m.val.get("command"))...)
			}
		}
	}
	if plugins := s.root.get("plugin"); plugins != nil {
		for _, p := range plugins.items {
			if p.kind == isArray && len(p.items) > 0 {
				p = p.items[0]
			}
			if path, ok := strings.CutPrefix(p.text, "file://"); ok {
				out = append(out, l.folderOf(filepath.FromSlash(path))...)
			} else if isPath(p.text) {
				out = append(out, l.folderOf(s.complete(p.text, l.Home))...)
			}
		}
	}
	return out
}

// commandRisks are those of the files that a command names.
func (l *loading) commandRisks(dir string, command *node) (out []Risk) {
	if command == nil {
		return nil
	}
	for i, word := range command.items {
		if i == 0 && slices.Contains([]string{"npm", "pnpm", "yarn", "bun", "npx", "deno"}, word.text) {
			out = append(out, l.inside(filepath.Join(dir, "package.json"))...)
		}
		path := word.text
		if _, value, ok := strings.Cut(path, "="); ok && strings.HasPrefix(path, "-") {
			path = value
		}
		if path == "" || strings.HasPrefix(path, "-") || i == 0 && !strings.ContainsAny(path, `/\`) {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		out = append(out, l.folderOf(path)...)
	}
	return out
}

// codeRisks are the folders of plugins and tools that hold more than those.
func (l *loading) codeRisks() (out []Risk) {
	var folders []string
	for _, path := range l.code {
		dir := filepath.Dir(path)
		more := func(e fs.DirEntry) bool { return !slices.Contains(l.code, filepath.Join(dir, e.Name())) }
		if !slices.Contains(folders, dir) && slices.ContainsFunc(l.disk.list(dir, Project), more) {
			folders = append(folders, dir)
			out = append(out, l.folderRisk(dir))
		}
	}
	return out
}

// inside is the risk of a file, if it is there and in the project.
func (l *loading) inside(path string) []Risk {
	if !within(l.root(), path) || !l.disk.isFile(path) {
		return nil
	}
	return []Risk{l.fileRisk(path)}
}

// folderOf are the risks of the folder that a file of the project loads from; of a folder, its own. The
// project as a whole is not one: of a program that lies in its root, it and those beside it of its
// kind count.
func (l *loading) folderOf(path string) []Risk {
	path = filepath.Clean(path)
	if !within(l.root(), path) {
		return nil
	}
	dir := path
	switch {
	case l.disk.isFile(path):
		dir = filepath.Dir(path)
	case !l.disk.isDir(path):
		return nil
	}
	if dir != filepath.Clean(l.root()) {
		return []Risk{l.folderRisk(dir)}
	}
	if dir == path {
		return nil
	}
	var out []Risk
	for _, e := range l.disk.list(dir, Project) {
		if name := e.Name(); e.Type().IsRegular() && (filepath.Ext(name) == filepath.Ext(path) || name == "package.json") {
			out = append(out, l.fileRisk(filepath.Join(dir, name)))
		}
	}
	return out
}

// folderRisk binds trust to all files in a folder.
func (l *loading) folderRisk(dir string) Risk {
	if r, ok := l.folders[dir]; ok {
		return r
	}
	h := sha256.New()
	files, names, bytes := 0, 0, int64(0)
	var visit func(dir, prefix string)
	visit = func(dir, prefix string) {
		for _, e := range l.disk.list(dir, Project) {
			if names++; names > trustedNames || e.Name() == ".git" {
				continue
			}
			path := filepath.Join(dir, e.Name())
			if e.IsDir() {
				visit(path, prefix+e.Name()+"/")
				continue
			}
			if e.Type()&fs.ModeSymlink != 0 && !within(realPath(l.root()), realPath(path)) {
				fmt.Fprintf(h, "%q -> %q\n", prefix+e.Name(), realPath(path)) // what lies elsewhere is not looked at
				continue
			}
			info, err := l.disk.stat(path)
			if err != nil || !info.Mode().IsRegular() {
				fmt.Fprintf(h, "%q %v\n", prefix+e.Name(), e.Type())
				continue
			}
			if files++; files <= trustedFiles && bytes+info.Size() <= trustedBytes {
				if text, err := l.disk.read(path); err == nil {
					bytes += int64(len(text))
					fmt.Fprintf(h, "%q %x\n", prefix+e.Name(), sha256.Sum256(text))
					continue
				}
			}
			fmt.Fprintf(h, "%q %d %d\n", prefix+e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	visit(dir, "")
	fmt.Fprintf(h, "%d", names)
	r := Risk{Path: dir + string(filepath.Separator), Value: hex.EncodeToString(h.Sum(nil))}
	if l.folders == nil {
		l.folders = map[string]Risk{}
	}
	l.folders[dir] = r
	return r
}
