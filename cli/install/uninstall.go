package install

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
)

type uninstallFlags struct {
	keepSettings, keepData, dryRun bool
}

// NewUninstall returns `lathe uninstall`.
func NewUninstall(a *cli.App) *cobra.Command {
	var f uninstallFlags
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Print how to remove lathe and its data",
		Long: `Print the folders of lathe with their contents and sizes, and the commands that remove them and the
program. It deletes nothing, with or without --dry-run. OpenCode's folders are not included.`,
		Example: `  lathe uninstall
  lathe uninstall --keep-data        # keep sessions and API keys
  lathe export last -o session.json  # save a session first`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return uninstallProgram(c.Context(), a, f) },
	}
	s := cmd.Flags()
	s.BoolVarP(&f.keepSettings, "keep-config", "c", false, "keep your config")
	s.BoolVarP(&f.keepData, "keep-data", "d", false, "keep sessions, API keys and caches")
	s.BoolVar(&f.dryRun, "dry-run", false, "no effect, since nothing is ever deleted")
	return a.JSONFlag(cmd)
}

// holding is one kind of data that lathe stores.
type holding struct {
	What  string   `json:"what"`
	Paths []string `json:"paths"`
	Bytes int64    `json:"bytes"`
	Files int      `json:"files"`
}

// uninstallJSON is the output of `lathe uninstall --json`.
type uninstallJSON struct {
	Program  installation `json:"program"`
	Holdings []holding    `json:"holdings"`
	Commands []string     `json:"commands"`
}

// uninstallProgram leaves it to the user to run the commands, because deleted sessions cannot be restored.
func uninstallProgram(ctx context.Context, a *cli.App, f uninstallFlags) error {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	settings := ""
	if dir := a.UserDir(); dir != "" {
		settings = filepath.Join(dir, "lathe")
	}
	held, err := holdings(ctx, at, settings)
	if err != nil {
		return err
	}
	in := howInstalled(a, "latest")
	commands := append(removals(f, at, settings), in.Remove)
	if a.JSON {
		return a.PrintJSON(uninstallJSON{in, held, commands})
	}
	if err := holdingTable(a, held).Write(a.Out, a.Width()); err != nil {
		return err
	}
	a.Printf("\nTo remove lathe, stop all its processes and run:\n")
	for _, c := range commands {
		a.Printf("  %s\n", termtext.Plain(c))
	}
	a.Flush()
	a.Notify("Nothing was deleted. Save a session with `lathe export ID -o FILE`.")
	return nil
}

// holdingTable has a row for each kind of data.
func holdingTable(a *cli.App, held []holding) layout.Table {
	t := layout.Table{Head: []string{"What", "Size", "Files", "Where"}, Flexible: []int{3, 0}, Paths: 3}
	for _, h := range held {
		t.Rows = append(t.Rows, []string{h.What, termtext.ByteSize(h.Bytes), termtext.Count(h.Files), a.DisplayPath(h.Paths[0])})
	}
	if len(held) == 0 {
		t.Rows = append(t.Rows, []string{"nothing", "0 B", "0", ""})
	}
	return t
}

// holdings lists the existing data with sizes. A file counts for the most specific folder.
func holdings(ctx context.Context, at datadir.Folders, settings string) (out []holding, err error) {
	counted := map[string]bool{}
	for _, h := range []holding{
		{What: "sessions", Paths: []string{at.Database(), at.Database() + "-wal", at.Database() + "-shm", at.Database() + ".lock", at.Blobs()}},
		{What: "snapshots for undo", Paths: []string{at.Snapshots()}},
		{What: "tool outputs", Paths: []string{at.Outputs()}},
		{What: "plans", Paths: []string{at.Plans()}},
		{What: "credentials", Paths: []string{at.Credentials()}},
		{What: "cache", Paths: []string{at.Cache}},
		{What: "state", Paths: []string{at.State, at.Owners}},
		{What: "other data", Paths: []string{at.Data}},
		{What: "your config", Paths: []string{settings}},
	} {
		places := h.Paths
		h.Paths = nil
		for _, p := range places {
			if err := h.weigh(ctx, p, counted); err != nil {
				return nil, err
			}
			counted[p] = true
		}
		if h.Files > 0 {
			out = append(out, h)
		}
	}
	return out, nil
}

// weigh adds up the size of a path, without counted paths. Unreadable files have no size.
func (h *holding) weigh(ctx context.Context, path string, counted map[string]bool) error {
	if path == "" || counted[path] {
		return nil
	}
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	h.Paths = append(h.Paths, path)
	return filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case err != nil:
			return nil
		case p != path && counted[p] && d.IsDir():
			return filepath.SkipDir
		case d.IsDir() || p != path && counted[p]:
			return nil
		}
		h.Files++
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			h.Bytes += info.Size()
		}
		return nil
	})
}

// removals returns the commands that remove the folders.
func removals(f uninstallFlags, at datadir.Folders, settings string) (out []string) {
	var dirs []string
	if !f.keepData {
		dirs = append(dirs, at.Data, at.State, at.Cache)
	}
	if !f.keepSettings && settings != "" {
		dirs = append(dirs, settings)
	}
	var words []string
	for _, dir := range dirs {
		inside := strings.HasPrefix(dir, at.Data+string(filepath.Separator)) && !f.keepData
		if _, err := os.Lstat(dir); err == nil && !inside {
			words = append(words, termtext.ShellWord(dir))
		}
	}
	if len(words) == 0 {
		return nil
	}
	if runtime.GOOS == "windows" {
		return []string{"Remove-Item -Recurse " + strings.Join(words, ", ")}
	}
	return []string{"rm -r " + strings.Join(words, " ")}
}
