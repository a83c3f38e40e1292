package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// job is a tree in a job object, which the system ends with its last handle, also when lathe
// dies. There is no polite way to end a process here, so there is no grace.
type job struct {
	process *os.Process
	handle  windows.Handle

	course
	ask  func() // ends the job, once
	left func() // ends the watch, once
	quit chan struct{}
}

func (r *Runner) start(c Command, s streams) (tree, error) {
	if !c.Profile.zero() {
		return nil, unsupported()
	}
	handle, err := newJob()
	if err != nil {
		return nil, fmt.Errorf("a job object: %w", err)
	}
	process, err := os.StartProcess(c.Path, append([]string{c.Path}, c.Args...), &os.ProcAttr{
		Dir: c.Dir, Env: c.environment(), Files: []*os.File{s.in, s.out, s.err},
		Sys: &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, CmdLine: commandLine(c)},
	})
	if err != nil {
		return nil, errors.Join(err, windows.CloseHandle(handle))
	}
	if err := assign(handle, process.Pid); err != nil { // a command that cannot be ended does not run
		err = errors.Join(fmt.Errorf("put the command into its job: %w", err), process.Kill(), windows.CloseHandle(handle))
		_, _ = process.Wait()
		return nil, err
	}
	j := &job{process: process, handle: handle, course: newCourse(), quit: make(chan struct{})}
	j.ask = sync.OnceFunc(func() { _ = windows.TerminateJobObject(handle, 1) })
	j.left = sync.OnceFunc(func() { close(j.quit) })
	go j.watch()
	return j, nil
}

func pipe() (out, in *os.File, err error) { return os.Pipe() }

// commandLine is the command line for cmd.exe, which reads quotes differently; "" is the usual
// form.
func commandLine(c Command) string {
	name := strings.ToLower(filepath.Base(c.Path))
	if name != "cmd.exe" && name != "cmd" || len(c.Args) == 0 {
		return ""
	}
	last := len(c.Args) - 1
	return `cmd.exe ` + strings.Join(c.Args[:last], " ") + ` "` + c.Args[last] + `"`
}

func newJob() (windows.Handle, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	if err := limitJob(handle, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		return 0, errors.Join(err, windows.CloseHandle(handle))
	}
	return handle, nil
}

func limitJob(handle windows.Handle, flags uint32) error {
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: flags},
	}
	_, err := windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

func assign(handle windows.Handle, pid int) error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	return errors.Join(windows.AssignProcessToJobObject(handle, p), windows.CloseHandle(p))
}

// watch waits for the command and then for its job, which only looking again and again tells.
func (j *job) watch() {
	defer func() {
		_ = windows.CloseHandle(j.handle) // which ends what was not let go
		close(j.empty)
	}()
	state, err := j.process.Wait()
	if err != nil {
		j.how = status{code: -1, err: err}
	} else {
		j.how = status{code: state.ExitCode()}
	}
	close(j.over)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for j.active() > 0 {
		select {
		case <-tick.C:
		case <-j.quit:
			return
		}
	}
}

// active counts the processes of the job.
func (j *job) active() uint32 {
	var info struct { // JOBOBJECT_BASIC_ACCOUNTING_INFORMATION
		times                                  [4]int64
		faults, total, activeCount, terminated uint32
	}
	err := windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return 0
	}
	return info.activeCount
}

func (j *job) kill() { j.ask() }

func (j *job) letGo() {
	_ = limitJob(j.handle, 0) // or closing the handle would end them
	j.left()
}

// rest knows only the job by the number of its first process.
func (j *job) rest() []Process {
	select {
	case <-j.empty:
		return nil
	default:
	}
	if j.active() == 0 {
		return nil
	}
	return []Process{{PID: j.process.Pid}}
}

func tooLong(err error) bool { return errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE) }
