package workspace

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// accessList is the attribute with the access list of a file.
const accessList = "system.posix_acl_access"

// vouches says that an attribute belongs to the content: the kernel takes the first away from a file
// that is written, and the others are sums of it. Trusted ones are the kernel's and root's own.
func vouches(name string) bool {
	return name == "security.capability" || name == "security.ima" || name == "security.evm" || strings.HasPrefix(name, "trusted.")
}

// mustKeep says that an attribute is the user's.
func mustKeep(name string) bool { return strings.HasPrefix(name, "user.") || name == accessList }

// dropForeign takes away an access list that a new file got of its directory and the old one had not.
func dropForeign(fd int, had []string) error {
	if slices.Contains(had, accessList) {
		return nil
	}
	err := unix.Fremovexattr(fd, accessList)
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM) {
		return nil
	}
	return err
}
