//go:build !linux

package fence

import "time"

// Now returns the time of the system's clock. Only Linux has one that nobody can set and that counts while the
// machine is suspended.
func Now() time.Duration { return time.Duration(time.Now().UnixNano()) }
