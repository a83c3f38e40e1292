package workspace

import (
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// setAttribute sets an attribute of a file, or skips the test.
func setAttribute(t *testing.T, path, name string, value []byte) {
	t.Helper()
	if err := unix.Setxattr(path, name, value, 0); err != nil {
		if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM) {
			t.Skipf("%s cannot be set here: %v", name, err)
		}
		t.Fatal(err)
	}
}

// attributesOf are the attributes of a file, without those that the system gives to all.
func attributesOf(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names, err := attributes(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range names {
		value, err := attribute(int(f.Fd()), name)
		if err != nil {
			t.Fatal(err)
		}
		if name != "security.selinux" {
			out[name] = string(value)
		}
	}
	return out
}

// sharedWith is an access list that lets one more user read: owner rw, the other r, group r, others none.
func sharedWith(user uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][3]uint32{{1, 6, ^uint32(0)}, {2, 4, user}, {4, 4, ^uint32(0)}, {0x10, 4, ^uint32(0)}, {0x20, 0, ^uint32(0)}} {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, uint16(e[1]))
		b = binary.LittleEndian.AppendUint32(b, e[2])
	}
	return b
}

// What is attached to a file stays when its content is replaced.
func TestWrite_KeepsAttributes(t *testing.T) {
	for name, attrs := range map[string]map[string]string{
		"of the user":    {"user.comment": "mine", "user.empty": "", "user.long": string(make([]byte, 2000))},
		"an access list": {accessList: string(sharedWith(1234))},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(gittest.RealTemp(t), "file")
			if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
				t.Fatal(err)
			}
			for attr, value := range attrs {
				setAttribute(t, path, attr, []byte(value))
			}
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := Resolve(filepath.Dir(path), "file")
			if err == nil {
				err = f.Write([]byte("new"))
			}
			after, statErr := os.Stat(path)
			if err := errors.Join(err, statErr); err != nil {
				t.Fatal(err)
			}
			if os.SameFile(before, after) {
				t.Error("the file was not replaced: the test shows nothing")
			}
			if got := attributesOf(t, path); !maps.Equal(got, attrs) {
				t.Errorf("attributes %q, want %q", got, attrs)
			}
			if after.Mode() != before.Mode() {
				t.Errorf("mode %v, want %v", after.Mode(), before.Mode())
			}
		})
	}
}

// The right to do something as root belongs to the content that was given it.
func TestWrite_DropsCapabilities(t *testing.T) {
	path := filepath.Join(gittest.RealTemp(t), "file")
	if err := os.WriteFile(path, []byte("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	rawNetwork := binary.LittleEndian.AppendUint32(nil, 0x02000001)
	rawNetwork = binary.LittleEndian.AppendUint32(rawNetwork, 1<<unix.CAP_NET_RAW)
	setAttribute(t, path, "security.capability", append(rawNetwork, make([]byte, 12)...))
	if got := attributesOf(t, path); len(got) != 1 {
		t.Fatalf("attributes %q before", got)
	}
	f, err := Resolve(filepath.Dir(path), "file")
	if err == nil {
		err = f.Write([]byte("new"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := attributesOf(t, path); len(got) != 0 {
		t.Errorf("attributes %q", got)
	}
}
