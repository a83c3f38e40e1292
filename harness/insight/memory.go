package insight

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/engine/compact"
	"github.com/lathe-agent/lathe/workspace"
)

// Limits of instruction files.
const (
	maxMemory  = 1 << 20 // bytes; longer files are not read by models either
	maxLine    = 4000    // bytes
	memoryName = "AGENTS.md"
)

// MemoryFiles lists the instruction files that apply in a directory, and the project's and the user's own where they
// do not exist yet.
func (r *Reports) MemoryFiles(ctx context.Context, dir string) ([]api.MemoryFile, error) {
	at, _, err := r.Source.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return r.memoryFiles(ctx, at)
}

// memoryFiles lists the files in the order of the config, which is the order in which models read them.
func (r *Reports) memoryFiles(ctx context.Context, at workspace.Place) ([]api.MemoryFile, error) {
	loaded, err := r.Source.Config(ctx, at)
	if err != nil {
		return nil, err
	}
	out, has := []api.MemoryFile{}, map[string]bool{}
	for _, i := range loaded.Instructions {
		if i.Path == "" {
			continue // an address
		}
		owner := string(config.User)
		if i.Layer == config.Project {
			owner = string(config.Project)
		}
		has[owner] = true
		out = append(out, stat(api.MemoryFile{Path: i.Path, Owner: owner}))
	}
	if !has[string(config.Project)] {
		out = append(out, stat(api.MemoryFile{Path: filepath.Join(top(at), memoryName), Owner: string(config.Project)}))
	}
	if !has[string(config.User)] {
		out = append(out, stat(api.MemoryFile{Path: filepath.Join(r.UserDir, "lathe", memoryName), Owner: string(config.User)}))
	}
	return out, nil
}

// top is the folder of a project's own file: the root of the checkout, else the directory.
func top(at workspace.Place) string {
	if filepath.Dir(at.Worktree) == at.Worktree { // there is none
		return at.Directory
	}
	return at.Worktree
}

// stat fills in the size of a file.
func stat(f api.MemoryFile) api.MemoryFile {
	info, err := os.Stat(f.Path)
	if err != nil || !info.Mode().IsRegular() {
		return f
	}
	f.Exists = true
	if info.Size() <= maxMemory {
		if text, err := os.ReadFile(f.Path); err == nil {
			f.Lines, f.Tokens = strings.Count(string(text), "\n"), compact.TokensIn(string(text))
		}
	}
	return f
}

// EditMemory adds a line to an instruction file, as an item of a list, or removes it again. Only files of
// MemoryFiles can be edited. A repository may have made a file a symbolic link: it is followed only inside the project,
// or inside the user's folder.
func (r *Reports) EditMemory(ctx context.Context, dir string, e api.MemoryEdit) (api.MemoryFile, error) {
	line, err := cleanLine(e.Line)
	if err != nil {
		return api.MemoryFile{}, err
	}
	at, _, err := r.Source.Open(ctx, dir)
	if err != nil {
		return api.MemoryFile{}, err
	}
	all, err := r.memoryFiles(ctx, at)
	if err != nil {
		return api.MemoryFile{}, err
	}
	i := slices.IndexFunc(all, func(f api.MemoryFile) bool {
		return f.Path == e.File || e.File == "" && f.Owner == string(config.Project)
	})
	if i < 0 {
		return api.MemoryFile{}, lathe.Errorf(lathe.Invalid, "%q is not an instruction file of this directory; /memory lists them", e.File)
	}
	f := all[i]
	folder := filepath.Dir(f.Path)
	if within(top(at), f.Path) {
		folder = top(at)
	} else if err := os.MkdirAll(folder, 0o700); err != nil {
		return f, lathe.Errorf(lathe.Unavailable, "cannot create %s: %w", folder, err)
	}
	if err := editFile(folder, f.Path, line, e.Remove); err != nil {
		return f, lathe.Errorf(lathe.Unavailable, "cannot write %s: %w; nothing was changed", f.Path, err)
	}
	return stat(api.MemoryFile{Path: f.Path, Owner: f.Owner}), nil
}

// within reports whether a path lies below a folder, by its name alone.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// cleanLine refuses what is not one line of text.
func cleanLine(text string) (string, error) {
	text = strings.TrimSpace(text)
	bad := strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\t' })
	if text == "" || bad || len(text) > maxLine || !utf8.ValidString(text) {
		return "", lathe.Errorf(lathe.Invalid, "a line to remember is one line of text of at most %d bytes", maxLine)
	}
	return "- " + text, nil
}

var errNotRegular = errors.New("it is not a regular file")

// editFile changes a file below a folder, which no symbolic link leaves.
func editFile(folder, path, line string, remove bool) (err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return err
	}
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && remove:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && !info.Mode().IsRegular():
		return errNotRegular
	case err == nil && info.Size() > maxMemory:
		return errors.New("it is larger than 1 MB")
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	old, err := io.ReadAll(io.LimitReader(f, maxMemory+1))
	if err != nil {
		return err
	}
	if !remove {
		_, err = f.WriteAt([]byte(separator(old)+line+"\n"), int64(len(old)))
		return err
	}
	at := strings.LastIndex("\n"+string(old), "\n"+line+"\n")
	if at < 0 {
		return errors.New("the line is not there any more")
	}
	rest := string(old[:at]) + string(old[at+len(line)+1:])
	if _, err := f.WriteAt([]byte(rest), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(rest)))
}

// separator is what goes between the text of a file and a new line.
func separator(old []byte) string {
	if len(old) == 0 || old[len(old)-1] == '\n' {
		return ""
	}
	return "\n"
}
