//go:build !unix

package snapshot

import "io/fs"

func statOf(info fs.FileInfo) stat {
	return stat{size: info.Size(), mtime: info.ModTime().UnixNano(), perm: uint32(info.Mode().Perm())}
}
