package gitobj

import "bytes"

// maxCommit is how large a commit or tag may be in a walk.
const maxCommit = 8 << 20

// parseCommit reads the parents of a commit.
func parseCommit(data []byte, hash int) ([]ID, error) {
	_, rest, ok := cutID(data, "tree ", hash)
	if !ok {
		return nil, corrupt("a commit has no tree")
	}
	var parents []ID
	for {
		parent, after, ok := cutID(rest, "parent ", hash)
		if !ok {
			return parents, nil
		}
		parents, rest = append(parents, parent), after
	}
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

// parseTag returns what an annotated tag is put on.
func parseTag(data []byte, hash int) (ID, error) {
	id, _, ok := cutID(data, "object ", hash)
	if !ok {
		return ID{}, corrupt("a tag has no object")
	}
	return id, nil
}
