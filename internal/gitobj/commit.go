package gitobj

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"
)

// maxCommit is how large a commit or tag may be in a walk.
const maxCommit = 8 << 20

// Commit is what a commit says about its place in the history.
type Commit struct {
	Tree    ID
	Parents []ID
	Time    time.Time // when it was committed; zero if it does not tell
}

// Commit reads a commit.
func (r *Repo) Commit(id ID) (Commit, error) {
	at, err := r.find(id)
	if err != nil {
		return Commit{}, fmt.Errorf("read object %s: %w", id, err)
	}
	kind, data, err := r.read(context.Background(), at, id, maxCommit)
	if err != nil {
		return Commit{}, err
	}
	if kind != CommitKind {
		return Commit{}, fmt.Errorf("object %s is a %s, not a commit", id, kind)
	}
	c, err := parseCommit(data, r.hash)
	if err != nil {
		return Commit{}, fmt.Errorf("read commit %s: %w", id, err)
	}
	return c, nil
}

// parseCommit reads the head of a commit: its tree, its parents, who wrote it and when.
func parseCommit(data []byte, hash int) (Commit, error) {
	var c Commit
	tree, rest, ok := cutID(data, "tree ", hash)
	if !ok {
		return c, corrupt("a commit has no tree")
	}
	c.Tree = tree
	for {
		parent, after, ok := cutID(rest, "parent ", hash)
		if !ok {
			break
		}
		c.Parents, rest = append(c.Parents, parent), after
	}
	c.Time = commitTime(rest)
	return c, nil
}

// cutID takes a line with an id off the front.
func cutID(data []byte, name string, hash int) (id ID, rest []byte, ok bool) {
	after, ok := bytes.CutPrefix(data, []byte(name))
	if !ok || len(after) <= 2*hash || after[2*hash] != '\n' {
		return ID{}, data, false
	}
	if id, ok = parseHex(after[:2*hash]); !ok {
		return ID{}, data, false
	}
	return id, after[2*hash+1:], true
}

// commitTime finds the seconds behind the committer. The zone only says how people
// there would write them.
func commitTime(rest []byte) time.Time {
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		if len(line) == 0 {
			break // the message begins
		}
		if who, ok := bytes.CutPrefix(line, []byte("committer ")); ok {
			fields := bytes.Fields(who[bytes.LastIndexByte(who, '>')+1:])
			if len(fields) == 0 {
				break
			}
			seconds, err := strconv.ParseInt(string(fields[0]), 10, 64)
			if err != nil {
				break
			}
			return time.Unix(seconds, 0).UTC()
		}
		rest = after
	}
	return time.Time{}
}

// parseTag returns what an annotated tag is put on.
func parseTag(data []byte, hash int) (ID, error) {
	id, _, ok := cutID(data, "object ", hash)
	if !ok {
		return ID{}, corrupt("a tag has no object")
	}
	return id, nil
}
