package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Mode is how much of the machine a command may change.
type Mode string

const (
	// Off leaves a command unconfined.
	Off Mode = "off"
	// Workspace lets it write only to the paths of its profile.
	Workspace Mode = "workspace"
	// ReadOnly is Workspace with a read-only project; the maker of the profile leaves it out of
	// Write and puts it into Protect.
	ReadOnly Mode = "read-only"
)

// Profile describes the sandbox of a command. Its zero value is not confined. Paths are
// absolute; a name that leads through a symlink is followed when the command starts.
type Profile struct {
	Mode Mode `json:"mode,omitempty"`
	// Write are the folders and files that may be written; those that do not exist are left
	// out.
	Write []string `json:"write,omitempty"`
	// Protect are names that are never written, also below Write and also when nothing is there
	// yet. See [Guard] for what holds when.
	Protect []string `json:"protect,omitempty"`
	// Files are names like those of Protect at which programs want a file: what stands in for
	// one that does not exist is an empty file. For all others it is an empty folder.
	Files []string `json:"files,omitempty"`
	// Texts are the contents of stand-ins for those of Files that programs cannot read empty. A
	// text has at most 64 bytes.
	Texts map[string]string `json:"texts,omitempty"`
	// Watch are names like those of Protect for which nothing can stand in: programs fail at
	// whatever is there.
	Watch []string `json:"watch,omitempty"`
	// Reads says that the command is known to write nothing, so that nothing needs to stand in
	// for names that do not exist, where it would be seen. They are watched all the same.
	Reads bool `json:"reads,omitempty"`
	// Busy are folders like those of Protect that others write to meanwhile: they are bound where
	// that is possible and never put back.
	Busy []string `json:"busy,omitempty"`
	// Hide are folders and files that the command cannot see: something empty is mounted in their
	// place. Without mounts Landlock lets it read no file of them, except where they lie below Write.
	Hide []string `json:"hide,omitempty"`
	// Show are names at or below hidden folders that stay visible, read-only unless below Write.
	Show []string `json:"show,omitempty"`
	// Mounts are made after all others, in the given order. Their sources may be hidden.
	Mounts []Mount `json:"mounts,omitempty"`
	// Temp is a folder that is mounted as /tmp and /var/tmp. What the command needs of the real
	// ones stays visible: its directory, its home, entries of its PATH, Write, Show and Sockets.
	// Empty: it has the real ones.
	Temp string `json:"temp,omitempty"`
	// Session is shared by commands that see and signal each other's processes.
	Session string `json:"session,omitempty"`
	// Sockets are the folders and sockets of others that can be connected to. All other sockets
	// with a name are covered where the system lets us.
	Sockets []string `json:"sockets,omitempty"`
	// QuarantineDir is the folder where what a command made under a protected name is moved to, for the
	// user to look at. It must not be below Write.
	QuarantineDir string `json:"aside,omitempty"`
	// Env are variables, as name=value, that a confined command has in place of those of its
	// environment.
	Env []string `json:"-"`
	// Network is its network access.
	Network Network `json:"network,omitzero"`
	// Strict makes it an error when the kernel cannot enforce all of it; otherwise the report
	// lists what it does not.
	Strict bool   `json:"strict,omitempty"`
	Limits Limits `json:"limits,omitzero"`
	// Monitor looks after files around the command, in the program that starts it; nil means
	// none.
	Monitor Monitor `json:"-"`
}

// MountType is the kind of a [Mount].
type MountType string

const (
	// BindMount shows Source at Target.
	BindMount MountType = "bind"
	// OverlayMount shows Source at Target; changes go to Upper. Work is a folder on the same file
	// system that is made for the command and removed after it: no other command may have it meanwhile.
	OverlayMount MountType = "overlay"
	// LinkMount shows the symlink Source in place of the file Target. Programs follow it, and those
	// that replace a file where a link leads to do so there, which a mount of a file does not let them.
	LinkMount MountType = "link"
)

// Mount is a mount in addition to those of the profile. Target must exist.
type Mount struct {
	Type     MountType `json:"type"`
	Source   string    `json:"source"`
	Target   string    `json:"target"`
	ReadOnly bool      `json:"readOnly,omitempty"`
	Upper    string    `json:"upper,omitempty"`
	Work     string    `json:"work,omitempty"`
}

// Limits bound each process of a command; 0 is no limit. They hold in every mode.
type Limits struct {
	Memory    uint64 `json:"memory,omitempty"`    // bytes of data of one process
	Processes uint64 `json:"processes,omitempty"` // of the user; the administrator has no limit
	FileSize  uint64 `json:"fileSize,omitempty"`  // bytes of one file
}

// Confined reports whether it keeps a command from anything.
func (p Profile) Confined() bool { return p.Mode == Workspace || p.Mode == ReadOnly }

func (p Profile) zero() bool { return !p.Confined() && p.Limits == Limits{} }

// Guard is how protected names below a writable folder are held.
type Guard string

const (
	// Bound: what exists is mounted read-only for the command and cannot be written, moved or
	// replaced. For what does not exist something empty stands in until the last process of the
	// command has ended. Where nothing can (see [Profile.Watch]) it is as in Restored. Seatbelt holds
	// names whether they exist or not.
	Bound Guard = "bound"
	// Restored: no mount was possible. What a command did to a protected name is undone when it
	// ends, and again when its last process does.
	Restored Guard = "restored"
)

// Report lists what the kernel enforced for a command.
type Report struct {
	Landlock int   `json:"landlock"` // the version of its interface
	Seatbelt bool  `json:"seatbelt,omitempty"`
	Guard    Guard `json:"guard"`
	// Missing says in words what of the profile this kernel does not hold.
	Missing []string `json:"missing,omitempty"`
}

// Kernel lists the sandbox features of a kernel.
type Kernel struct {
	Landlock int  // the version of its interface; 0 means none
	Seatbelt bool // the sandbox of macOS
	Mounts   bool // a command can have mounts of its own
	Networks bool // and a network
}

// The versions of Landlock that matter.
const (
	landlockLeast   = 2 // moves between folders can be allowed
	landlockFull    = 3 // and truncation refused
	landlockDevices = 5
	landlockScopes  = 6
)

// ErrUnavailable says that a command cannot be confined here as it was asked for.
var ErrUnavailable = errors.New("the sandbox is not available")

// Available is nil where commands can be confined; strict requires every feature.
func (k Kernel) Available(strict bool) error {
	switch {
	case k.Seatbelt:
		return nil
	case k.Landlock == 0 && runtime.GOOS != "linux":
		return fmt.Errorf("%w: commands can be confined on Linux (Landlock) and macOS (sandbox-exec); set \"sandbox\": \"off\" to run commands unconfined", ErrUnavailable)
	case k.Landlock == 0:
		return fmt.Errorf("%w: this kernel has no Landlock, or it is switched off (Linux 5.19 and later have it; see the lsm= parameter); set \"sandbox\": \"off\" to run commands unconfined", ErrUnavailable)
	case k.Landlock < landlockLeast:
		return fmt.Errorf("%w: the Landlock of this kernel is too old (version %d, needed is %d, Linux 5.19); set \"sandbox\": \"off\" to run commands unconfined", ErrUnavailable, k.Landlock, landlockLeast)
	case strict && k.Landlock < landlockFull:
		return fmt.Errorf("%w in full: this kernel cannot refuse to truncate files (Landlock version %d, needed is %d, Linux 6.2); remove \"sandbox\" from the config to accept a weaker sandbox", ErrUnavailable, k.Landlock, landlockFull)
	}
	return nil
}

// report says what such a kernel holds of a profile.
func (k Kernel) report(p Profile, guard Guard) Report {
	r := Report{Landlock: k.Landlock, Guard: guard}
	if k.Landlock < landlockFull {
		r.Missing = append(r.Missing, "files outside can be truncated (Linux 6.2 refuses it)")
	}
	if k.Landlock < landlockDevices {
		r.Missing = append(r.Missing, "devices can be controlled (Linux 6.10 refuses it)")
	}
	if k.Landlock < landlockScopes {
		r.Missing = append(r.Missing, "processes outside can be signalled, and reached by abstract sockets (Linux 6.12 refuses it)")
	}
	if guard != Bound {
		r.Missing = append(r.Missing, "protected names inside writable folders are restored afterwards, not held",
			"permissions and times of files outside can be changed")
		r.Missing = append(r.Missing, p.withoutMounts()...)
	}
	return r
}

// withoutMounts says what of a profile needs mounts.
func (p Profile) withoutMounts() (missing []string) {
	for _, name := range p.Hide {
		if slices.ContainsFunc(p.Write, func(root string) bool { return within(root, name) }) {
			missing = append(missing, name+" is not hidden, since it lies in a folder that can be written")
		}
	}
	if p.Temp != "" {
		missing = append(missing, "/tmp is the one of the machine, not one of the session")
	}
	for _, m := range p.Mounts {
		missing = append(missing, "nothing is mounted at "+m.Target)
	}
	return missing
}

// check finds a profile that cannot be meant.
func (p Profile) check() error {
	switch p.Mode {
	case "", Off, Workspace, ReadOnly:
	default:
		return fmt.Errorf("the sandbox mode %q is not known; there are %s, %s and %s", p.Mode, Workspace, ReadOnly, Off)
	}
	paths := slices.Concat(p.Write, p.Protect, p.Files, p.Watch, p.Busy, p.Hide, p.Show, p.Sockets)
	for _, m := range p.Mounts {
		paths = append(paths, m.Source, m.Target)
		switch m.Type {
		case BindMount, LinkMount:
		case OverlayMount:
			paths = append(paths, m.Upper, m.Work)
		default:
			return fmt.Errorf("the sandbox is given a mount of the type %q for %s; there are %s, %s and %s", m.Type, m.Target, BindMount, OverlayMount, LinkMount)
		}
	}
	for _, path := range []string{p.QuarantineDir, p.Temp} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
			return fmt.Errorf("the sandbox is given the path %q, which is not absolute", path)
		}
	}
	return p.Network.check()
}

// within reports whether a path is a folder or below it.
func within(folder, path string) bool {
	return folder == path || folder == "/" || strings.HasPrefix(path, folder+string(filepath.Separator))
}

// SessionTemp is the folder that is /tmp of the commands of a session, below the folder for
// data; "" means that there is none. Who needs it makes it, for its user alone.
func SessionTemp(data, session string) string {
	if data == "" || session == "" || session != filepath.Base(session) || session == "." || session == ".." {
		return ""
	}
	return filepath.Join(data, "tmp", session)
}
