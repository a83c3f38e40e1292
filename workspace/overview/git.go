package overview

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace"
)

// repository returns the branch and the number of files that differ from the index.
func repository(ctx context.Context, dir string) []string {
	top, git, common, ok := workspace.GitDirs(dir)
	if !ok {
		return nil
	}
	repo, err := gitobj.Open(git, common)
	if err != nil {
		return nil
	}
	defer repo.Close()
	head, err := repo.Head()
	if err != nil {
		return nil
	}
	line := "Git: no branch checked out"
	if name, ok := strings.CutPrefix(head.Target, "refs/heads/"); ok {
		line = "Git: branch " + name
	}
	if n, ok := changed(ctx, repo, top); ok {
		line += fmt.Sprintf(", %d tracked files changed", n)
	}
	return []string{line}
}

// changed counts the files whose size or time is not what the index says. It gives up when time
// does: a number that is wrong is worse than none.
func changed(ctx context.Context, repo *gitobj.Repo, top string) (n int, ok bool) {
	const most = 50_000
	list, err := repo.Index()
	if err != nil || len(list) > most {
		return 0, false
	}
	for i, e := range list {
		if i%256 == 0 && ctx.Err() != nil {
			return 0, false
		}
		if e.Skip || strings.HasSuffix(e.Path, "/") || e.Mode&0o170000 == 0o160000 {
			continue
		}
		info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(e.Path)))
		if err != nil || e.Unmerged || e.IntentToAdd || uint32(info.Size()) != e.Size || uint32(info.ModTime().Unix()) != e.MtimeSec {
			n++
		}
	}
	return n, true
}
