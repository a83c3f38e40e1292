package server

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/git"
)

type (
	// filePatch is a parsed patch of one file.
	filePatch struct {
		OldName string     `json:"oldFileName"`
		NewName string     `json:"newFileName"`
		Hunks   []fileHunk `json:"hunks"`
	}
	fileHunk struct {
		OldStart int      `json:"oldStart"`
		OldLines int      `json:"oldLines"`
		NewStart int      `json:"newStart"`
		NewLines int      `json:"newLines"`
		Lines    []string `json:"lines"`
	}
)

// diffTime limits the wait for git's diff of a file.
const diffTime = 2 * time.Second

// fileDiff is the diff of a tracked file against the last commit. It is optional: without it the
// file is sent alone.
func (a fileAPI) fileDiff(c *call, at workspace.Place, f workspace.File) (string, *filePatch) {
	rel, err := filepath.Rel(at.Sandbox, f.Path)
	if at.VCS != "git" || a.git == nil || err != nil || !filepath.IsLocal(rel) {
		return "", nil
	}
	ctx, stop := context.WithTimeout(c.Context(), diffTime)
	defer stop()
	all, err := a.git.Diff(ctx, at, git.DiffOptions{Mode: git.Uncommitted, Context: git.DefaultContext, File: filepath.ToSlash(rel), TrackedOnly: true})
	if err != nil || len(all) != 1 || all[0].Patch == "" || all[0].Status != "modified" {
		return "", nil
	}
	return all[0].Patch, parsePatch(all[0].File, all[0].Patch)
}

// parsePatch parses the hunks of a git patch.
func parsePatch(name, patch string) *filePatch {
	out := &filePatch{OldName: name, NewName: name, Hunks: []fileHunk{}}
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "@@ ") {
			out.Hunks = append(out.Hunks, hunkOf(line))
		} else if n := len(out.Hunks); n > 0 {
			out.Hunks[n-1].Lines = append(out.Hunks[n-1].Lines, line)
		}
	}
	return out
}

// hunkOf reads "@@ -1,2 +3,4 @@"; a number of lines that is left out is 1.
func hunkOf(line string) fileHunk {
	h := fileHunk{OldLines: 1, NewLines: 1, Lines: []string{}}
	fields := strings.Fields(line)
	if len(fields) >= 3 {
		_, _ = fmt.Sscanf(fields[1], "-%d,%d", &h.OldStart, &h.OldLines)
		_, _ = fmt.Sscanf(fields[2], "+%d,%d", &h.NewStart, &h.NewLines)
	}
	return h
}
