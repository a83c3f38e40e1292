package server

import (
	"cmp"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/git"
	"github.com/lathe-agent/lathe/workspace/search"
)

// fileAPI lists and reads the files of a project.
type fileAPI struct {
	folders Folders
	git     *git.Git
}

func (a fileAPI) routes() []row {
	return []row{
		answer(route("GET /file", "file.list", "file", mayAll, "List a folder of the project, folders first", []failure{failsBad}), a.listFiles),
		answer(route("GET /file/content", "file.read", "file", mayAll, "Read a file of the project", []failure{failsBad}), a.readFile),
		answer(route("GET /file/status", "file.status", "file", mayAll,
			"Return an empty list; use GET /vcs/status for changed files", []failure{failsBad}), nothing),
	}
}

type fileQuery struct {
	Path *string `query:"path"`
}

// file finds the file of a query. A path out of the project gives the same error whether or not
// the file exists.
func (c *call) file(q fileQuery) (workspace.Place, workspace.File, error) {
	at, _, err := c.place()
	if err != nil {
		return at, workspace.File{}, err
	}
	if q.Path == nil {
		return at, workspace.File{}, badRequest("Query", "Missing key at [\"path\"]")
	}
	name := *q.Path
	switch {
	case strings.ContainsRune(name, 0):
		return at, workspace.File{}, badRequest("Query", "path contains a null byte")
	case len(name) > 4096:
		return at, workspace.File{}, badRequest("Query", "path is longer than 4096 bytes")
	}
	outside := badRequest("Query", "path: %s is outside the project", phrase.Shorten(name, 200))
	f, err := workspace.Resolve(at.Directory, name)
	if err != nil {
		return at, f, outside
	}
	for _, root := range rootsOf(at) {
		if workspace.Inside(root, f.Path) {
			return at, f, nil
		}
	}
	return at, f, outside
}

// rootsOf are the real paths below which everything belongs to the project.
func rootsOf(at workspace.Place) []string {
	roots := []string{realDir(at)}
	if at.VCS == "git" {
		roots = append(roots, at.Sandbox)
	}
	return roots
}

// realDir is the directory without symlinks on the way.
func realDir(at workspace.Place) string {
	if dir, err := filepath.EvalSymlinks(at.Directory); err == nil {
		return dir
	}
	return at.Directory
}

type fileNode struct {
	Name     string `json:"name"`
	Path     string `json:"path" doc:"from the directory; that of a folder ends in a slash"`
	Absolute string `json:"absolute"`
	Type     string `json:"type" enum:"file,directory"`
	Ignored  bool   `json:"ignored"`
}

func (fileNode) schemaName() string { return "FileNode" }

// mostEntries is how many entries of a folder are listed.
const mostEntries = 20_000

// listFiles lists a folder, hidden entries too. What is no folder has no entries.
func (a fileAPI) listFiles(c *call, q fileQuery, _ none) ([]fileNode, error) {
	at, f, err := c.file(q)
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(mostEntries)
	if err != nil && len(entries) == 0 {
		return nil, nil
	}
	real := realDir(at)
	below, err := filepath.Rel(real, f.Path)
	if err != nil {
		return nil, err
	}
	below = filepath.ToSlash(below)
	rules := rulesAt(at, f.Path, a.folders.excludes())
	out := make([]fileNode, 0, len(entries))
	for _, e := range entries {
		n := fileNode{Name: e.Name(), Path: path.Join(below, e.Name()), Type: "file"}
		n.Absolute = filepath.Join(at.Directory, filepath.FromSlash(n.Path))
		dir := e.IsDir() || e.Type()&fs.ModeSymlink != 0 && leadsToDir(at, filepath.Join(f.Path, e.Name()))
		n.Ignored = rules.ignores(e.Name(), dir)
		if dir {
			n.Type, n.Path = "directory", n.Path+"/"
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b fileNode) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// leadsToDir reports whether a symlink leads to a folder of the project.
func leadsToDir(at workspace.Place, link string) bool {
	f, err := workspace.Resolve(at.Directory, link)
	if err != nil || !f.IsDir() {
		return false
	}
	return slices.ContainsFunc(rootsOf(at), func(root string) bool { return workspace.Inside(root, f.Path) })
}

// ignoreRules has the ignore rules of one folder.
type ignoreRules struct {
	dir  string
	git  *search.GitRules
	deep bool // the folder itself is ignored, and so is all in it
}

func (r ignoreRules) ignores(name string, dir bool) bool {
	return r.deep || name == ".git" || r.git.Ignores(r.dir, name, dir)
}

// rulesAt reads the ignore files from the top of the project down to a folder.
func rulesAt(at workspace.Place, dir, excludesFile string) ignoreRules {
	top := realDir(at)
	if at.VCS == "git" && workspace.Inside(at.Sandbox, dir) {
		top = at.Sandbox
	}
	r := ignoreRules{dir: filepath.ToSlash(top), git: search.NewGitRules(top, excludesFile).Enter(filepath.ToSlash(top), ignoreText(top))}
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return r
	}
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		r.deep = r.ignores(name, true)
		r.dir = path.Join(r.dir, name)
		r.git = r.git.Enter(r.dir, ignoreText(filepath.FromSlash(r.dir)))
	}
	return r
}

// ignoreText joins the ignore files of a folder.
func ignoreText(dir string) string {
	var out strings.Builder
	for _, name := range []string{search.GitIgnoreFile, ".ignore"} {
		f, err := workspace.Resolve(dir, name)
		if err != nil || f.Path != filepath.Join(dir, name) { // a symlink may lead anywhere
			continue
		}
		if text, err := f.ReadAll(1 << 20); err == nil {
			out.Write(text)
			out.WriteByte('\n')
		}
	}
	return out.String()
}

type fileContent struct {
	Type     string     `json:"type" enum:"text,binary"`
	Content  string     `json:"content"`
	Diff     string     `json:"diff,omitempty"`
	Patch    *filePatch `json:"patch,omitempty"`
	Encoding string     `json:"encoding,omitempty" enum:"base64"`
	MimeType string     `json:"mimeType,omitempty"`
}

func (fileContent) schemaName() string { return "FileContent" }

// mostContent is how large a file may be that is read, in bytes.
const mostContent = 32 << 20

// readFile reads a text, trimmed, or an image. Other files return only their type, missing ones an
// empty text.
func (a fileAPI) readFile(c *call, q fileQuery, _ none) (fileContent, error) {
	at, f, err := c.file(q)
	if err != nil {
		return fileContent{}, err
	}
	if f.IsDir() {
		return fileContent{}, badRequest("Query", "path: %s is a folder; GET /file lists it", phrase.Shorten(*q.Path, 200))
	}
	data, err := f.ReadAll(mostContent)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && f.Info == nil:
		return fileContent{Type: "text"}, nil
	case errors.Is(err, workspace.ErrTooLarge):
		return fileContent{}, badStatus(http.StatusRequestEntityTooLarge, "Query", "the file is larger than the limit of 32 MiB", err)
	case errors.Is(err, workspace.ErrNotFile), errors.Is(err, workspace.ErrMoved), errors.Is(err, os.ErrPermission):
		return fileContent{}, badRequest("Query", "path: %s cannot be read", phrase.Shorten(*q.Path, 200))
	case err != nil:
		return fileContent{}, err
	}
	if kind := imageType(f.Path); kind != "" {
		return fileContent{Type: "binary", Content: base64.StdEncoding.EncodeToString(data), Encoding: "base64", MimeType: kind}, nil
	}
	if slices.Contains(data[:min(len(data), 8192)], 0) || !utf8.Valid(data) {
		return fileContent{Type: "binary"}, nil
	}
	out := fileContent{Type: "text", Content: strings.Trim(string(data), " \t\r\n\v\f\uFEFF\u00a0\u2028\u2029")}
	out.Diff, out.Patch = a.fileDiff(c, at, f)
	return out, nil
}

// imageType is the type of an image by its name, "" for all other files.
func imageType(name string) string {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".png", ".jpeg", ".gif", ".webp", ".bmp", ".avif", ".tiff":
		return "image/" + ext[1:]
	case ".jpg":
		return "image/jpeg"
	case ".ico":
		return "image/x-icon"
	case ".tif":
		return "image/tiff"
	default:
		return ""
	}
}

// nothing is an empty list, for a route of a feature that lathe does not have (docs/http-differences.md). The directory
// must be one.
func nothing(c *call, _, _ none) ([]object, error) {
	_, _, err := c.place()
	return nil, err
}
