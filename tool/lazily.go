package tool

import (
	"regexp"
	"sync"
)

// lazily compiles an expression when it is first needed: what is done before main is paid by
// every command.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
