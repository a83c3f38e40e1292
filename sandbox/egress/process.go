package egress

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// The limits of a look at the sockets of a process: its list travels in one message.
const (
	mostFiles     = 4096
	mostListening = 8
)

// PortsOf returns the TCP ports that a process listens on, smallest first. A process that cannot be looked into has none,
// and on systems without /proc no process has.
func PortsOf(pid int) (ports []uint16) {
	at := "/proc/" + strconv.Itoa(pid)
	dir, err := os.Open(at + "/fd")
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(mostFiles) // a partial list is better than none
	_ = dir.Close()
	sockets := map[string]bool{}
	for _, name := range names {
		link, _ := os.Readlink(at + "/fd/" + name) // closed meanwhile: none
		if inode, ok := strings.CutPrefix(link, "socket:["); ok {
			sockets[strings.TrimSuffix(inode, "]")] = true
		}
	}
	if len(sockets) == 0 {
		return nil
	}
	for _, table := range []string{"/net/tcp", "/net/tcp6"} {
		f, err := os.Open(at + table)
		if err != nil {
			continue
		}
		for socket := range Sockets(f) {
			if sockets[socket.Inode] && !slices.Contains(ports, socket.At.Port()) {
				ports = append(ports, socket.At.Port())
			}
		}
		_ = f.Close() // it was only read
	}
	slices.Sort(ports)
	return ports[:min(len(ports), mostListening)]
}
