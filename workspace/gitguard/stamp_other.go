//go:build !linux

package gitguard

import "io/fs"

func stampOf(info fs.FileInfo) stamp { return stamp{time: info.ModTime()} }
