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

func NewUninstall(a *cli.App) *cobra.Command {
	var f uninstallFlags
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Print what lathe keeps where, and how to remove it",
		Long: `Prints which folders hold what, how much that is, and the commands that remove them and the
program. It deletes nothing, with --dry-run or without: your sessions and keys are yours to
delete. Folders of OpenCode are not lathe's, and not in the list.`,
		Example: `  lathe uninstall
  lathe uninstall --keep-data        # leave sessions and keys
  lathe export last -o session.json  # to keep a session elsewhere first`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return uninstallProgram(c.Context(), a, f) },
	}
	s := cmd.Flags()
	s.BoolVarP(&f.keepSettings, "keep-config", "c", false, "leave your settings out of the commands")
	s.BoolVarP(&f.keepData, "keep-data", "d", false, "leave sessions, keys and caches out of the commands")
	s.BoolVar(&f.dryRun, "dry-run", false, "the same: nothing is ever deleted")
	return a.JSONFlag(cmd)
}

// holding is something that lathe keeps on this machine.
type holding struct {
	What  string   `json:"what"`
	Paths []string `json:"paths"`
	Bytes int64    `json:"bytes"`
	Files int      `json:"files"`
}

type uninstallJSON struct {
	Program  installation `json:"program"`
	Holdings []holding    `json:"holdings"`
	Commands []string     `json:"commands"`
}

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
	a.Printf("\nTo remove it, with no lathe running:\n")
	for _, c := range commands {
		a.Printf("  %s\n", termtext.Plain(c))
	}
	a.Flush()
	a.Notify("Nothing was deleted. `lathe export ID -o FILE` keeps a session elsewhere.")
	return nil
}

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

// holdings are what there is of what lathe keeps, with sizes. What lies in a folder of another
// row counts there.
func holdings(ctx context.Context, at datadir.Folders, settings string) (out []holding, err error) {
	counted := map[string]bool{}
	for _, h := range []holding{
		{What: "sessions", Paths: []string{at.Database(), at.Database() + "-wal", at.Database() + "-shm", at.Database() + ".lock", at.Blobs()}},
		{What: "what undo needs", Paths: []string{at.Snapshots()}},
		{What: "outputs of tools", Paths: []string{at.Outputs()}},
		{What: "plans", Paths: []string{at.Plans()}},
		{What: "keys and logins", Paths: []string{at.Credentials()}},
		{What: "cache", Paths: []string{at.Cache}},
		{What: "state", Paths: []string{at.State, at.Owners}},
		{What: "other data", Paths: []string{at.Data}},
		{What: "your settings", Paths: []string{settings}},
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

// weigh adds what is at a path, without what was counted. What may not be read has no size.
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

// removals are commands that remove the folders.
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
