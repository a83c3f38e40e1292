//go:build !linux || (!amd64 && !arm64)

package hostiletest

import "errors"

// watch needs the kernel's help, which only Linux gives to everyone.
func watch() error { return errors.ErrUnsupported }
