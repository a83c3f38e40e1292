package markdown

import (
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/tui/style"
)

// kinds of long texts; each is made as long as asked.
func longTexts(t testing.TB, size int) map[string]string {
	mixed := sample(t)
	line := "\tif err := run(ctx, \"name\", 42); err != nil { // why\n"
	return map[string]string{
		"mixed":     strings.Repeat(mixed+"\n", size/len(mixed)+1)[:size],
		"code":      "```go\n" + strings.Repeat(line, size/len(line)+1)[:size],
		"listcode":  "1. look:\n\n   ```go\n" + strings.Repeat("   "+line, size/len(line)+1)[:size],
		"paragraph": strings.Repeat("some words of **one** paragraph ", size/32+1)[:size],
		"list":      strings.Repeat("- an item of a list with `code`\n", size/32+1)[:size],
		"table":     "| a | b |\n|---|---|\n" + strings.Repeat("| a cell | another cell |\n", size/26+1)[:size],
		"oneword":   strings.Repeat("x", size),
	}
}

// The cost of a further piece must not depend on how much came before it.
func BenchmarkDoc_Growing(b *testing.B) {
	const size, delta = 200_000, 40
	for name, text := range longTexts(b, size) {
		b.Run(name, func(b *testing.B) {
			var first, last, worst time.Duration
			for b.Loop() {
				var d Doc
				o := look(100)
				o.Growing = true
				calls := 0
				first, last, worst = 0, 0, 0
				for at := delta; at <= size; at += delta {
					begun := time.Now()
					d.Set(text[:at])
					d.Lines(o)
					took := time.Since(begun)
					calls++
					worst = max(worst, took)
					if at <= size/10 {
						first += took
					}
					if at > size-size/10 {
						last += took
					}
				}
				b.ReportMetric(float64(first.Nanoseconds())/float64(calls/10), "ns/call-first-tenth")
				b.ReportMetric(float64(last.Nanoseconds())/float64(calls/10), "ns/call-last-tenth")
				b.ReportMetric(float64(worst.Nanoseconds()), "ns/worst")
			}
		})
	}
}

func BenchmarkDoc_NewWidth(b *testing.B) {
	var d Doc
	d.Set(longTexts(b, 200_000)["mixed"])
	for i := 0; b.Loop(); i++ {
		d.Lines(look(80 + i%2))
	}
}

func BenchmarkDoc_Unchanged(b *testing.B) {
	var d Doc
	d.Set(longTexts(b, 200_000)["mixed"])
	o := look(80)
	for b.Loop() {
		d.Lines(o)
	}
}

func BenchmarkCode(b *testing.B) {
	code := strings.Repeat("\tif err := run(ctx, \"name\", 42); err != nil { // why\n", 1000)
	th := style.Default(true)
	for _, lang := range []string{"go", "rust", "html", "yaml"} {
		b.Run(lang, func(b *testing.B) {
			b.SetBytes(int64(len(code)))
			for b.Loop() {
				Code(lang, code, th)
			}
		})
	}
}
