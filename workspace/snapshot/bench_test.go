package snapshot

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// plant makes a tree with so many files, twenty to a directory, of a few kilobytes each.
func plant(t testing.TB, dir string, files int) {
	t.Helper()
	text := make([]byte, 0, 8<<10)
	for i := range files {
		at := filepath.Join(dir, fmt.Sprintf("pkg%02d", i/400), fmt.Sprintf("part%02d", i/20%20))
		if i%20 == 0 {
			must(t, os.MkdirAll(at, 0o755))
		}
		text = text[:0]
		for line := range 20 + i%150 {
			text = fmt.Appendf(text, "line %d of file %d says nothing\n", line, i)
		}
		must(t, os.WriteFile(filepath.Join(at, fmt.Sprintf("file%02d.go", i%20)), text, 0o644))
	}
	// Git and we trust no file that was written in this moment.
	past := time.Now().Add(-time.Hour)
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = os.Chtimes(path, past, past)
		}
		return err
	}))
}

// sizeOf counts the bytes that files take on disk, in blocks of 4 KB.
func sizeOf(t testing.TB, dir string) (size int64) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += (info.Size() + 4095) &^ 4095
		}
		return err
	}))
	return size
}

// planted is a repository with so many files, and a second that git had nothing to do in.
func planted(t testing.TB, files int) string {
	t.Helper()
	dir := gittest.RealTemp(t)
	plant(t, dir, files)
	git := newGit(t)
	git.repo(dir)
	settle(t, dir)
	return dir
}

// reportMS adds a time in milliseconds.
func reportMS(b *testing.B, d time.Duration, unit string) {
	b.ReportMetric(float64(d.Microseconds())/1000/float64(b.N), unit)
}

func BenchmarkStep_FileTools(b *testing.B) {
	for _, files := range []int{2_000, 20_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			w := newBench(b, planted(b, files))
			must(b, w.work.t.walk(b.Context(), ""))
			_, err := w.work.Step("first").Tree(b.Context())
			must(b, err)
			i := 0
			text := make([]byte, 4<<10)
			var tools time.Duration
			defer reportCPU(b, cpuTime())
			for b.Loop() {
				i++
				st := w.work.Step(fmt.Sprint("msg", i))
				_, err := st.Tree(b.Context())
				must(b, err)
				for _, name := range [...]string{"pkg01/part03/file05.go", "pkg02/part04/file06.go"} {
					must(b, st.Capture(b.Context(), w.path(name)))
					began := time.Now()
					copy(text, fmt.Sprint(i))
					must(b, os.WriteFile(w.path(name), text, 0o644))
					tools += time.Since(began)
					must(b, st.RecordWrite(b.Context(), w.path(name)))
				}
				_, err = st.End(b.Context())
				must(b, err)
			}
			reportMS(b, b.Elapsed()-tools, "added-ms")
			reportMS(b, tools, "tool-ms")
		})
	}
}

func BenchmarkStep_Command(b *testing.B) {
	for _, files := range []int{2_000, 20_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			w := newBench(b, planted(b, files))
			must(b, w.work.t.walk(b.Context(), ""))
			i := 0
			defer reportCPU(b, cpuTime())
			for b.Loop() {
				i++
				b.StopTimer()
				st := w.work.Step(fmt.Sprint("msg", i))
				_, err := st.Tree(b.Context())
				must(b, err)
				st.Warm() // while the model answers
				<-st.warm.done
				b.StartTimer()
				f, err := st.BeginCommand(b.Context())
				must(b, err)
				b.StopTimer()
				must(b, os.WriteFile(w.path("pkg01/part03/file05.go"), fmt.Appendf(nil, "%d", i), 0o644))
				b.StartTimer()
				must(b, f.End(b.Context()))
				_, err = st.End(b.Context())
				must(b, err)
			}
			reportMS(b, b.Elapsed(), "waited-ms")
		})
	}
}

func BenchmarkFirst(b *testing.B) {
	dir := planted(b, 20_000)
	git := newGit(b)
	track := func(b *testing.B, dir string) {
		var size int64
		defer reportCPU(b, cpuTime())
		for b.Loop() {
			b.StopTimer()
			w := newBench(b, dir)
			b.StartTimer()
			_, err := w.work.Track(b.Context())
			must(b, err)
			b.StopTimer()
			must(b, w.store.Close())
			size += sizeOf(b, w.store.o.Dir)
			b.StartTimer()
		}
		b.ReportMetric(float64(size)/float64(b.N)/1e6, "MB")
		reportMS(b, b.Elapsed(), "ms")
	}
	b.Run("with git", func(b *testing.B) { track(b, dir) })
	b.Run("without git", func(b *testing.B) {
		plain := gittest.RealTemp(b)
		plant(b, plain, 20_000)
		track(b, plain)
	})
	b.Run("git from nothing", func(b *testing.B) {
		for b.Loop() {
			git.writeTree(dir)
		}
		reportMS(b, b.Elapsed(), "ms")
	})
	b.Run("git again", func(b *testing.B) {
		for b.Loop() {
			git.Run(dir, "add", "-A")
			git.Run(dir, "write-tree")
		}
		reportMS(b, b.Elapsed(), "ms")
	})
}
