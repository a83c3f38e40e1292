package postgrestest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

const quit = syscall.SIGQUIT

// account is the user that runs the server: PostgreSQL refuses root.
func account() (uid, gid int) {
	if os.Geteuid() != 0 {
		return -1, -1
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ = strconv.Atoi(u.Uid)
			gid, _ = strconv.Atoi(u.Gid)
			return uid, gid
		}
	}
	return -1, -1
}

// giveTo lets the user of the server write into a folder that root made.
func giveTo(dir string) error {
	uid, gid := account()
	if uid < 0 {
		return nil
	}
	return os.Chown(dir, uid, gid)
}

// asUser lets a program run as that user, and end with this process.
func asUser(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: quit}
	if uid, gid := account(); uid >= 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}
