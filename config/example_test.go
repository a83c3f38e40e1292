package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Settings as users of the reference have them load without an error, and keys that the
// reference documents are not met with a warning.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/examples/*")
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := newFixture(t)
			w.files(string(text))
			w.trust = yes
			l := w.load()
			for _, p := range l.Warnings {
				if !strings.Contains(p.Message, "is not supported: ") { // which an example of OpenCode may hold
					t.Error(p)
				}
			}
			if !json.Valid(l.Config.Raw) || len(l.Sources) == 0 {
				t.Errorf("%s", l.Config.Raw)
			}
			untrusted := w
			untrusted.trust = nil
			untrusted.load()
		})
	}
}
