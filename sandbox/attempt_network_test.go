//go:build linux

package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tryNetwork tries what needs more than a connection.
func tryNetwork(what, on string) error {
	switch what {
	case "answer": // by UDP, as names are looked up
		conn, err := net.Dial("udp", on)
		if err != nil {
			return err
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		if _, err := conn.Write([]byte("question")); err != nil {
			return err
		}
		_, err = conn.Read(make([]byte, 1))
		return err
	case "fetch": // as programs do, by the proxy that the environment names
		resp, err := http.Get(on)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", resp.Status, body)
		}
		fmt.Printf("%s\n", body)
		return err
	case "pages": // until the file that is named is gone
		addr, file, _ := strings.Cut(on, ",")
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "inside") }))
		for {
			if _, err := os.Stat(file); err != nil {
				return l.Close()
			}
			<-time.After(5 * time.Millisecond)
		}
	case "vsock":
		fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	}
	return fmt.Errorf("unknown: %s", what)
}
