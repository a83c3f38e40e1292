// Command npmpack writes the npm packages of a release: one that starts lathe, and one for each platform with its binary,
// of which npm installs the right one. GoReleaser calls it (see .goreleaser.yaml).
//
//	npmpack -version 1.2.3 -o dist/npm                                        # the package that people install
//	npmpack -version 1.2.3 -o dist/npm -target linux_amd64_v1 -binary lathe   # the package of a platform
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const scope = "@lathe-agent/"

// platforms are GoReleaser's names of systems and processors, and those of Node.
var platforms = map[string]platform{
	"linux_amd64": {"linux", "x64"}, "linux_arm64": {"linux", "arm64"},
	"darwin_amd64": {"darwin", "x64"}, "darwin_arm64": {"darwin", "arm64"},
	"windows_amd64": {"win32", "x64"}, "windows_arm64": {"win32", "arm64"},
}

type platform struct{ os, cpu string }

func (p platform) name() string { return scope + "lathe-" + p.os + "-" + p.cpu }

// manifest is a package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Homepage             string            `json:"homepage"`
	Repository           map[string]string `json:"repository"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	Files                []string          `json:"files"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

// file is one file of a package.
type file struct {
	name string
	mode int64
	data []byte
}

func main() {
	version := flag.String("version", "", "`VERSION` of the release, without v")
	out := flag.String("o", "", "`FOLDER` to write to")
	target := flag.String("target", "", "`PLATFORM` of the binary, such as linux_amd64_v1")
	binary := flag.String("binary", "", "`FILE` to pack; none packs the package that starts it")
	flag.Parse()
	if err := run(*version, *out, *target, *binary); err != nil {
		fmt.Fprintln(os.Stderr, "npmpack:", err)
		os.Exit(1)
	}
}

func run(version, out, target, binary string) error {
	if version == "" || out == "" {
		return errors.New("-version and -o are required")
	}
	m, files, err := starter(version)
	if binary != "" {
		m, files, err = binaryPackage(version, target, binary)
	}
	if err != nil {
		return err
	}
	data, err := pack(m, files)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	name := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-") + "-" + version + ".tgz" // as npm pack names it
	return os.WriteFile(filepath.Join(out, name), data, 0o644)
}

func newManifest(name, version string) manifest {
	return manifest{
		Name: name, Version: version, License: "MIT", Homepage: "https://github.com/lathe-agent/lathe",
		Repository: map[string]string{"type": "git", "url": "git+https://github.com/lathe-agent/lathe.git"},
	}
}

// starter is the package that people install.
func starter(version string) (manifest, []file, error) {
	m := newManifest(scope+"lathe", version)
	m.Description = "A coding agent for your terminal, editor and CI"
	m.Bin, m.Engines, m.Files = map[string]string{"lathe": "bin/lathe.js"}, map[string]string{"node": ">=18"}, []string{"bin"}
	m.OptionalDependencies = map[string]string{}
	for _, p := range platforms {
		m.OptionalDependencies[p.name()] = version
	}
	files, err := read(map[string]file{
		"packaging/npm/lathe.js": {"bin/lathe.js", 0o755, nil}, "packaging/npm/README.md": {"README.md", 0o644, nil}, "LICENSE": {"LICENSE", 0o644, nil},
	})
	return m, files, err
}

// binaryPackage has the binary of one platform.
func binaryPackage(version, target, binary string) (manifest, []file, error) {
	words := strings.SplitN(target, "_", 3)
	p, ok := platforms[strings.Join(words[:min(2, len(words))], "_")]
	if !ok {
		return manifest{}, nil, fmt.Errorf("no npm platform for the target %q", target)
	}
	m := newManifest(p.name(), version)
	m.Description = "The " + p.os + " " + p.cpu + " binary of " + scope + "lathe"
	m.OS, m.CPU, m.Files = []string{p.os}, []string{p.cpu}, []string{"bin"}
	name := "bin/lathe"
	if p.os == "win32" {
		name += ".exe"
	}
	files, err := read(map[string]file{binary: {name, 0o755, nil}, "LICENSE": {"LICENSE", 0o644, nil}})
	return m, files, err
}

func read(sources map[string]file) ([]file, error) {
	var out []file
	for path, f := range sources {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f.data = data
		out = append(out, f)
	}
	return out, nil
}
