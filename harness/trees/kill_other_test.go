//go:build !unix

package trees

import "os"

// kill ends this process without any cleanup.
func kill() { os.Exit(1) }
