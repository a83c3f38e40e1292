package lsp_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

// BenchmarkRealEdit measures how long the result of an edit waits for a gopls that has loaded a module of 100 files. Every
// second edit brings an error, the others repair it.
func BenchmarkRealEdit(b *testing.B) {
	f := realFixture(b, goProject(100), "gopls")
	_ = f.edit("core.go", goProject(0)["core.go"]+"\n")
	took := make([]time.Duration, 0, b.N)
	for i := 0; b.Loop(); i++ {
		text := goProject(0)["core.go"] + fmt.Sprintf("\nvar edited = %d\n", i)
		if i%2 == 0 {
			text += "\nvar broken = missing\n"
		}
		start := time.Now()
		got := f.edit("core.go", text)
		took = append(took, time.Since(start))
		if (got != "") != (i%2 == 0) {
			b.Fatalf("edit %d: %q", i, got)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkRealIdle measures what a loaded gopls costs this process: memory, and processor time while nothing is edited.
func BenchmarkRealIdle(b *testing.B) {
	files := goProject(100)
	before := usedMemory()
	f := realFixture(b, files, "gopls")
	for i := range 20 {
		_ = f.edit(fmt.Sprintf("f%02d.go", i), files[fmt.Sprintf("f%02d.go", i)]+"\n")
	}
	grown := usedMemory() - before
	for b.Loop() {
		start := processorTime(b)
		<-time.After(5 * time.Second)
		b.ReportMetric(float64((processorTime(b)-start).Microseconds())/1000, "cpu-ms")
	}
	b.ReportMetric(float64(grown)/(1<<20), "MB")
}

// usedMemory is the memory of Go objects and stacks that are in use.
func usedMemory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
