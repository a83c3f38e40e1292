package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
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

// programRisks are the files that the programs of a project's config are made of: those that a local
// MCP server or a plugin loads from its own folder. Trust is bound to them, so that a change there
// asks again.
func (l riskFinder) programRisks(s *source) (out []Risk) {
	for _, m := range s.root.membersOf("mcp") {
		out = append(out, l.serverRisks(s, m.val)...)
	}
	for _, p := range s.root.itemsOf("plugin") {
		out = append(out, l.pluginRisks(s, p)...)
	}
	return append(out, l.hookRisks(s)...)
}

// serverRisks are those of an MCP server. Where it starts depends on the directory of the session; what
// is trusted must not.
func (l riskFinder) serverRisks(s *source, server *node) (out []Risk) {
	dirs := []string{s.dir}
	if root := l.root(); root != s.dir {
		dirs = append(dirs, root)
	}
	for _, dir := range dirs {
		if cwd := server.get("cwd"); cwd != nil && !filepath.IsAbs(cwd.text) {
			dir = filepath.Join(dir, cwd.text)
		} else if cwd != nil {
			dir = cwd.text
		}
		out = append(out, l.commandRisks(dir, server.itemsOf("command"))...)
	}
	return out
}

// pluginRisks are those of a plugin, which is a path, an address or a list that begins with one.
func (l riskFinder) pluginRisks(s *source, p *node) []Risk {
	if p.kind == isArray && len(p.items) > 0 {
		p = p.items[0]
	}
	if path, ok := strings.CutPrefix(p.text, "file://"); ok {
		return l.folderOf(filepath.FromSlash(path))
	}
	if isPath(p.text) {
		return l.folderOf(s.complete(p.text, l.Home))
	}
	return nil
}

// commandRisks are those of the files that a command names.
func (l riskFinder) commandRisks(dir string, command []*node) (out []Risk) {
	for i, word := range command {
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
func (l riskFinder) codeRisks() (out []Risk) {
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
func (l riskFinder) inside(path string) []Risk {
	if !within(l.root(), path) || !l.disk.isFile(path) {
		return nil
	}
	return []Risk{l.fileRisk(path)}
}

// folderOf are the risks of the folder that a file of the project loads from; of a folder, its own. The
// project as a whole is not one: of a program that lies in its root, it and those beside it of its
// kind count.
func (l riskFinder) folderOf(path string) []Risk {
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
func (l riskFinder) folderRisk(dir string) Risk {
	if r, ok := l.folders[dir]; ok {
		return r
	}
	sum := folderSum{loading: l.loading, hash: sha256.New()}
	sum.visit(dir, "")
	fmt.Fprintf(sum.hash, "%d", sum.names)
	r := Risk{Path: dir + string(filepath.Separator), Value: hex.EncodeToString(sum.hash.Sum(nil))}
	l.folders[dir] = r
	return r
}

// folderSum is the sum of all files in a folder. Beyond some number and size only their names, sizes and times count.
type folderSum struct {
	*loading
	hash         hash.Hash
	files, names int
	bytes        int64
}

func (f *folderSum) visit(dir, prefix string) {
	for _, e := range f.disk.list(dir, Project) {
		if f.names++; f.names > trustedNames || e.Name() == ".git" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			f.visit(path, prefix+e.Name()+"/")
		} else {
			f.add(path, prefix+e.Name(), e)
		}
	}
}

// add adds one that is no folder.
func (f *folderSum) add(path, name string, e fs.DirEntry) {
	if e.Type()&fs.ModeSymlink != 0 && !within(realPath(f.root()), realPath(path)) {
		fmt.Fprintf(f.hash, "%q -> %q\n", name, realPath(path)) // files outside are not read
		return
	}
	info, err := f.disk.stat(path)
	if err != nil || !info.Mode().IsRegular() {
		fmt.Fprintf(f.hash, "%q %v\n", name, e.Type())
		return
	}
	if f.files++; f.files <= trustedFiles && f.bytes+info.Size() <= trustedBytes {
		if text, err := f.disk.read(path); err == nil {
			f.bytes += int64(len(text))
			fmt.Fprintf(f.hash, "%q %x\n", name, sha256.Sum256(text))
			return
		}
	}
	fmt.Fprintf(f.hash, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
}
