package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool/args"
)

// The default limits of an output.
const (
	DefaultLines = 2000
	DefaultBytes = 50 << 10
)

// Limits is how much of an output a model sees; 0 is the default.
type Limits struct{ Lines, Bytes int }

// Output cuts a text that is too long for a model and saves the whole in a file.
type Output struct {
	Dir    string // where the files are; it is made when the first is written
	Limits Limits
	IDs    *lathe.IDs // names the files; nil is its own generator
	// Task says that the agent may hand work to another one, which is then the way proposed
	// to look into the file.
	Task bool
}

// Cut applies the limits to a result. A result whose metadata has truncated was cut by its
// tool and is left alone; any other gets truncated, and outputPath where a file was written.
//
// The result can always be used. An error beside it says that the whole text could not be
// saved, or that the metadata was no object and is lost.
func (o Output) Cut(s Spec, r Result) (Result, error) {
	meta, err := metadata(s, r.Metadata)
	for _, m := range meta {
		if m.Key == "truncated" {
			return r, nil
		}
	}
	shown, removed, cut := o.Limits.Truncate(r.Output, s.Tail)
	if !cut {
		r.Metadata = args.AppendMembers(nil, append(meta, args.Member{Key: "truncated", Val: []byte("false")}))
		return r, err
	}
	meta = append(meta, args.Member{Key: "truncated", Val: []byte("true")})
	path, hint := "", ""
	if file, failed := o.save(r.Output); failed != nil {
		err = errors.Join(err, failed)
		hint = "The rest is lost: it could not be written to a file. Run a narrower call to see it."
	} else {
		path = file
		hint = o.Hint(path)
		meta = append(meta, args.Member{Key: "outputPath", Val: args.AppendText(nil, path)})
	}
	r.Metadata = args.AppendMembers(nil, meta)
	marker := fmt.Sprintf("...%s truncated...", removed)
	if s.Tail {
		r.Output = marker + "\n\n" + hint + "\n\n" + shown
	} else {
		r.Output = shown + "\n\n" + marker + "\n\n" + hint
	}
	return r, err
}

func metadata(s Spec, raw json.RawMessage) ([]args.Member, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil, nil
	}
	if !json.Valid(raw) || args.KindOf(raw) != "object" {
		return nil, lathe.Errorf(lathe.Internal, "tool %s: its metadata is not a JSON object", s.Name)
	}
	return args.Members(raw), nil
}

func (o Output) Hint(path string) string {
	if o.Task {
		return fmt.Sprintf("The whole output is in %s. Let an explore agent search it (task: grep the file, read the lines that matter) and report; do not read all of it yourself.", path)
	}
	return fmt.Sprintf("The whole output is in %s. Search it with grep, or read the lines that matter with offset and limit.", path)
}

// Truncate returns the lines that fit, from the start or from the end, and what that left out.
// Where that would be nothing, because the first line alone is too long, it keeps the part of
// that line that fits, in whole characters.
func (l Limits) Truncate(text string, tail bool) (shown, removed string, cut bool) {
	if l.Lines <= 0 {
		l.Lines = DefaultLines
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	total := strings.Count(text, "\n") + 1
	if total <= l.Lines && len(text) <= l.Bytes {
		return text, "", false
	}
	lines := 0
	rest, next := text, cutHead
	if tail {
		next = cutTail
	}
	n := 0 // bytes saved
	for lines < l.Lines && lines < total {
		line, left := next(rest)
		joint := min(lines, 1) // the line break before it
		if n+joint+len(line) > l.Bytes {
			if n == max(lines-1, 0) && n+joint < l.Bytes { // nothing but line breaks so far
				n += joint + FitLine(line, l.Bytes-n-joint, tail)
			}
			lines = -1
			break
		}
		n, rest = n+joint+len(line), left
		lines++
	}
	if shown = text[:n]; tail {
		shown = text[len(text)-n:]
	}
	if lines < 0 {
		return shown, fmt.Sprintf("%d bytes", len(text)-n), true
	}
	return shown, fmt.Sprintf("%d lines", total-lines), true
}

func cutHead(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	return line, rest
}

func cutTail(s string) (line, rest string) {
	i := strings.LastIndexByte(s, '\n')
	return s[i+1:], s[:max(i, 0)]
}

// FitLine returns how many bytes of a line fit without cutting a character.
func FitLine(line string, most int, tail bool) int {
	n := min(most, len(line))
	if tail {
		for n > 0 && n > most-utf8.UTFMax && !utf8.RuneStart(line[len(line)-n]) {
			n--
		}
		return n
	}
	for n > 0 && n < len(line) && n > most-utf8.UTFMax && !utf8.RuneStart(line[n]) {
		n--
	}
	return n
}

// ForSession keeps the files of a session in its own folder, which is all that its commands see
// of them.
func (o Output) ForSession(session lathe.SessionID) Output {
	if o.Dir != "" && session != "" {
		o.Dir = filepath.Join(o.Dir, string(session))
	}
	return o
}

// save writes the text to its own file. It appears under its name only when it is whole.
func (o Output) save(text string) (path string, err error) {
	ids := o.IDs
	if ids == nil {
		ids = lathe.NewIDs()
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return "", fmt.Errorf("keep a long output: %w", err)
	}
	path = filepath.Join(o.Dir, ids.New(lathe.PrefixTool))
	f, err := os.OpenFile(path+".part", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("keep a long output: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one that matters
		return "", fmt.Errorf("keep a long output: %w", err)
	}
	return path, nil
}

// Prune deletes the files of [Output] in dir that were last written before a time, also
// halves that a dead process left, and returns how many: in dir and in the folders of sessions, which go
// with their last file. Other files stay. A file that cannot be deleted does not keep the others from it.
func Prune(dir string, before time.Time) (int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	var failed []error
	if err != nil {
		failed = append(failed, err)
	}
	n := 0
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), string(lathe.PrefixSession)+"_") {
			gone, err := Prune(filepath.Join(dir, e.Name()), before)
			n, failed = n+gone, append(failed, err)
			_ = os.Remove(filepath.Join(dir, e.Name())) // it stays while it has files
			continue
		}
		if !strings.HasPrefix(e.Name(), string(lathe.PrefixTool)+"_") || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err == nil && info.ModTime().Before(before) {
			if err = os.Remove(filepath.Join(dir, e.Name())); err == nil {
				n++
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return n, fmt.Errorf("prune outputs: %w", err)
	}
	return n, nil
}
