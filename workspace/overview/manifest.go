package overview

import (
	"bufio"
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// manifests lists the build files of a project and their commands.
func manifests(dir string) []string {
	var found, commands []string
	for _, m := range []struct {
		name string
		read func(data []byte) []string
	}{
		{"Makefile", makeTargets},
		{"package.json", packageScripts},
		{"go.mod", always("go build ./...", "go test ./...")},
		{"Cargo.toml", always("cargo build", "cargo test")},
		{"pyproject.toml", pythonTests},
		{"setup.py", nil},
		{"requirements.txt", nil},
		{"pom.xml", always("mvn test")},
		{"build.gradle", always("gradle test")},
		{"build.gradle.kts", always("gradle test")},
		{"CMakeLists.txt", nil},
		{"Dockerfile", nil},
	} {
		data := readSome(filepath.Join(dir, m.name))
		if data == nil {
			continue
		}
		found = append(found, m.name)
		if m.read != nil {
			commands = append(commands, m.read(data)...)
		}
	}
	var lines []string
	if len(found) > 0 {
		lines = append(lines, "Manifests: "+strings.Join(found, ", "))
	}
	if len(commands) > 0 {
		lines = append(lines, "Commands they name (not tried): "+strings.Join(commands, "; "))
	}
	return lines
}

func always(commands ...string) func([]byte) []string {
	return func([]byte) []string { return commands }
}

// wanted are the names under which projects build, test and check themselves.
func wanted(name string) bool {
	return slices.Contains([]string{"all", "build", "test", "tests", "check", "lint", "fmt", "format", "typecheck", "dev", "start"}, name)
}

func makeTargets(data []byte) (out []string) {
	target := regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*)\s*:([^=]|$)`)
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if m := target.FindStringSubmatch(lines.Text()); m != nil && wanted(m[1]) && !slices.Contains(out, "make "+m[1]) {
			out = append(out, "make "+m[1])
		}
	}
	return out
}

func packageScripts(data []byte) (out []string) {
	var p struct {
		Scripts        map[string]string `json:"scripts"`
		PackageManager string            `json:"packageManager"`
	}
	if json.Unmarshal(data, &p) != nil {
		return nil
	}
	runner, _, _ := strings.Cut(p.PackageManager, "@")
	if !slices.Contains([]string{"pnpm", "yarn", "bun"}, runner) {
		runner = "npm"
	}
	for name := range p.Scripts {
		if wanted(name) {
			out = append(out, runner+" run "+name)
		}
	}
	slices.Sort(out)
	return out
}

func pythonTests(data []byte) []string {
	if bytes.Contains(data, []byte("pytest")) {
		return []string{"pytest"}
	}
	return nil
}
