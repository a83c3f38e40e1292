package builtin

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace"
)

//go:embed read.md
var readText string

const (
	readLines   = 2000     // where no limit is asked for
	readWidth   = 2000     // characters of a line
	readBytes   = 50 << 10 // of all lines together
	previewSize = 20       // lines or entries
	mediaBytes  = 20 << 20 // of an image or document
)

// ReadConfig configures the read tool.
type ReadConfig struct {
	Tracker *ReadTracker // shared with the tools that write
	// Instructions is the names of files that instruct the model about the directory they are
	// in, the most preferred first; of each directory one is shown.
	Instructions []string
	// InPrompt returns the instruction files that the system prompt of a session in that
	// directory has already, by real path. It may be nil.
	InPrompt func(dir string) []string
	// Buffers are the unsaved files of an editor; nil has none.
	Buffers Buffers
}

type readInput struct {
	FilePath string `json:"filePath" jsonschema:"the file or directory: /repo/src/main.go"`
	Offset   uint   `json:"offset,omitempty" jsonschema:"the first line, counted from 1: 400"`
	Limit    uint   `json:"limit,omitempty" jsonschema:"how many lines: 100"`
}

// Read returns the tool that reads files and directories.
func Read(cfg ReadConfig) tool.Tool {
	spec := tool.Spec{Name: "read", Description: strings.TrimSpace(readText)}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in readInput) (tool.Result, error) {
		t, err := target.Locate(c, in.FilePath)
		if err != nil {
			return tool.Result{}, err
		}
		if err := target.AskRead(ctx, c, t); err != nil {
			return tool.Result{}, err
		}
		if err := c.Host.Ask(ctx, tool.Permission{Name: "read", Patterns: t.Patterns(), Always: []string{"*"}}); err != nil {
			return tool.Result{}, err
		}
		r := readRun{ctx: ctx, cfg: cfg, call: c, target: t, first: 1, limit: readLines}
		return r.run(int(min(in.Offset, math.MaxInt)), int(min(in.Limit, math.MaxInt)))
	})
}

// ReadFile reads what a user attached to a prompt: the result is that of the tool, asked for
// nothing and without instruction files, which the model's own reads bring. Of the call it
// takes Dir and Root. Offset and limit are 0 where the user named no lines.
func ReadFile(ctx context.Context, c *tool.Call, path string, offset, limit int) (tool.Result, error) {
	t, err := target.Locate(c, path)
	if err != nil {
		return tool.Result{}, err
	}
	r := readRun{ctx: ctx, target: t, first: 1, limit: readLines}
	return r.run(max(offset, 0), max(limit, 0))
}

// readRun is one call of the tool.
type readRun struct {
	ctx    context.Context // of the one call this belongs to
	cfg    ReadConfig
	call   *tool.Call // nil for an attachment
	target target.Target
	first  int // the first line or entry to show, counted from 1
	limit  int
}

// readMeta is the metadata of a result, as clients know it.
type readMeta struct {
	Preview   string   `json:"preview"`
	Truncated bool     `json:"truncated"`
	Loaded    []string `json:"loaded"`
	Display   any      `json:"display,omitempty"` // a fileDisplay or dirDisplay
}

// run returns lines of a file with their numbers.
func (r readRun) run(offset, limit int) (tool.Result, error) {
	if offset > 0 {
		r.first = offset
	}
	if limit > 0 {
		r.limit = limit
	}
	if r.target.IsDir() {
		return r.directory()
	}
	file, err := r.target.Open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if text, ok := r.unsaved(""); ok { // a new file in the editor
			return r.text(strings.NewReader(text), int64(len(text)))
		}
		return tool.Result{}, target.NotFound(r.target, "read")
	case errors.Is(err, workspace.ErrNotFile):
		return tool.Result{}, tool.Failf("Cannot read %s: %w. Use bash if you must have what is in it, with a limit on time and size.", r.target.Shown, err)
	case err != nil:
		return tool.Result{}, tool.Failf("Cannot read %s: %w.", r.target.Shown, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return tool.Result{}, tool.Failf("Cannot read %s: %w.", r.target.Shown, err)
	}
	sample, err := target.ReadSample(file)
	if err != nil {
		return tool.Result{}, tool.Failf("Cannot read %s: %w.", r.target.Shown, err)
	}
	if mime := target.MediaType(r.target.Path, sample); mime != "" {
		return r.media(mime, info.Size())
	}
	if err := target.RefuseBinary(r.target, sample, info.Size()); err != nil {
		return tool.Result{}, err
	}
	if r.cfg.Buffers != nil && info.Size() <= sumLimit {
		if disk, err := r.target.ReadAll(sumLimit); err == nil {
			if text, ok := r.unsaved(string(disk)); ok {
				return r.text(strings.NewReader(text), int64(len(text)))
			}
		}
	}
	return r.text(file, info.Size())
}

// unsaved is the text of the file in the editor, if it differs from the one on disk.
func (r readRun) unsaved(disk string) (string, bool) {
	return overlay{r.cfg.Buffers, r.call}.unsaved(r.ctx, r.target, disk)
}

// result puts together what all kinds have. The sum is of the content, where it is known.
func (r readRun) result(output string, meta readMeta, sum *string) (tool.Result, error) {
	if meta.Loaded == nil {
		meta.Loaded = []string{}
	}
	raw, err := json.Marshal(meta)
	if err != nil {
		return tool.Result{}, err
	}
	if sum != nil {
		sums := map[string]string{r.target.Path: *sum}
		raw = withReads(raw, sums)
		if r.call != nil {
			r.cfg.Tracker.note(r.call, sums)
		}
	}
	return tool.Result{Title: r.target.Title, Output: output, Metadata: raw}, nil
}

// media attaches an image or a document.
func (r readRun) media(mime string, size int64) (tool.Result, error) {
	what := "Image"
	if mime == "application/pdf" {
		what = "PDF"
	}
	if size > mediaBytes {
		return tool.Result{}, tool.Failf("Cannot read %s: the %s has %s, and at most %s can be attached. Make a smaller copy with a command and read that.",
			r.target.Shown, strings.ToLower(what), phrase.Size(size), phrase.Size(mediaBytes))
	}
	data, err := r.target.ReadAll(mediaBytes)
	if err != nil {
		return tool.Result{}, tool.Failf("Cannot read %s: %w.", r.target.Shown, err)
	}
	line := fmt.Sprintf("%s read successfully: %s, %s.", what, mime, phrase.Size(int64(len(data))))
	sum := sumOf(data)
	res, err := r.result(line, readMeta{Preview: line}, &sum)
	res.Attachments = []*lathe.File{{Mime: mime, URL: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)}}
	return res, err
}
