package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// checkSBOM wants a list of modules with versions.
func checkSBOM(data []byte) error {
	var bom cdx.BOM
	if err := json.Unmarshal(data, &bom); err != nil {
		return err
	}
	if bom.Metadata == nil || bom.Metadata.Component == nil || bom.Components == nil || len(*bom.Components) < 10 {
		return errors.New("it does not describe the program and its modules")
	}
	for _, c := range *bom.Components {
		if c.Name == "" || c.Version == "" || c.PackageURL == "" {
			return fmt.Errorf("%s has no version or address", c.Name)
		}
	}
	return nil
}

// npm verifies a package: the starter names all platforms in this version, the others have a binary of theirs.
func (d *dist) npm(name string, data []byte) error {
	files, err := unpackTar(data)
	if err != nil {
		return err
	}
	var m struct {
		Name, Version        string
		OS, CPU              []string
		Bin, Scripts         map[string]string
		OptionalDependencies map[string]string
	}
	if err := json.Unmarshal(files["package/package.json"].data, &m); err != nil {
		return err
	}
	switch {
	case m.Version != d.version || len(m.Scripts) > 0:
		return fmt.Errorf("version %s, scripts %v", m.Version, m.Scripts)
	case m.Name == "@lathe-agent/lathe":
		for dep, version := range m.OptionalDependencies {
			if version != d.version {
				return fmt.Errorf("it wants %s in version %s", dep, version)
			}
		}
		if _, ok := files["package/"+m.Bin["lathe"]]; !ok || len(m.OptionalDependencies) != 6 {
			return fmt.Errorf("bin %v, platforms %v", m.Bin, m.OptionalDependencies)
		}
		return nil
	case len(m.OS) != 1 || len(m.CPU) != 1:
		return errors.New("it is for no platform")
	}
	goos := map[string]string{"linux": "linux", "darwin": "darwin", "win32": "windows"}[m.OS[0]]
	goarch := map[string]string{"x64": "amd64", "arm64": "arm64"}[m.CPU[0]]
	program := "package/bin/lathe"
	if goos == "windows" {
		program += ".exe"
	}
	return d.program(files, program, goos, goarch)
}

var hexSum = regexp.MustCompile(`[0-9a-f]{64}`)

// manifests compares the checksums that Homebrew's formula and Scoop's manifest name with those of the archives.
func (d *dist) manifests() error {
	var problems []error
	for _, name := range []string{"homebrew/Formula/lathe.rb", "scoop/bucket/lathe.json"} {
		data, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
		if errors.Is(err, os.ErrNotExist) && strings.HasPrefix(name, "scoop") && !d.has("windows") {
			continue // a dry run of another platform
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if sums := hexSum.FindAllString(string(data), -1); len(sums) == 0 || !d.knows(sums) {
			problems = append(problems, fmt.Errorf("%s names the checksums %v, which are not those of archives", name, sums))
		}
		d.unpacked++
	}
	return errors.Join(problems...)
}

func (d *dist) has(goos string) bool {
	for name := range d.sums {
		if ok, _ := path.Match("lathe_*_"+goos+"_*", name); ok {
			return true
		}
	}
	return false
}

func (d *dist) knows(sums []string) bool {
	known := map[string]bool{}
	for name, sum := range d.sums {
		if strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".zip") {
			known[sum] = true
		}
	}
	for _, sum := range sums {
		if !known[sum] {
			return false
		}
	}
	return true
}
