package sandbox

import (
	"fmt"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// sharedMounts are the mounts that all commands of a session share. The first process makes
// them once, in a file system of its own, and every command mounts copies.
//
// An overlay must be one mount for all: the kernel does not say what happens with two that write to
// the same folder, and it takes a millisecond to make.
type sharedMounts struct {
	mu       sync.Mutex
	empty    map[string]string // stand-ins of hidden folders and files, by path
	overlays map[Mount]string
	made     int
	// terminals says that there are pseudo-terminals of the session.
	terminals bool
}

// sharedPlace is where they are mounted: a folder of every system that no program of ours needs. It
// is uncovered in the mounts of commands.
const sharedPlace = "/proc/fs"

func newSharedMounts() (*sharedMounts, error) {
	root, err := emptyFileSystem()
	if err != nil {
		return nil, fmt.Errorf("a file system for what commands share: %w", err)
	}
	defer func() { _ = unix.Close(root) }()
	if err := unix.MoveMount(root, "", unix.AT_FDCWD, sharedPlace, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return nil, fmt.Errorf("mount what commands share: %w", err)
	}
	s := &sharedMounts{empty: map[string]string{}, overlays: map[Mount]string{}}
	s.terminals = ownTerminals()
	return s, nil
}

// prepare makes what a plan needs of them, and says in its steps where it is.
func (s *sharedMounts) prepare(p *plan) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	failed := s.mountOverlays(p.Steps)
	for i := range p.Steps {
		step := &p.Steps[i]
		var err error
		switch step.Kind {
		case stepEmpty:
			if step.shared, err = s.nothing(*step); err != nil {
				step.shared, err = s.nothing(*step) // in another place
			}
			if err != nil {
				return fmt.Errorf("hide %s: %w", step.Path, err)
			}
		case stepOverlay:
			if step.shared, err = s.overlays[*step.Mount], failed[*step.Mount]; err != nil { // better than what can be written
				p.missing = append(p.missing, fmt.Sprintf("%s is read-only: %v", step.Path, err))
				step.Kind, step.Source, step.ReadOnly = stepCopy, "", true
			}
		case stepCopy, stepLink:
		}
	}
	if s.terminals {
		p.Steps = append(p.Steps, step{Kind: stepCopy, Path: terminalFolder}, step{Kind: stepCopy, Path: terminalMaker})
		p.Write = append(p.Write, terminalFolder, terminalMaker)
	}
	return nil
}

// add makes a file or folder to mount at, or to show.
func (s *sharedMounts) add(file bool) (string, error) {
	s.made++
	at := filepath.Join(sharedPlace, strconv.Itoa(s.made))
	return at, hold{Path: filepath.Base(at), File: file}.makeIn(sharedPlace)
}

// nothing returns what stands for something hidden. Names in it that others need stay there.
func (s *sharedMounts) nothing(step step) (at string, err error) {
	key := step.Path
	if step.File {
		key += "\x00" // it may have become a folder
	}
	if at = s.empty[key]; at == "" {
		if at, err = s.add(step.File); err != nil {
			return "", err
		}
		s.empty[key] = at
	}
	for _, h := range step.Holds {
		if err := h.makeIn(at); err != nil {
			delete(s.empty, key) // a file may be a folder now
			return "", err
		}
	}
	return at, nil
}

// drop ends overlays that no command uses.
func (s *sharedMounts) drop(list []Mount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range list {
		if at := s.overlays[m]; at != "" {
			_ = unix.Unmount(at, unix.MNT_DETACH)
			_ = RemoveTree(m.Work) // leftovers are empty
			delete(s.overlays, m)
		}
	}
}

// mountOverlays mounts those of a plan that do not exist, all at the same time: the kernel
// makes files for each. They stay until they are dropped.
func (s *sharedMounts) mountOverlays(steps []step) map[Mount]error {
	var work sync.WaitGroup
	failed := make([]error, len(steps))
	at := make([]string, len(steps))
	for i, step := range steps {
		if step.Kind != stepOverlay || s.overlays[*step.Mount] != "" {
			continue
		}
		if at[i], failed[i] = s.add(false); failed[i] == nil {
			work.Go(func() { failed[i] = step.Mount.mountOverlay(at[i]) })
		}
	}
	work.Wait()
	errs := map[Mount]error{}
	for i, step := range steps {
		switch {
		case failed[i] != nil:
			errs[*step.Mount] = failed[i]
		case at[i] != "":
			s.overlays[*step.Mount] = at[i]
		}
	}
	return errs
}

func (m Mount) mountOverlay(at string) error {
	if err := m.makeWork(); err != nil {
		return err
	}
	fd, err := overlay(m)
	if err != nil {
		return err
	}
	return attach(fd, at)
}
