package gitobj

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/filestat"
)

// racyTime is how long a second change may leave the same time stamp: file system clocks tick every few
// milliseconds.
const racyTime = 20 * time.Millisecond

// Clean reports whether a file with a stat and one of git's modes is as the index has it, and was not
// written at the moment the index was. written is the modification time of the index file.
func (e *IndexEntry) Clean(st filestat.Stat, mode uint32, written int64) bool {
	if e.Unmerged || e.IntentToAdd || e.Mode != mode || e.Size != uint32(st.Size) || e.Inode != uint32(st.Inode) {
		return false
	}
	if !sameTime(e.MtimeSec, e.MtimeNano, st.Mtime) || !sameTime(e.CtimeSec, e.CtimeNano, st.Ctime) {
		return false
	}
	return st.Mtime < written-int64(racyTime) && (e.MtimeNano != 0 || st.Mtime < written-int64(2*time.Second))
}

// sameTime compares with a time that git wrote, which may be in whole seconds.
func sameTime(sec, nano uint32, unix int64) bool {
	return uint32(unix/1e9) == sec && (nano == 0 || uint32(unix%1e9) == nano)
}

// StoresExactly reports whether a file that is clean also has the bytes of its object. It looks for rules
// that make files differ from their committed contents.
func (r *Repo) StoresExactly(list []IndexEntry) bool {
	config, err := r.Config()
	if err != nil {
		return false
	}
	if crlf := strings.ToLower(config.Last("core.autocrlf")); crlf == "true" || crlf == "input" || config.Last("core.eol") != "" {
		return false
	}
	for i := range list {
		path := list[i].Path
		if path != ".gitattributes" && !strings.HasSuffix(path, "/.gitattributes") {
			continue
		}
		_, text, err := r.Object(list[i].ID)
		if err != nil || converts(text) {
			return false
		}
	}
	text, err := ReadFile(r.InfoFile("attributes"), 1<<20)
	if err == nil && converts(text) || errors.Is(err, ErrTooLarge) {
		return false
	}
	return r.sampled(list)
}

// converts reports whether attributes can make a file differ from its content in the repository.
func converts(attributes []byte) bool {
	words := [...]string{"filter=", "eol=", "ident", "working-tree-encoding", "crlf"}
	return slices.ContainsFunc(words[:], func(w string) bool { return bytes.Contains(attributes, []byte(w)) })
}

// sampled compares the sizes of a few files with those of their contents. This detects filters of the
// user's global config, which is not read.
func (r *Repo) sampled(list []IndexEntry) bool {
	const samples = 48
	step := max(1, len(list)/samples)
	for i := 0; i < len(list); i += step {
		e := &list[i]
		if e.Mode&0o170000 != 0o100000 || e.Size == 0 || e.Size > 1<<20 || e.Skip || e.Unmerged || e.IntentToAdd || e.MtimeSec == 0 {
			continue
		}
		if _, data, err := r.Object(e.ID); err == nil && uint32(len(data)) != e.Size {
			return false
		}
	}
	return true
}
