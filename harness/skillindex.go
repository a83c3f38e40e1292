package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Limits of a skill index.
const (
	indexTime  = 30 * time.Second
	mostSkills = 100
	mostFiles  = 50 // of one skill
)

// skillIndexes fetches skills from URLs: an index.json that lists them, and their files. It works in the background
// like pages, and the skills of the last fetch count until then.
type skillIndexes struct {
	dir   string
	log   *slog.Logger
	pages *pages // fetches
	work  sync.WaitGroup

	mu    sync.Mutex // guards asked
	asked map[string]bool
}

func newSkillIndexes(dir, agent string, log *slog.Logger) *skillIndexes {
	return &skillIndexes{dir: dir, log: log, pages: newPages("", agent, log), asked: map[string]bool{}}
}

func (s *skillIndexes) close() {
	s.pages.close()
	s.work.Wait()
}

// folders returns the folders for the skills of URLs. The first call starts to fetch them.
func (s *skillIndexes) folders(addresses []string) (out []string) {
	for _, address := range addresses {
		sum := sha256.Sum256([]byte(address))
		dir := filepath.Join(s.dir, hex.EncodeToString(sum[:12]))
		out = append(out, dir)
		s.mu.Lock()
		first := !s.asked[address]
		s.asked[address] = true
		s.mu.Unlock()
		if first {
			s.work.Go(func() {
				if err := s.fetch(address, dir); err != nil {
					s.log.Warn("skills could not be fetched", "address", RedactURL(address), "error", err)
				}
			})
		}
	}
	return out
}

// indexEntry is a skill in an index.
type indexEntry struct {
	Name    string   `json:"name"`
	Files   []string `json:"files"`
	Version string   `json:"version"`
}

func (s *skillIndexes) fetch(address, dir string) error {
	ctx, cancel := context.WithTimeout(s.pages.ctx, indexTime)
	defer cancel()
	base := strings.TrimRight(address, "/")
	text, err := s.pages.get(ctx, base+"/index.json")
	if err != nil {
		return err
	}
	var index struct{ Skills []indexEntry }
	if err := json.Unmarshal([]byte(text), &index); err != nil {
		return fmt.Errorf("index.json: %w", err)
	}
	if len(index.Skills) > mostSkills {
		index.Skills = index.Skills[:mostSkills]
	}
	for _, sk := range index.Skills {
		if err := s.fetchSkill(ctx, base, dir, sk); err != nil {
			s.log.Warn("a skill could not be fetched", "skill", sk.Name, "error", err)
		}
	}
	return nil
}

// fetchSkill fetches the files of one skill, all of them or none.
func (s *skillIndexes) fetchSkill(ctx context.Context, base, dir string, sk indexEntry) error {
	if !filepath.IsLocal(sk.Name) || strings.ContainsAny(sk.Name, `/\`) || strings.HasPrefix(sk.Name, ".") || len(sk.Files) > mostFiles {
		return fmt.Errorf("its name is invalid, or it has more than %d files", mostFiles)
	}
	to := filepath.Join(dir, sk.Name)
	if sk.Version != "" && ReadInstruction(filepath.Join(to, ".version")) == sk.Version {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(s.dir, "new-") // outside of the folders that the config reads
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	for _, name := range sk.Files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("%q is outside of the skill's folder", name)
		}
		text, err := s.pages.get(ctx, base+"/"+url.PathEscape(sk.Name)+"/"+(&url.URL{Path: name}).EscapedPath())
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		path := filepath.Join(fresh, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(fresh, ".version"), []byte(sk.Version), 0o600); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.Rename(fresh, to)
}
