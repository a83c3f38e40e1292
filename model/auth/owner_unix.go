//go:build unix

package auth

import (
	"io/fs"
	"os"
	"syscall"
)

// stranger returns the owner of a file that belongs to somebody else: it would choose the account that prompts are sent to. Root may
// work with the files of the user who ran sudo.
func stranger(info fs.FileInfo) (uid uint32, ok bool) {
	s, known := info.Sys().(*syscall.Stat_t)
	if !known || os.Geteuid() == 0 {
		return 0, false
	}
	return s.Uid, int64(s.Uid) != int64(os.Geteuid())
}
