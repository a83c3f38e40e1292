// Command verify looks at every artifact of a release, as someone who installs it would: verify DIST.
//
// It compares checksums.txt with the files, unpacks archives and packages of every format, checks the platform and the
// linking of each binary, runs those of this platform, and compares the manifests of Homebrew, Scoop and npm with the
// files that they name.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: verify DIST")
		os.Exit(2)
	}
	d := dist{dir: os.Args[1]}
	if err := d.verify(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("    %d artifacts unpacked and verified, lathe %s run from %d of them\n", d.unpacked, d.version, d.ran)
}

// dist is the output of GoReleaser.
type dist struct {
	dir           string
	version       string
	sums          map[string]string // file to SHA-256, from checksums.txt
	unpacked, ran int
}

func (d *dist) verify() error {
	data, err := os.ReadFile(filepath.Join(d.dir, "metadata.json"))
	if err != nil {
		return err
	}
	var meta struct{ Version string }
	if err := json.Unmarshal(data, &meta); err != nil {
		return err
	}
	d.version = meta.Version
	if err := d.readSums(); err != nil {
		return err
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(d.sums)) {
		if err := d.artifact(name); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(append(problems, d.manifests())...)
}

func (d *dist) readSums() error {
	data, err := os.ReadFile(filepath.Join(d.dir, "checksums.txt"))
	if err != nil {
		return err
	}
	d.sums = map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok {
			return fmt.Errorf("checksums.txt: malformed line %q", lines.Text())
		}
		d.sums[name] = sum
	}
	return nil
}

// find returns the path of an artifact: some are made beside dist.
func (d *dist) find(name string) (string, error) {
	for _, path := range []string{filepath.Join(d.dir, name), filepath.Join(d.dir, "npm", name), filepath.Join("bin/release/npm", name), name} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", errors.New("checksums.txt lists it, but it does not exist")
}

var platformName = regexp.MustCompile(`^lathe_(.+)_(linux|darwin|windows)_(amd64|arm64)\.(tar\.gz|zip|deb|rpm|apk|sbom\.json)$`)

// artifact verifies one file of the release.
func (d *dist) artifact(name string) error {
	path, err := d.find(name)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != d.sums[name] {
		return errors.New("it does not match its checksum")
	}
	switch parts := platformName.FindStringSubmatch(name); {
	case name == "install.sh":
		return nil
	case strings.HasSuffix(name, ".tgz"):
		return d.npm(name, data)
	case parts == nil:
		return errors.New("nothing is known about this kind of file")
	case parts[1] != d.version:
		return fmt.Errorf("its name has the version %s, not %s", parts[1], d.version)
	case parts[4] == "sbom.json":
		return checkSBOM(data)
	default:
		return d.pack(data, parts[2], parts[3], parts[4])
	}
}

// Files that every archive or package has besides the program, by the end of their path.
var (
	archiveDocs = []string{"LICENSE", "README.md", "completions/lathe.bash", "completions/_lathe", "completions/lathe.fish", "completions/lathe.ps1", "man/lathe.1.gz"}
	packageDocs = []string{
		"usr/share/bash-completion/completions/lathe", "usr/share/zsh/site-functions/_lathe", "usr/share/fish/vendor_completions.d/lathe.fish",
		"usr/share/man/man1/lathe.1.gz", "usr/share/doc/lathe/copyright",
	}
)

// pack unpacks an archive or a package and looks at its files.
func (d *dist) pack(data []byte, goos, goarch, format string) error {
	files, err := unpack(data, format)
	if err != nil {
		return err
	}
	program, docs := "lathe", archiveDocs
	switch {
	case format == "zip":
		program = "lathe.exe"
	case format != "tar.gz":
		program, docs = "usr/bin/lathe", packageDocs
	}
	for _, name := range docs {
		if f, ok := files[name]; !ok || len(f.data) == 0 || f.mode&0o111 != 0 {
			return fmt.Errorf("%s is missing, empty or executable", name)
		}
	}
	return d.program(files, program, goos, goarch)
}

// program checks the platform of a binary, and runs it if it is that of this machine.
func (d *dist) program(files map[string]file, name, goos, goarch string) error {
	f, ok := files[name]
	if !ok || f.mode&0o755 != 0o755 {
		return fmt.Errorf("%s is missing or not executable", name)
	}
	info, err := buildinfo.Read(bytes.NewReader(f.data))
	if err != nil {
		return err
	}
	got := map[string]string{}
	for _, s := range info.Settings {
		got[s.Key] = s.Value
	}
	if got["GOOS"] != goos || got["GOARCH"] != goarch || got["CGO_ENABLED"] != "0" || got["-trimpath"] != "true" {
		return fmt.Errorf("%s is built for %s/%s, cgo %s, trimpath %q", name, got["GOOS"], got["GOARCH"], got["CGO_ENABLED"], got["-trimpath"])
	}
	if goos == "linux" {
		if err := checkStatic(f.data); err != nil {
			return err
		}
	}
	d.unpacked++
	if goos != runtime.GOOS || goarch != runtime.GOARCH {
		return nil
	}
	return d.run(f.data)
}

func checkStatic(data []byte) error {
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return err
	}
	for _, p := range e.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			return errors.New("the binary is linked dynamically")
		}
	}
	return nil
}

// run starts the program in a folder of its own.
func (d *dist) run(data []byte) error {
	dir, err := os.MkdirTemp("", "lathe-verify-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "lathe.exe")
	if err := os.WriteFile(path, data, 0o755); err != nil {
		return err
	}
	out, err := exec.Command(path, "version").Output()
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(string(out)); got != d.version {
		return fmt.Errorf("it says that it is version %s, not %s", got, d.version)
	}
	d.ran++
	return nil
}
