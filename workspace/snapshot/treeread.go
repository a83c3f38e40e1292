package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
)

// treeEntry is one entry of a tree.
type treeEntry struct {
	name string
	mode uint32
	id   oid
}

// readTree reads a tree, sorted by plain names.
func (o *objects) readTree(id oid) ([]treeEntry, error) {
	kind, data, err := o.get(id)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errNotStored
		}
		return nil, fmt.Errorf("read the tree %s: %w", id, err)
	}
	if kind != gitobj.TreeKind {
		return nil, fmt.Errorf("the object %s is a %s, not a tree: %w", id, kind, errNotStored)
	}
	var list []treeEntry
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, named := bytes.Cut(head, []byte(" "))
		m, err := strconv.ParseUint(string(mode), 8, 32)
		if !ok || !named || err != nil || len(rest) < len(oid{}) || badName(string(name)) {
			return nil, fmt.Errorf("the tree %s is damaged: %w", id, errNotStored)
		}
		e := treeEntry{name: string(name), mode: uint32(m)}
		copy(e.id[:], rest)
		data = rest[len(e.id):]
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b treeEntry) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// badName reports names that lead out of their directory.
func badName(name string) bool {
	return name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || strings.EqualFold(name, repoDir)
}

// parseTree parses a tree ID.
func parseTree(tree string) (oid, error) {
	id, ok := parseOID(tree)
	if !ok {
		return id, fmt.Errorf("%.60q is not a snapshot ID: %w", tree, errNotStored)
	}
	return id, nil
}

// entryIn returns the entry of a tree at a path; zero if there is none.
func (o *objects) entryIn(tree oid, path string) (treeEntry, error) {
	for {
		name, rest, more := strings.Cut(path, "/")
		list, err := o.readTree(tree)
		if err != nil {
			return treeEntry{}, err
		}
		i, ok := slices.BinarySearchFunc(list, name, func(e treeEntry, name string) int { return strings.Compare(e.name, name) })
		if !ok || more && list[i].mode != modeTree {
			return treeEntry{}, nil
		}
		if !more {
			if list[i].mode == modeTree {
				return treeEntry{}, nil
			}
			return list[i], nil
		}
		tree, path = list[i].id, rest
	}
}

func (e treeEntry) state() state {
	if e.mode == 0 || e.mode == modeTree || e.mode == modeRepo {
		return state{}
	}
	s := state{Mode: e.mode, ID: e.id.hex(), Perm: 0o644}
	if e.mode == modeExec {
		s.Perm = 0o755
	}
	return s
}

// diffTrees calls differ for each file that differs between two trees. A zero oid is an empty tree.
func (o *objects) diffTrees(a, b oid, prefix string, differ func(path string, a, b treeEntry)) error {
	if a == b {
		return nil
	}
	left, err := o.readMaybe(a)
	if err != nil {
		return err
	}
	right, err := o.readMaybe(b)
	if err != nil {
		return err
	}
	for len(left) > 0 || len(right) > 0 {
		var x, y treeEntry
		order := 0
		switch {
		case len(right) == 0:
			order = -1
		case len(left) == 0:
			order = 1
		default:
			order = strings.Compare(left[0].name, right[0].name)
		}
		if order <= 0 {
			x, left = left[0], left[1:]
		}
		if order >= 0 {
			y, right = right[0], right[1:]
		}
		if err := o.diffEntries(x, y, prefix, differ); err != nil {
			return err
		}
	}
	return nil
}

func (o *objects) readMaybe(id oid) ([]treeEntry, error) {
	if id == (oid{}) {
		return nil, nil
	}
	return o.readTree(id)
}

func (o *objects) diffEntries(x, y treeEntry, prefix string, differ func(path string, a, b treeEntry)) error {
	path := prefix + x.name
	if x.name == "" {
		path = prefix + y.name
	}
	var below [2]oid
	file := [2]treeEntry{x, y}
	for i, e := range file {
		if e.mode == modeTree {
			below[i], file[i] = e.id, treeEntry{}
		}
	}
	if file[0].mode != file[1].mode || file[0].id != file[1].id {
		differ(path, file[0], file[1])
	}
	return o.diffTrees(below[0], below[1], path+"/", differ)
}
