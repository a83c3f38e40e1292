package workspace

import "golang.org/x/sys/unix"

// dropRoot takes the rights to files from the present thread.
func dropRoot() bool {
	_, gone := unix.SetfsgidRetGid(65534)
	if gone != nil {
		return false
	}
	_, gone = unix.SetfsuidRetUid(65534)
	return gone == nil
}

// exchange gives each of two files the name of the other, at once.
func exchange(a, b string) {
	_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
