package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

func BenchmarkFile(b *testing.B) {
	dir := filepath.Join(realPath(b.TempDir()), "a", "b", "c")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	f, err := Resolve(dir, "f")
	if err != nil {
		b.Fatal(err)
	}
	data := make([]byte, 10<<10)
	if err := f.Write(data); err != nil {
		b.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"resolve": func() error { _, err := Resolve(dir, "f"); return err },
		"read":    func() error { _, err := f.ReadAll(1 << 20); return err },
		"walk": func() error {
			file, err := walkOpen(f.Path, os.O_RDONLY)
			if err == nil {
				err = file.Close()
			}
			return err
		},
		"write": func() error { return f.Write(data) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
