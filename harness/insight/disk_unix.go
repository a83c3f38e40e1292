//go:build linux || darwin

package insight

import "golang.org/x/sys/unix"

// freeSpace is how many bytes a user can still write to the disk of a folder.
func freeSpace(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
