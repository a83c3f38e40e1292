package server

import (
	"context"
	"errors"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/search"
)

// findAPI searches the files of a project.
type findAPI struct{ folders Folders }

func (a findAPI) routes() []row {
	bad := []failure{failsBad}
	return []row{
		answer(route("GET /find", "find.text", "file", mayAll, "Find lines by a regular expression, at most ten", bad), inPlace(a.findText)),
		answer(route("GET /find/file", "find.files", "file", mayAll,
			"Find files and folders by parts of their path, best match first", bad), inPlace(a.findFiles)),
		answer(route("GET /api/fs/find", "v2.fs.find", "api", mayAll,
			"Find files and folders by parts of their path, best match first", bad), inPlace(a.findEntries)),
	}
}

const (
	mostLines   = 10               // that are found
	mostSpans   = 100              // of matches in one line
	searchTime  = 20 * time.Second // after which a search is given up
	mostPattern = 4096             // bytes
)

type textQuery struct {
	Pattern *string `query:"pattern"`
}

type (
	foundLine struct {
		Path   foundText   `json:"path"`
		Lines  foundText   `json:"lines"`
		Number int         `json:"line_number"`
		Offset int64       `json:"absolute_offset"`
		Spans  []foundSpan `json:"submatches"`
	}
	foundText struct {
		Text string `json:"text"`
	}
	foundSpan struct {
		Match foundText `json:"match"`
		Start int       `json:"start"`
		End   int       `json:"end"`
	}
)

// findText finds lines in the files of the directory that are not ignored. Offsets are of bytes.
func (a findAPI) findText(c *call, at workspace.Place, q textQuery, _ none) ([]foundLine, error) {
	if q.Pattern == nil || *q.Pattern == "" {
		return nil, badRequest("Query", "Missing key at [\"pattern\"]")
	}
	if len(*q.Pattern) > mostPattern {
		return nil, badRequest("Query", "pattern is longer than %d bytes", mostPattern)
	}
	re, err := search.ParseRegexp(*q.Pattern, !search.FoldCase)
	if err != nil {
		return nil, badRequest("Query", "pattern: %v", err)
	}
	ctx, stop := context.WithTimeout(c.Context(), searchTime)
	defer stop()
	found, err := search.Grep(ctx, search.Query{Root: realDir(at), Limit: mostLines, Hidden: true, ExcludesFile: a.folders.excludes()}, re, nil)
	if err != nil {
		return nil, searchTimeout(c.Context(), err)
	}
	out := []foundLine{}
	for _, f := range found.Files {
		for _, l := range f.Lines {
			one := foundLine{Path: foundText{f.Path}, Lines: foundText{l.Text + "\n"}, Number: l.Number, Offset: l.Offset, Spans: []foundSpan{}}
			for _, span := range re.Spans(l.Text, mostSpans) {
				one.Spans = append(one.Spans, foundSpan{foundText{l.Text[span[0]:span[1]]}, span[0], span[1]})
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// searchTimeout is the error of a search that timed out.
func searchTimeout(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return lathe.Errorf(lathe.Unavailable, "the search took longer than %v; search in a smaller directory", searchTime)
	}
	return err
}

type filesQuery struct {
	Query *string `query:"query"`
	Dirs  *string `query:"dirs"`
	Type  string  `query:"type"`
	Limit *string `query:"limit"`
}

// findFiles finds paths; those of folders end in a slash.
func (a findAPI) findFiles(c *call, at workspace.Place, q filesQuery, _ none) ([]string, error) {
	found, err := a.entries(c, at, q)
	out := make([]string, 0, len(found))
	for _, e := range found {
		out = append(out, e.Path)
	}
	return out, err
}

type (
	foundEntries struct {
		Location location     `json:"location"`
		Data     []foundEntry `json:"data"`
	}
	foundEntry struct {
		Path string `json:"path"`
		Type string `json:"type" enum:"file,directory"`
	}
)

// findEntries is findFiles as the next API has it.
func (a findAPI) findEntries(c *call, at workspace.Place, q filesQuery, _ none) (foundEntries, error) {
	found, err := a.entries(c, at, q)
	return foundEntries{Location: locationOf(at), Data: found}, err
}

const (
	listedFiles = 10      // that are found unless the query says otherwise
	mostFound   = 200     // and at most
	mostFiles   = 200_000 // that are looked at
)

// entries finds the best matches of a query.
func (a findAPI) entries(c *call, at workspace.Place, q filesQuery) ([]foundEntry, error) {
	kind, limit, err := q.read()
	if err != nil {
		return nil, err
	}
	found, err := findPaths(c.Context(), a.folders, at, *q.Query, kind, limit)
	out := make([]foundEntry, 0, len(found))
	for _, path := range found {
		e := foundEntry{Path: path, Type: "file"}
		if path[len(path)-1] == '/' {
			e.Type = "directory"
		}
		out = append(out, e)
	}
	return out, err
}

// FindFiles finds files and folders by parts of their paths, best match first. Folders end in a slash.
func FindFiles(ctx context.Context, f Folders, at workspace.Place, query string, limit int) ([]string, error) {
	if limit <= 0 {
		limit = listedFiles
	}
	return findPaths(ctx, f, at, query, "", min(limit, mostFound))
}

func findPaths(ctx context.Context, f Folders, at workspace.Place, query, kind string, limit int) ([]string, error) {
	all, err := search.ParsePattern("**")
	if err != nil {
		return nil, err
	}
	within, stop := context.WithTimeout(ctx, searchTime)
	defer stop()
	files, err := search.Glob(within, search.Query{Root: realDir(at), Limit: mostFiles, Hidden: true, ExcludesFile: f.excludes()}, all)
	if err != nil {
		return nil, searchTimeout(ctx, err)
	}
	return rank(query, candidates(files.Paths, kind, query == ""), limit), nil
}

// read checks a query: which kind is wanted, "" for both, and how many.
func (q filesQuery) read() (kind string, limit int, err error) {
	switch {
	case q.Query == nil:
		return "", 0, badRequest("Query", "Missing key at [\"query\"]")
	case len(*q.Query) > mostPattern:
		return "", 0, badRequest("Query", "query is longer than %d bytes", mostPattern)
	case q.Type != "" && q.Type != "file" && q.Type != "directory":
		return "", 0, badRequest("Query", "type: expected file or directory, not %q", phrase.Shorten(q.Type, 40))
	}
	kind, limit = q.Type, listedFiles
	if q.Dirs != nil {
		switch {
		case *q.Dirs != "true" && *q.Dirs != "false":
			return "", 0, badRequest("Query", "dirs: expected true or false, not %q", phrase.Shorten(*q.Dirs, 40))
		case *q.Dirs == "false" && kind == "":
			kind = "file"
		}
	}
	if q.Limit != nil {
		limit = number1(*q.Limit, mostFound)
		if limit == 0 {
			return "", 0, badRequest("Query", "limit: expected a whole number from 1 to %d, not %q", mostFound, phrase.Shorten(*q.Limit, 40))
		}
	}
	return kind, limit, nil
}
