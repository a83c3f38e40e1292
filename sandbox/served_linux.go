package sandbox

import (
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ServedByLathe reports whether a program that is this one, whatever its version, listens on an
// address on this machine, as [Config.Forbidden]: its server would take the proxy for the user's own client.
func ServedByLathe(at netip.AddrPort) bool {
	if !isLocalAddr(at.Addr()) {
		return false
	}
	pids := append([]int{os.Getpid()}, newestFirst()...)
	for _, s := range findSockets(at.Port(), func(local, remote netip.AddrPort) bool { return remote.Port() == 0 && local.Port() == at.Port() }) {
		if pid := holder(s.inode, pids); pid != 0 && sameProgram(pid) {
			return true
		}
	}
	return false
}

func sameProgram(pid int) bool {
	own, err1 := os.Stat("/proc/self/exe")
	its, err2 := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	return err1 == nil && err2 == nil && os.SameFile(own, its) || programName("self") == programName(strconv.Itoa(pid))
}

// programName is the name of the file that a process runs; one that was replaced since keeps it.
func programName(pid string) string {
	path, err := os.Readlink("/proc/" + pid + "/exe")
	if err != nil {
		return "unknown " + pid
	}
	return strings.TrimSuffix(filepath.Base(path), " (deleted)")
}
