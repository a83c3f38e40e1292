package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe/sandbox/egress"
)

func (p *PeerChecker) check(c net.Conn) error {
	switch c := c.(type) {
	case *net.UnixConn:
		return checkUnixPeer(c)
	case *net.TCPConn:
		return p.checkTCPPeer(c)
	}
	return nil
}

// checkUnixPeer asks the kernel who connected.
func checkUnixPeer(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var who *unix.Ucred
	if err2 := raw.Control(func(fd uintptr) { who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err2 != nil || err != nil {
		return errors.Join(ErrCommandPeer, err, err2)
	}
	if who.Pid == 0 { // it is outside of our PID namespace, and all commands are inside
		return nil
	}
	return checkAncestors(int(who.Pid))
}

// checkTCPPeer finds the other end among the local sockets, and the process that holds it.
func (p *PeerChecker) checkTCPPeer(c *net.TCPConn) error {
	client, server := addrPort(c.RemoteAddr()), addrPort(c.LocalAddr())
	s, found := socketBetween(client, server)
	switch {
	case !found && isLocalAddr(client.Addr()):
		return fmt.Errorf("%w, or has closed its connection already", ErrCommandPeer)
	case !found:
		return nil // of another machine
	case os.Geteuid() != 0 && s.uid != os.Geteuid() && s.inode != 0:
		return nil // of another user; commands are ours
	}
	// Clients come back, and commands are young, so those are looked at first.
	pid := holder(s.inode, append(slices.Clone(p.first()), newestFirst()...))
	if pid == 0 {
		return fmt.Errorf("%w, or hides its process", ErrCommandPeer)
	}
	if err := checkAncestors(pid); err != nil {
		return err
	}
	p.remember(pid)
	return nil
}

// socket is a row of /proc/net/tcp.
type socket struct {
	uid   int
	inode uint64 // 0 means that no process holds it any more
}

// socketBetween finds the socket that is bound to one address and connected to another.
func socketBetween(local, remote netip.AddrPort) (socket, bool) {
	found := findSockets(local.Port(), func(l, r netip.AddrPort) bool { return l == local && r == remote })
	if len(found) == 0 {
		return socket{}, false
	}
	return found[0], true
}

// findSockets returns the sockets of this network that are bound to a port and fit.
func findSockets(port uint16, fits func(local, remote netip.AddrPort) bool) (out []socket) {
	for _, name := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		out = append(out, scanSockets(f, port, fits)...)
		_ = f.Close() // it was only read
	}
	return out
}

func scanSockets(f *os.File, port uint16, fits func(local, remote netip.AddrPort) bool) (out []socket) {
	mark := fmt.Appendf(nil, ":%04X ", port)
	for in := bufio.NewScanner(f); in.Scan(); {
		if !bytes.Contains(in.Bytes(), mark) {
			continue
		}
		f := strings.Fields(in.Text()) // sl local remote state queues timer retransmits uid timeout inode
		if len(f) < 10 || !fits(egress.ParseTableAddr(f[1]), egress.ParseTableAddr(f[2])) {
			continue
		}
		uid, err1 := strconv.Atoi(f[7])
		inode, err2 := strconv.ParseUint(f[9], 10, 64)
		if err1 == nil && err2 == nil {
			out = append(out, socket{uid, inode})
		}
	}
	return out
}

func addrPort(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := t.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
}

// isLocalAddr reports whether an address is local.
func isLocalAddr(a netip.Addr) bool {
	if a.IsLoopback() {
		return true
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(all, func(n net.Addr) bool {
		ip, ok := n.(*net.IPNet)
		if !ok {
			return false
		}
		own, _ := netip.AddrFromSlice(ip.IP)
		return own.Unmap() == a
	})
}

// holder returns the first of some processes that holds a socket, 0 where none does.
func holder(inode uint64, pids []int) int {
	if inode == 0 {
		return 0
	}
	link := "socket:[" + strconv.FormatUint(inode, 10) + "]"
	for _, pattern := range []string{"/proc/%d/fd", "/proc/%d/task/*/fd"} { // threads may have their own files
		for _, pid := range pids {
			if holds(fmt.Sprintf(pattern, pid), link) {
				return pid
			}
		}
	}
	return 0
}

func newestFirst() (pids []int) {
	for _, e := range entries() {
		pids = append(pids, e.pid)
	}
	slices.Sort(pids)
	slices.Reverse(pids)
	return pids
}

// holds reports whether one of the folders that a pattern names has a link to a file.
func holds(pattern, link string) bool {
	dirs := []string{pattern}
	if strings.Contains(pattern, "*") {
		dirs, _ = filepath.Glob(pattern) // a pattern of ours
	}
	for _, dir := range dirs {
		f, err := os.Open(dir)
		if err != nil {
			continue // it has ended, or is another user's
		}
		names, _ := f.Readdirnames(-1)
		_ = f.Close()
		for _, name := range names {
			if to, err := os.Readlink(dir + "/" + name); err == nil && to == link {
				return true
			}
		}
	}
	return false
}

// checkAncestors walks up from a process until it meets an ancestor of ours.
func checkAncestors(pid int) error {
	ours := map[int]bool{}
	for p := os.Getpid(); p > 0 && !ours[p]; {
		ours[p] = true
		e, _ := entryOf(p) // the top has none
		p = e.parent
	}
	if pid == os.Getpid() { // a proxy of ours speaks for a command
		return ErrCommandPeer
	}
	for range 10_000 { // a pid used again meanwhile could make a circle
		if pid <= 0 || ours[pid] {
			return nil
		}
		if isLauncher(pid) {
			return ErrCommandPeer
		}
		e, ok := entryOf(pid)
		if !ok {
			return fmt.Errorf("%w, or has ended", ErrCommandPeer)
		}
		pid = e.parent
	}
	return ErrCommandPeer
}

// isLauncher reports whether a process is a launcher of a command that is not the user's own. A
// command can make a process that looks like either, which helps it nothing: its own launcher is
// above.
func isLauncher(pid int) bool {
	line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline") // gone: none
	args := bytes.SplitN(line, []byte{0}, 3)
	return len(args) == 3 && bytes.HasPrefix(args[1], []byte("__sandbox-")) && string(args[1]) != ownWord
}
