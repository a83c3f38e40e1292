package snapshot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/filelock"
)

// sweep replaces packfiles with many unreferenced objects by one with the rest.
func (h *worktreeDir) sweep(ctx context.Context) error {
	var waste, small []*packList
	for _, l := range h.packs {
		used := int64(0)
		for _, e := range l.entries {
			if h.objects[e.id].marked {
				used += int64(headSize + e.size)
			}
		}
		switch {
		case time.Since(l.young) < graceTime:
		case used == 0 || l.size-used > l.size/wasteShare:
			waste = append(waste, l)
		case l.size < smallPack:
			small = append(small, l)
		}
	}
	if len(small) > manyPacks {
		waste = append(waste, small...)
	}
	if len(waste) > 0 {
		if err := h.compact(ctx, waste); err != nil {
			return err
		}
	}
	return h.removeDead()
}

// compact copies referenced objects out of packfiles and removes those. Packfiles in use by a writer
// stay.
func (h *worktreeDir) compact(ctx context.Context, packs []*packList) error {
	temp := h.path(objectsDir, tempName())
	h.disk.at("create", temp)
	out, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	var done []string
	copied := map[oid]bool{}
	for _, l := range packs {
		if err = ctx.Err(); err != nil {
			break
		}
		var free bool
		if free, err = h.copyPack(out, l, copied); err != nil {
			break
		}
		if free {
			done = append(done, l.path)
		}
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil || len(copied) == 0 {
		if failed := h.disk.remove(temp); err != nil {
			return errors.Join(err, failed)
		}
	} else {
		h.disk.at("rename", temp)
		if err := os.Rename(temp, h.path(objectsDir, strings.TrimPrefix(filepath.Base(temp), tempPrefix))); err != nil {
			return err
		}
	}
	for _, path := range done {
		if err := h.disk.remove(path); err != nil {
			return err
		}
	}
	return nil
}

// copyPack copies the referenced objects of one packfile that are not copied yet. It reports whether the
// packfile can be removed.
func (h *worktreeDir) copyPack(out *os.File, l *packList, copied map[oid]bool) (bool, error) {
	in, err := os.OpenFile(l.path, os.O_RDWR, 0)
	if err != nil {
		return false, nil // removed meanwhile
	}
	defer in.Close()
	if filelock.TryLock(in) != nil {
		return false, nil // in use by a writer
	}
	if info, err := in.Stat(); err != nil || info.Size() != l.size {
		return false, err
	}
	h.disk.at("copy", l.path)
	for _, e := range l.entries {
		if copied[e.id] || !h.objects[e.id].marked {
			continue
		}
		record := make([]byte, headSize+e.size)
		if _, err := in.ReadAt(record, e.off-int64(headSize)); err != nil {
			return false, err
		}
		if _, err := out.Write(record); err != nil {
			return false, err
		}
		copied[e.id] = true
	}
	return true, nil
}
