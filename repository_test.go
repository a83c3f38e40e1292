package lathe_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// workflow is the part of a GitHub workflow that is checked here.
type workflow struct {
	Jobs map[string]struct {
		Timeout int `yaml:"timeout-minutes"`
		Steps   []struct {
			Uses, Run string
		}
	}
	Permissions map[string]string
}

func readRepositoryFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRepository_Workflows(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(names) < 3 {
		t.Fatal(names, err)
	}
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40}$`)
	target, program := regexp.MustCompile(`\bmake ([a-z -]+)`), regexp.MustCompile(`\./(scripts/\w[\w-]*|\.ci/run)`)
	makefile := "\n" + readRepositoryFile(t, "Makefile")
	for _, name := range names {
		var w workflow
		if err := yaml.Unmarshal([]byte(readRepositoryFile(t, name)), &w); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(w.Jobs) == 0 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: no jobs, or tokens with more rights than reading", name)
		}
		for id, job := range w.Jobs {
			if job.Timeout == 0 || len(job.Steps) == 0 {
				t.Errorf("%s: %s has no time limit or no steps", name, id)
			}
			for _, s := range job.Steps {
				if s.Uses != "" && !pinned.MatchString(s.Uses) {
					t.Errorf("%s: %s is not pinned to a commit", name, s.Uses)
				}
				for _, m := range target.FindAllStringSubmatch(s.Run, -1) {
					for word := range strings.FieldsSeq(m[1]) {
						if !strings.Contains(makefile, "\n"+word+":") {
							t.Errorf("%s: make has no target %s", name, word)
						}
					}
				}
				for _, m := range program.FindAllStringSubmatch(s.Run, -1) {
					if _, err := os.Stat(m[1]); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		}
	}
}

// The other files of the repository parse, and what they name exists.
func TestRepository_Files(t *testing.T) {
	t.Parallel()
	forms, _ := filepath.Glob(".github/ISSUE_TEMPLATE/*.yml")
	for _, name := range append(forms, ".github/dependabot.yml", ".goreleaser.yaml") {
		var any map[string]any
		if err := yaml.Unmarshal([]byte(readRepositoryFile(t, name)), &any); err != nil || len(any) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	var bot struct {
		Updates []struct {
			Ecosystem string `yaml:"package-ecosystem"`
			Directory string
		}
	}
	if err := yaml.Unmarshal([]byte(readRepositoryFile(t, ".github/dependabot.yml")), &bot); err != nil {
		t.Fatal(err)
	}
	for _, u := range bot.Updates {
		file := map[string]string{"gomod": "go.mod", "docker": "Dockerfile", "github-actions": ".github/workflows"}[u.Ecosystem]
		if _, err := os.Stat(filepath.Join("."+u.Directory, file)); err != nil || file == "" {
			t.Errorf("dependabot: %s: %v", u.Ecosystem, err)
		}
	}
	for _, m := range regexp.MustCompile(`(?:src|glob|dockerfile): ([\w./-]+)\n|- ((?:packaging|scripts)/[\w./-]+)`).FindAllStringSubmatch(readRepositoryFile(t, ".goreleaser.yaml"), -1) {
		if name := m[1] + m[2]; !strings.HasPrefix(name, "bin/") && !strings.HasPrefix(name, "dist/") {
			if _, err := os.Stat(name); err != nil {
				t.Errorf(".goreleaser.yaml: %v", err)
			}
		}
	}
	var feature struct{ ID, Version string }
	if err := json.Unmarshal([]byte(readRepositoryFile(t, "packaging/devcontainer/src/lathe/devcontainer-feature.json")), &feature); err != nil || feature.ID != "lathe" || feature.Version == "" {
		t.Errorf("%+v %v", feature, err)
	}
	for _, name := range []string{"install.sh", "packaging/prepare.sh", "packaging/devcontainer/src/lathe/install.sh", "scripts/release", "scripts/image-test"} {
		if info, err := os.Stat(name); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s is missing or not executable", name)
		}
	}
}

// The image runs as a user without privileges, and `go install …@latest` works only without replacements.
func TestRepository_Image(t *testing.T) {
	t.Parallel()
	file := readRepositoryFile(t, "packaging/Dockerfile")
	for _, want := range []string{"FROM debian:bookworm-slim\n", " bash ", " ca-certificates ", " git ", " ripgrep ", "--no-install-recommends", "rm -rf /var/lib/apt/lists", "\nUSER lathe\n", "/usr/share/lathe/container"} {
		if !strings.Contains(file, want) {
			t.Errorf("packaging/Dockerfile: no %q", want)
		}
	}
	if strings.Contains(readRepositoryFile(t, "go.mod"), "replace ") {
		t.Error("go.mod replaces a module: go install refuses that")
	}
}
