package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/gittest"
)

const (
	benchFiles  = 50_000
	benchPerDir = 20
)

// benchTree makes a tree of many small files of something like source code, the same each time.
func benchTree(b *testing.B) string {
	b.Helper()
	root := gittest.RealTemp(b)
	rnd := rand.New(rand.NewPCG(7, 7))
	words := strings.Fields(`func return error context string int if else for range switch case default nil true false
		package import type struct interface map chan select go defer const var byte buffer reader writer close open read
		write request response handler server client config option value index count limit offset length test assert name
		path file directory session message token model provider store event Error Context String Handler Config`)
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o755); err != nil {
		b.Fatal(err)
	}
	write(b, root, ".gitignore", "*.o\n/build/\nnode_modules/\n*.log\n!keep.log\n/gen/**/out\n")
	var text bytes.Buffer
	for i := range benchFiles {
		text.Reset()
		for text.Len() < 500+rnd.IntN(5000) {
			text.WriteString(strings.Repeat("\t", rnd.IntN(4)))
			for range 3 + rnd.IntN(8) {
				text.WriteString(words[rnd.IntN(len(words))])
				text.WriteByte(" .(),:="[rnd.IntN(7)])
			}
			text.WriteByte('\n')
		}
		if i%500 == 0 {
			text.WriteString("// FIXME: the Needle is here, as needleCase(42)\n")
		}
		dir := filepath.Join(root, fmt.Sprintf("m%02d", i/benchPerDir%50), fmt.Sprintf("p%03d", i/benchPerDir/50))
		if i%benchPerDir == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		name := fmt.Sprintf("file%d%s", i, []string{".go", ".md", ".json", ".go", ".txt", ".log"}[i%6])
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

// BenchmarkBesideRipgrep runs each search with ripgrep and with ours by turns on one tree, so that
// both see the same machine. It reports the best time of each in milliseconds, and ours as a
// multiple of ripgrep's; the target is 1.5, and 2 where case does not count.
func BenchmarkBesideRipgrep(b *testing.B) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("ripgrep is not installed; it is the yardstick of this benchmark")
	}
	root := benchTree(b)
	greps := []struct {
		name, expr string
		fold       Fold
	}{
		{"literal", `needleCase`, false},
		{"rare", `FIXME: the`, false},
		{"common", `handler`, false},
		{"fold", `needlecase`, FoldCase},
		{"foldCommon", `handler`, FoldCase},
		{"word", `\bneedleCase\(\d+\)`, false},
		{"alternatives", `needleCase|FIXME|absent`, false},
		{"noLiteral", `[a-z]+Case\([0-9]{2}\)`, false},
		{"class", `^\t\t[a-z]+\s+[a-z]+\([0-9]`, false},
	}
	for _, g := range greps {
		args := []string{"--no-config", "--no-ignore-global", "--hidden", "--glob=!**/.git/**", "-c"}
		if g.fold {
			args = append(args, "-i")
		}
		re, err := ParseRegexp(g.expr, g.fold)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("grep/"+g.name, func(b *testing.B) {
			beside(b, root, exec.Command(rg, append(args, "-e", g.expr, ".")...), func() error {
				_, err := Grep(b.Context(), Query{Root: root, Limit: 100, Hidden: true}, re, nil)
				return err
			})
		})
	}
	for _, pattern := range []string{"**/*.go", "m1*/p0*/*.{md,txt}", "*"} {
		p, err := ParsePattern(pattern)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("glob/"+strings.ReplaceAll(pattern, "/", "|"), func(b *testing.B) {
			args := []string{"--no-config", "--no-ignore-global", "--files", "--glob=" + pattern, "--glob=!**/.git/**"}
			beside(b, root, exec.Command(rg, args...), func() error {
				_, err := Glob(b.Context(), Query{Root: root, Limit: 100}, p)
				return err
			})
		})
	}
}

// beside times both by turns, at least ten times.
func beside(b *testing.B, root string, rg *exec.Cmd, ours func() error) {
	best := [2]time.Duration{time.Hour, time.Hour}
	var before, after runtime.MemStats
	once := func() {
		cmd := *rg
		cmd.Dir = root
		began := time.Now()
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: nothing found
			b.Fatal(err)
		}
		best[0] = min(best[0], time.Since(began))
		runtime.ReadMemStats(&before)
		began = time.Now()
		if err := ours(); err != nil {
			b.Fatal(err)
		}
		best[1] = min(best[1], time.Since(began))
		runtime.ReadMemStats(&after)
	}
	for range 10 {
		once()
	}
	b.ResetTimer()
	for b.Loop() {
		once()
	}
	b.ReportMetric(float64(best[0].Microseconds())/1000, "rg-ms")
	b.ReportMetric(float64(best[1].Microseconds())/1000, "ours-ms")
	b.ReportMetric(float64(best[1])/float64(best[0]), "x-rg")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "ours-MB")
}
