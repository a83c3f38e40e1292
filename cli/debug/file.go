package debug

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/server"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/git"
	"github.com/lathe-agent/lathe/workspace/search"
)

// newDebugFile shows files through the server's own routes.
func newDebugFile(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "file", Short: "Show files as clients of a server see them",
		Example: "  lathe debug file search main.go\n  lathe debug file read README.md | jq -r .content",
		Args:    cobra.ArbitraryArgs, RunE: cli.RequireSubcommand,
	}
	find := a.JSONFlag(&cobra.Command{
		Use: "search QUERY", Short: "Find files and folders by parts of their path, best match first", Example: "  lathe debug file search main",
		Args: cli.RangeArgs(1, 1), RunE: func(c *cobra.Command, args []string) error { return debugFileSearch(c.Context(), a, args[0]) },
	})
	cmd.AddCommand(
		find,
		fileCommand(a, "read PATH", "Print a file with its type and uncommitted changes as JSON", "  lathe debug file read go.mod", "/file/content"),
		fileCommand(a, "list [PATH]", "List a folder as JSON, folders first", "  lathe debug file list docs | jq -r '.[].path'", "/file"),
		fileCommand(a, "status", "List changes since the last commit as JSON", "  lathe debug file status", "/vcs/status"),
		&cobra.Command{
			Use: "tree [DIRECTORY]", Short: "Print the files that are not ignored as a tree", Example: "  lathe debug file tree docs",
			Args: cli.RangeArgs(0, 1), RunE: func(c *cobra.Command, args []string) error { return debugTree(c.Context(), a, args) },
		},
	)
	return cmd
}

// fileCommand prints the response of one route.
func fileCommand(a *cli.App, use, short, example, route string) *cobra.Command {
	least, most := strings.Count(use, " PATH"), strings.Count(use, "PATH")
	return &cobra.Command{
		Use: use, Short: short, Example: example, Args: cli.RangeArgs(least, most),
		RunE: func(c *cobra.Command, args []string) error {
			q := url.Values{"path": {strings.Join(args, "")}}
			s, err := lookingServer(a)
			if err != nil {
				return err
			}
			defer s.Close()
			if name := q.Get("path"); route == "/file/content" { // for clients, a missing file is empty
				if _, err := os.Stat(filepath.Join(a.Dir, name)); err != nil && !filepath.IsAbs(name) {
					return lathe.Errorf(lathe.NotFound, "File not found: %s", termtext.Plain(name))
				}
			}
			reply, err := askServer(c.Context(), s, route, q)
			if err != nil {
				return err
			}
			return a.PrintJSON(reply)
		},
	}
}

// debugFileSearch prints the paths that the search route of the server finds.
func debugFileSearch(ctx context.Context, a *cli.App, query string) error {
	s, err := lookingServer(a)
	if err != nil {
		return err
	}
	defer s.Close()
	reply, err := askServer(ctx, s, "/find/file", url.Values{"query": {query}, "limit": {"100"}})
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(reply)
	}
	var paths []string
	if err := json.Unmarshal(reply, &paths); err != nil {
		return err
	}
	for _, p := range paths {
		a.Printf("%s\n", termtext.Plain(p))
	}
	printRest(a, len(paths), len(paths), "file")
	return nil
}

// looker opens projects without a database.
type looker struct{}

func (looker) Open(ctx context.Context, dir string) (workspace.Place, lathe.Project, error) {
	at, err := workspace.Locate(ctx, dir, nil)
	return at, lathe.Project{}, err
}

func (looker) Projects(context.Context) ([]lathe.Project, error) { return nil, nil }

func (looker) Dispose(string) {}

func (looker) DisposeAll() {}

// lookingServer returns an in-process server for the file routes.
func lookingServer(a *cli.App) (*server.Server, error) {
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return nil, err
	}
	program, err := exec.LookPath("git")
	if err != nil || !filepath.IsAbs(program) {
		program = "" // the command that needs it reports the error
	}
	b := server.Backend{
		Instances: looker{}, Git: git.New(git.Options{Program: program, Env: a.Environ()}), Folders: server.Folders{Excludes: a.UserExcludes},
	}
	return server.New(b, server.Options{Directory: dir, Version: a.Version, Log: a.Log}), nil
}

// response records an HTTP response.
type response struct {
	bytes.Buffer
	header http.Header
	status int
}

func (h *response) Header() http.Header { return h.header }

func (h *response) WriteHeader(status int) { h.status = status }

// askServer sends a request to an in-process server, without a socket.
func askServer(ctx context.Context, s http.Handler, route string, q url.Values) (json.RawMessage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1"+route+"?"+q.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	r.RemoteAddr = "127.0.0.1:0"
	h := &response{header: http.Header{}, status: http.StatusOK}
	s.ServeHTTP(h, r)
	if h.status == http.StatusOK {
		return h.Bytes(), nil
	}
	var said struct {
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	}
	if json.Unmarshal(h.Bytes(), &said) != nil || said.Data.Message == "" {
		said.Data.Message = "the server answers " + http.StatusText(h.status)
	}
	return nil, lathe.Errorf(lathe.Invalid, "%s", said.Data.Message)
}

// maxTree is the number of files in a tree.
const maxTree = 10_000

// debugTree prints the files below a directory, indented by folder. It uses the search that agents use.
func debugTree(ctx context.Context, a *cli.App, args []string) error {
	dir := strings.Join(args, "")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.Dir, dir)
	}
	at := a.InDir(dir)
	q, p, err := findFlags{glob: "**", limit: maxTree}.query(at)
	if err != nil {
		return err
	}
	found, err := search.Glob(ctx, q, p)
	if err != nil {
		return err
	}
	var above []string
	for _, path := range found.Paths {
		parts := strings.Split(path, "/")
		same := 0
		for same < len(above) && same < len(parts)-1 && above[same] == parts[same] {
			same++
		}
		for i := same; i < len(parts); i++ {
			name := parts[i]
			if i < len(parts)-1 {
				name += "/"
			}
			a.Printf("%s%s\n", strings.Repeat("  ", i), termtext.Plain(name))
		}
		above = parts[:len(parts)-1]
	}
	printRest(a, len(found.Paths), found.Total, "file")
	return nil
}
