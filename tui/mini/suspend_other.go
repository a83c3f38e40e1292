//go:build !unix

package mini

// suspend does nothing: this system has no job control.
func suspend() {}
