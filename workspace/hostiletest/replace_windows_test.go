package hostiletest

import "os/exec"

func replace(path string) error { return exec.Command(path).Run() }
