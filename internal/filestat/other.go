//go:build !unix

package filestat

import "io/fs"

func (*Stat) fill(fs.FileInfo) {}
