package until

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/lathe-agent/lathe/internal/phrase"
)

// escapes are sequences that color a text or move the cursor.
var escapes = phrase.Regexp(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])`)

// Tail is the end of an output, without escape sequences: whole lines if there are several, at most size bytes.
func Tail(output string, size int) string {
	text := clean(output)
	if len(text) <= size {
		return text
	}
	cut := len(text) - size
	for cut < len(text) && !utf8.RuneStart(text[cut]) {
		cut++
	}
	if i := strings.IndexByte(text[cut:], '\n'); text[cut-1] != '\n' && i >= 0 && cut+i+1 < len(text) {
		cut += i + 1
	}
	return "… " + phrase.Size(int64(cut)) + " left out …\n" + text[cut:]
}

// clean is an output as a person would read it: a line that a carriage return overwrites has only its end.
func clean(output string) string {
	text := escapes().ReplaceAllString(strings.ToValidUTF8(output, "\uFFFD"), "")
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		line = line[strings.LastIndexByte(line, '\r')+1:]
		lines[i] = strings.TrimRight(strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' || r == 0x7f {
				return -1
			}
			return r
		}, line), " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// replacement is a text that differs between runs with the same failure, and what stands for it.
type replacement struct {
	find *regexp.Regexp
	with string
}

// replacements apply in this order: what a later one finds may be a part of what an earlier one did.
var replacements = sync.OnceValue(func() (out []replacement) {
	for _, r := range [][2]string{
		{`\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?(Z|[-+]\d\d:?\d\d))?)?`, "TIME"},
		{`\b\d{1,2}:\d\d:\d\d([.,]\d+)?\b`, "TIME"},
		{`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, "ID"},
		{`(?i)\b0x[0-9a-f]+\b`, "ADDRESS"},
		{`(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev/shm)/[^\s:"'` + "`" + `)\]]+`, "PATH"},
		{`(?i)\b[a-z]:\\(?:[^\\\s:"'<>|]+\\)*`, ""},
		{`(^|[\s"'(=\[])/(?:[^/\s:"'()]+/)+`, "$1"},
		{`(\d+(\.\d+)?(h|m|min|s|ms|µs|us|ns))+\b`, "DURATION"},
		{`(?i)\b\d+([.,]\d+)?\s?(hours?|minutes?|mins?|seconds?|secs?|milliseconds?|msec|s|ms|µs|us|ns)\b`, "DURATION"},
		{`(?i)\b(goroutine|pid|process|thread|port|seed|shuffle|attempt)([ =:#]+)\d+`, "$1${2}N"},
		{`(\.\w+)(:\d+){1,2}\b`, "$1:LINE"},
		{`(?i)\bline \d+`, "line LINE"},
		{`(?i)\b[0-9a-f]{16,}\b`, "ID"},
		{`\b\d{9,}\b`, "N"},
		{`[ \t]+`, " "},
	} {
		out = append(out, replacement{regexp.MustCompile(r[0]), r[1]})
	}
	return out
})

// maxCompared is how much of an output is compared, from its end, in bytes.
const maxCompared = 64 << 10

// Normalize is an output without what differs between runs that fail for the same reason: times, durations,
// directories, addresses, line numbers, and the order of lines, which parallel tests change.
func Normalize(output string) string {
	text := clean(output)
	if len(text) > maxCompared {
		text = text[len(text)-maxCompared:]
	}
	for _, r := range replacements() {
		text = r.find.ReplaceAllString(text, r.with)
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
