package sandbox

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/sandbox/egress"
)

// entry is a process as /proc shows it.
type entry struct {
	pid, parent, group int
	dead               bool // it only waits to be collected
	start              uint64
}

// entries returns all processes. One that is made or ends meanwhile may be missed or named in vain.
func entries() []entry {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	names, _ := dir.Readdirnames(-1) // a partial list is better than none
	_ = dir.Close()
	out := make([]entry, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if e, ok := entryOf(pid); ok {
				out = append(out, e)
			}
		}
	}
	return out
}

func entryOf(pid int) (entry, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return entry{}, false
	}
	// pid (name) state parent group …, and the name may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const start = 19 // the 22nd of all
	if len(fields) <= start {
		return entry{}, false
	}
	parent, err1 := strconv.Atoi(string(fields[1]))
	group, err2 := strconv.Atoi(string(fields[2]))
	since, err3 := strconv.ParseUint(string(fields[start]), 10, 64)
	dead := fields[0][0] == 'Z' || fields[0][0] == 'X'
	return entry{pid, parent, group, dead, since}, errors.Join(err1, err2, err3) == nil
}

// descendants returns the processes below one that are not dead.
func descendants(of int) []int {
	children := map[int][]entry{}
	for _, e := range entries() {
		children[e.parent] = append(children[e.parent], e)
	}
	var out []int
	for next := []int{of}; len(next) > 0; {
		parent := next[0]
		next = next[1:]
		for _, e := range children[parent] {
			if !e.dead {
				out = append(out, e.pid)
			}
			next = append(next, e.pid)
		}
		delete(children, parent) // a pid used again meanwhile could make a circle
	}
	return out
}

// members returns the processes of a group that are not dead; ok is that this is known.
func members(group int) (pids []int, ok bool) {
	all := entries()
	for _, e := range all {
		if e.group == group && !e.dead {
			pids = append(pids, e.pid)
		}
	}
	return pids, len(all) > 0
}

// commandLine is that of a process, none if it is on its way out. There is a moment without one while a
// program is run in its place.
func commandLine(pid int) (line []byte) {
	for range 3 {
		line, _ = os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline") // gone: none
		if e, ok := entryOf(pid); len(line) > 0 || !ok || e.dead {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return line
}

// processes describes some of them.
func processes(pids []int) []Process {
	const most, longest = 20, 100
	var out []Process
	for _, pid := range pids {
		line := commandLine(pid)
		e, _ := entryOf(pid) // one that has ended meanwhile has no line either, or soon
		if len(line) == 0 || len(out) == most {
			continue
		}
		name := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
		if len(name) > longest {
			name = name[:longest]
		}
		out = append(out, Process{PID: pid, Name: strings.ToValidUTF8(name, ""), Parent: e.parent, Start: e.start, Ports: egress.PortsOf(pid)})
	}
	return out
}
