package builtin_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/builtin"
	"github.com/lathe-agent/lathe/tool/tooltest"
	"pgregory.net/rapid"
)

func TestRead_Text(t *testing.T) {
	tests := []struct {
		name, text, lines, closing string
		input                      tooltest.Input
	}{
		{"plain", "a\nb\n", "1: a\n2: b\n", "End of file, 2 lines.", nil},
		{"no final newline", "a\nb", "1: a\n2: b\n", "End of file, 2 lines.", nil},
		{"blank lines", "\n\n", "1: \n2: \n", "End of file, 2 lines.", nil},
		{"CRLF", "a\r\nb\r\n", "1: a\n2: b\n", "End of file, 2 lines.", nil},
		{"mixed ends", "a\r\nb\nc\rd\n", "1: a\n2: b\n3: c\rd\n", "End of file, 3 lines.", nil},
		{"byte-order mark", "\ufeffa\n", "1: a\n", "End of file, 1 line.", nil},
		{"empty", "", "", "The file is empty.", nil},
		{"only a mark", "\ufeff", "", "The file is empty.", nil},
		{"offset 0 is the first line", "a\nb\n", "1: a\n2: b\n", "End of file, 2 lines.", tooltest.Input{"offset": 0, "limit": 0}},
		{"range", "a\nb\nc\nd\n", "2: b\n3: c\n", "Showing lines 2-3 of 4. Use offset=4 to continue.", tooltest.Input{"offset": 2, "limit": 2}},
		{"last line", "a\nb\nc", "3: c\n", "End of file, 3 lines.", tooltest.Input{"offset": 3, "limit": 5}},
		{"numbers in texts", "a\nb\n", "2: b\n", "End of file, 2 lines.", tooltest.Input{"offset": "2"}},
		{"not UTF-8", "a\xffb\n", "1: a\ufffdb\n", "End of file, 1 line. Some bytes are not UTF-8 and shown as \ufffd; the file is not changed by that.", nil},
		{
			"long line", strings.Repeat("ä", 3000) + "\nb\n", "1: " + strings.Repeat("ä", 2000) + "... (line cut: 2000 of 3000 characters)\n2: b\n",
			"End of file, 2 lines. Lines over 2000 characters are cut; grep or cut shows parts of them.", nil,
		},
		{"line of just the limit", strings.Repeat("ä", 2000) + "\r\n", "1: " + strings.Repeat("ä", 2000) + "\n", "End of file, 1 line.", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tooltest.NewHost(t)
			path := d.Put("f.txt", tt.text)
			input := tooltest.Input{"filePath": "f.txt"}
			for k, v := range tt.input {
				input[k] = v
			}
			want := fmt.Sprintf("<path>%s</path>\n<type>file</type>\n<content>\n%s\n(%s)\n</content>", path, tt.lines, tt.closing)
			if diff := cmp.Diff(want, d.Must(builtin.Read(builtin.ReadConfig{}), input).Output); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestRead_Metadata(t *testing.T) {
	d := tooltest.NewHost(t)
	path := d.Put("sub/f.txt", "a\nb\nc\n")
	got := d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": path, "limit": 2})
	// The sum was made with sha256sum.
	want := fmt.Sprintf(`{"preview":"a\nb","truncated":true,"loaded":[],"display":{"type":"file","path":%q,"text":"a\nb","lineStart":1,"lineEnd":2,"totalLines":3,"truncated":true},"lathe":{"seen":{%[1]q:"880553fca8fcea94"}}}`, path)
	if diff := cmp.Diff(want, string(got.Metadata)); diff != "" {
		t.Error(diff)
	}
	if got.Title != "sub/f.txt" {
		t.Errorf("title %q", got.Title)
	}
	if diff := cmp.Diff([]tool.Permission{{Name: "read", Patterns: []string{"sub/f.txt"}, Always: []string{"*"}}}, d.Asked); diff != "" {
		t.Error(diff)
	}
}

// Whatever the text and however it is asked for, the parts make the whole, and the lines and
// their count are those of a simple split.
func TestRead_AsSplit(t *testing.T) {
	d := tooltest.NewHost(t)
	read := builtin.Read(builtin.ReadConfig{})
	piece := rapid.SampledFrom([]string{"", "a", "ä", "\r", "x y", strings.Repeat("z", 2001), strings.Repeat("w", 70_000), "\xff", "\u2028"})
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(piece, 1, 40).Draw(rt, "lines")
		text := "#" + strings.Join(lines, "\n")
		path := d.Put("f", text)
		want := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		offset := rapid.IntRange(1, len(want)).Draw(rt, "offset")
		limit := rapid.IntRange(1, 50).Draw(rt, "limit")
		r, err := d.Run(read, tooltest.Input{"filePath": path, "offset": offset, "limit": limit})
		if err != nil {
			rt.Fatal(err)
		}
		var meta struct {
			Truncated bool
			Display   struct {
				Text                           string
				LineStart, LineEnd, TotalLines int
			}
		}
		if err := json.Unmarshal(r.Metadata, &meta); err != nil {
			rt.Fatal(err)
		}
		got := strings.Split(meta.Display.Text, "\n")
		if meta.Display.TotalLines != len(want) || meta.Display.LineEnd != offset+len(got)-1 || meta.Truncated != (meta.Display.LineEnd < len(want)) {
			rt.Fatalf("%+v; want %d lines", meta, len(want))
		}
		for i, line := range got {
			plain := strings.ToValidUTF8(strings.TrimSuffix(want[offset-1+i], "\r"), "\ufffd")
			if len(plain) <= 2000 && line != plain || len(plain) > 2000 && !strings.HasPrefix(line, plain[:2000]+"... (") {
				rt.Fatalf("line %d: %.50q; want %.50q", offset+i, line, plain)
			}
		}
		if !strings.Contains(r.Output, fmt.Sprintf("\n%d: ", offset)) {
			rt.Fatalf("no line %d", offset)
		}
	})
}

func TestRead_Capped(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("f", strings.Repeat(strings.Repeat("x", 99)+"\n", 3000))
	r := d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "f"})
	if !strings.Contains(r.Output, "\n512: x") || strings.Contains(r.Output, "\n513: x") ||
		!strings.Contains(r.Output, "(Capped at 50 KB: showing lines 1-512 of 3000. Use offset=513 to continue, or grep to find a place.)") {
		t.Error(r.Output[len(r.Output)-300:])
	}
	r = d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "f", "offset": 2900, "limit": 1 << 40})
	if !strings.Contains(r.Output, "(End of file, 3000 lines.)") || len(r.Output) > 60<<10 {
		t.Error(r.Output)
	}
}

func TestRead_Directory(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("b.txt", "")
	d.Put("A/x", "")
	d.Put("a.txt", "")
	d.Put("line\nbreak", "")
	d.Link(d.Out, "to-dir")
	d.Link("nowhere", "to-nothing")
	r := d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "."})
	want := "<path>" + d.Dir + "</path>\n<type>directory</type>\n<entries>\nA/\na.txt\nb.txt\n\"line\\nbreak\"\nto-dir/\nto-nothing\n\n(6 entries)\n</entries>"
	if diff := cmp.Diff(want, r.Output); diff != "" {
		t.Error(diff)
	}
	r = d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": d.Dir, "offset": 2, "limit": 2})
	if !strings.Contains(r.Output, "\na.txt\nb.txt\n\n(Showing 2 of 6 entries. Use offset=4 to continue.)") {
		t.Error(r.Output)
	}
	want = fmt.Sprintf(`{"preview":"a.txt\nb.txt","truncated":true,"loaded":[],"display":{"type":"directory","path":%q,"entries":["a.txt","b.txt"],"offset":2,"totalEntries":6,"truncated":true}}`, d.Dir)
	if diff := cmp.Diff(want, string(r.Metadata)); diff != "" {
		t.Error(diff)
	}
	if err := os.Mkdir(filepath.Join(d.Dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r = d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "empty"}); !strings.Contains(r.Output, "(0 entries)") || !strings.Contains(string(r.Metadata), `"entries":[]`) {
		t.Error(r)
	}
}

func TestRead_Media(t *testing.T) {
	d := tooltest.NewHost(t)
	for name, tt := range map[string]struct{ data, mime, output string }{
		"a.png":  {"\x89PNG\r\n\x1a\n rest", "image/png", "Image read successfully: image/png, 13 bytes."},
		"b":      {"\xff\xd8\xff\xe0 rest", "image/jpeg", "Image read successfully: image/jpeg, 9 bytes."},
		"c.txt":  {"GIF89a rest", "image/gif", "Image read successfully: image/gif, 11 bytes."},
		"d.webp": {"RIFF\x01\x02\x03\x04WEBP", "image/webp", "Image read successfully: image/webp, 12 bytes."},
		"e.pdf":  {"%PDF-1.7", "application/pdf", "PDF read successfully: application/pdf, 8 bytes."},
		"f.pdf":  {"\xef\xbb\xbf\n%PDF-1.7", "application/pdf", "PDF read successfully: application/pdf, 12 bytes."},
	} {
		d.Put(name, tt.data)
		r := d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": name})
		want := []*lathe.File{{Mime: tt.mime, URL: "data:" + tt.mime + ";base64," + base64.StdEncoding.EncodeToString([]byte(tt.data))}}
		if diff := cmp.Diff(want, r.Attachments); diff != "" || r.Output != tt.output {
			t.Errorf("%s: %s %s", name, r.Output, diff)
		}
		if !strings.HasPrefix(string(r.Metadata), fmt.Sprintf(`{"preview":%q,"truncated":false,"loaded":[],"lathe":`, tt.output)) {
			t.Errorf("%s: %s", name, r.Metadata)
		}
	}
	// What is only called an image is a text, and so is an image of text.
	for name, text := range map[string]string{"lfs.png": "version https://git-lfs.github.com/spec/v1\n", "x.svg": "<svg/>"} {
		d.Put(name, text)
		if r := d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": name}); len(r.Attachments) > 0 || !strings.Contains(r.Output, "1: "+text[:5]) {
			t.Errorf("%s: %s", name, r.Output)
		}
	}
	big := filepath.Join(d.Dir, "big.png")
	d.Put("big.png", "\x89PNG\r\n\x1a\n")
	if err := os.Truncate(big, 21<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Run(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": big}); err == nil || !strings.Contains(err.Error(), "the image has 21.0 MB, and at most 20.0 MB can be attached") {
		t.Error(err)
	}
}

func TestRead_Refused(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("a/main.go", "x")
	d.Put("a/main_test.go", "x")
	d.Put("a/other.txt", "1\n2\n")
	if err := os.Mkdir(filepath.Join(d.Dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.Put("x.zip", "text")
	d.Put("nul", "a\x00b")
	d.Put("odd", "\x01\x02\x03\x04abcde")
	d.Put("it's.bin", "")
	d.Put("wide.txt", "\xff\xfea\x00")
	sparse := d.Put("sparse", "")
	if err := os.Truncate(sparse, 2<<30); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(d.Dir, name) }
	tests := []struct {
		name  string
		input tooltest.Input
		says  string
	}{
		{"misspelled", tooltest.Input{"filePath": "a/mian.go"}, "File not found: " + at("a/mian.go") + ". Did you mean one of these? Call read with it:\n" + at("a/main.go")},
		{"contained", tooltest.Input{"filePath": "a/main"}, "Call read with it:\n" + at("a/main.go") + "\n" + at("a/main_test.go")},
		{"other letters", tooltest.Input{"filePath": "a/OTHER.TXT"}, at("a/other.txt")},
		{"nothing like it", tooltest.Input{"filePath": "a/zebra"}, `Its directory exists, with nothing of a similar name. Call glob with "**/zebra"`},
		{"empty directory", tooltest.Input{"filePath": "empty/f"}, "Its directory exists, with nothing of a similar name"},
		{"no directory", tooltest.Input{"filePath": "b/c/d.go"}, "Its directory does not exist either; the last one on the way that does is " + d.Dir + ". "},
		{"below a file", tooltest.Input{"filePath": "a/main.go/x"}, "is a file, not a directory"},
		{"past the end", tooltest.Input{"filePath": "a/other.txt", "offset": 3}, "Offset 3 is past the end of " + at("a/other.txt") + ": it has 2 lines. Call read with an offset from 1 to 2."},
		{"directory past the end", tooltest.Input{"filePath": "a", "offset": 9}, "it has 3 entries"},
		{"archive", tooltest.Input{"filePath": "x.zip"}, "Cannot read binary file: " + at("x.zip") + " is an archive (zip) of 4 bytes. To look at it: bash with unzip -l '" + at("x.zip") + "'"},
		{"zero bytes", tooltest.Input{"filePath": "nul"}, "Cannot read binary file"},
		{"control characters", tooltest.Input{"filePath": "odd"}, "Cannot read binary file"},
		{"quoted for the shell", tooltest.Input{"filePath": "it's.bin"}, `it'\''s.bin'`},
		{"UTF-16", tooltest.Input{"filePath": "wide.txt"}, "a text in UTF-16 of 4 bytes. To look at it: bash with iconv -f UTF-16"},
		{"2 GB of nothing", tooltest.Input{"filePath": "sparse"}, "a binary file of 2.0 GB"},
		{"no offset", tooltest.Input{"filePath": "a", "offset": -1}, `"offset": must be at least 0, got -1`},
		{"device", tooltest.Input{"filePath": "/dev/zero"}, "is a device, not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := d.Run(builtin.Read(builtin.ReadConfig{}), tt.input)
			var f *tool.Failure
			if !errors.As(err, &f) || !strings.Contains(f.Text, tt.says) {
				t.Fatalf("got %v\nwant %s", err, tt.says)
			}
		})
	}
}

func TestRead_Outside(t *testing.T) {
	d := tooltest.NewHost(t)
	secret := d.Put(filepath.Join(d.Out, "secret"), "s\n")
	d.Put("real/f", "f\n")
	d.Link(d.Out, "way")
	d.Link("real/f", "alias")
	external := tool.Permission{
		Name: "external_directory", Patterns: []string{d.Out + "/*"}, Always: []string{d.Out + "/*"},
		Metadata: json.RawMessage(fmt.Sprintf(`{"filepath":%q,"parentDir":%q}`, secret, d.Out)),
	}
	read := func(patterns ...string) tool.Permission {
		return tool.Permission{Name: "read", Patterns: patterns, Always: []string{"*"}}
	}
	for _, tt := range []struct {
		name string
		want []tool.Permission
	}{
		{"../outside/secret", []tool.Permission{external, read("../outside/secret")}},
		{secret, []tool.Permission{external, read("../outside/secret")}},
		{"way/secret", []tool.Permission{external, read("../outside/secret", "way/secret")}},
		{"alias", []tool.Permission{read("real/f", "alias")}},
		{"real/../real/f", []tool.Permission{read("real/f")}},
	} {
		d.Asked = nil
		d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": tt.name})
		if diff := cmp.Diff(tt.want, d.Asked); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	// A directory outside is asked for itself, and a refusal is all the model gets.
	d.Asked, d.Refuse = nil, "external_directory"
	if _, err := d.Run(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": d.Out}); lathe.CodeOf(err) != lathe.Rejected || d.Asked[0].Patterns[0] != d.Out+"/*" || len(d.Asked) != 1 {
		t.Errorf("%v, %v", err, d.Asked)
	}
	// The checkout around the directory is inside, the root of the disk is not.
	d.Call.Root, d.Asked = filepath.Dir(d.Dir), nil
	if _, err := d.Run(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": secret}); err != nil || d.Asked[0].Patterns[0] != "outside/secret" {
		t.Errorf("%v, %v", err, d.Asked)
	}
	d.Call.Root = "/"
	if _, err := d.Run(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": secret}); lathe.CodeOf(err) != lathe.Rejected {
		t.Error(err)
	}
}

// A session whose directory is itself reached by a symlink works under the name it has.
func TestRead_DirectoryBehindSymlink(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("a/f", "x\n")
	alias := filepath.Join(d.Out, "alias")
	if err := os.Symlink(d.Dir, alias); err != nil {
		t.Skip(err)
	}
	d.Call.Dir = alias
	for _, name := range []string{"a/f", filepath.Join(alias, "a/f"), filepath.Join(d.Dir, "a/f")} {
		d.Asked = nil
		r := d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": name})
		if !strings.HasPrefix(r.Output, "<path>"+filepath.Join(alias, "a/f")+"</path>") || r.Title != "a/f" || d.Asked[0].Patterns[0] != "a/f" || len(d.Asked[0].Patterns) != 1 {
			t.Errorf("%s: %s, %s, %v", name, r.Title, r.Output, d.Asked)
		}
	}
}

// What is put in the place of a file while the user is asked is not what was allowed.
func TestRead_ReplacedWhileAsking(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("d/f", "mine")
	secret := d.Put(filepath.Join(d.Out, "f"), "secret")
	d.OnAsk = func(tool.Permission) {
		_ = os.RemoveAll(filepath.Join(d.Dir, "d"))
		d.Link(filepath.Dir(secret), "d")
	}
	r, err := d.Run(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": "d/f"})
	if err == nil || !strings.Contains(err.Error(), "was replaced while in use") {
		t.Errorf("%v, %v", r, err)
	}
}

func TestRead_Instructions(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("AGENTS.md", "top")
	mid := d.Put("a/AGENTS.md", "\ufeffmiddle\n")
	d.Put("a/CLAUDE.md", "not this one")
	low := d.Put("a/b/CLAUDE.md", "low\n")
	d.Put("a/b/f", "x\n")
	d.Put("a/b/g", "x\n")
	d.Put("c/AGENTS.md", "  \n")
	d.Put("c/f", "x\n")
	d.Put("e/f", "x\n")
	d.Link(d.Put(filepath.Join(d.Out, "secret"), "secret"), "e/AGENTS.md")
	seen := builtin.NewReadTracker()
	prompt := []string(nil)
	read := builtin.Read(builtin.ReadConfig{Tracker: seen, Instructions: []string{"AGENTS.md", "CLAUDE.md"}, InPrompt: func(string) []string { return prompt }})
	loaded := func(r tool.Result) []string {
		var meta struct{ Loaded []string }
		if err := json.Unmarshal(r.Metadata, &meta); err != nil {
			t.Fatal(err)
		}
		return meta.Loaded
	}
	r := d.Must(read, tooltest.Input{"filePath": "a/b/f"})
	want := "</content>\n\n<system-reminder>\nInstructions from: " + low + "\nlow\n\nInstructions from: " + mid + "\nmiddle\n</system-reminder>"
	if !strings.HasSuffix(r.Output, want) || !cmp.Equal(loaded(r), []string{low, mid}) {
		t.Error(r.Output, loaded(r))
	}
	if again := d.Must(read, tooltest.Input{"filePath": "a/b/g"}); len(loaded(again)) != 0 || strings.Contains(again.Output, "system-reminder") {
		t.Error("shown twice in one step:", again.Output)
	}
	d.Next("read", tooltest.Input{}, r)
	if again := d.Must(read, tooltest.Input{"filePath": "a/b/g"}); len(loaded(again)) != 0 {
		t.Error("shown again in a later step:", again.Output)
	}
	d.Messages = nil // a compaction
	d.Call.Message += "x"
	prompt = []string{mid}
	if again := d.Must(read, tooltest.Input{"filePath": low}); len(loaded(again)) != 0 {
		t.Error("the file itself, or what the prompt has:", again.Output)
	}
	if again := d.Must(read, tooltest.Input{"filePath": "a/b/g"}); !cmp.Equal(loaded(again), []string{low}) {
		t.Error("lost after a compaction:", again.Output)
	}
	for _, name := range []string{"c/f", "e/f", "AGENTS.md"} {
		if r := d.Must(read, tooltest.Input{"filePath": name}); len(loaded(r)) != 0 || strings.Contains(r.Output, "secret") {
			t.Errorf("%s: %s", name, r.Output)
		}
	}
}

func TestReadFile(t *testing.T) {
	d := tooltest.NewHost(t)
	path := d.Put(filepath.Join(d.Out, "f"), "a\nb\nc\n")
	c := &tool.Call{Dir: d.Dir, Root: d.Dir}
	got, err := builtin.ReadFile(context.Background(), c, path, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := d.Must(builtin.Read(builtin.ReadConfig{}), tooltest.Input{"filePath": path, "offset": 2, "limit": 1})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := builtin.ReadFile(context.Background(), c, "none", 0, 0); err == nil || !strings.Contains(err.Error(), "File not found") {
		t.Error(err)
	}
}

func TestRead_Canceled(t *testing.T) {
	d := tooltest.NewHost(t)
	d.Put("f", "x\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := d.Call
	c.Input = json.RawMessage(`{"filePath":"f"}`)
	if _, err := builtin.Read(builtin.ReadConfig{}).Run(ctx, &c); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Many reads at once hold little more than their results.
func TestRead_ManyAtOnce(t *testing.T) {
	d := tooltest.NewHost(t)
	line := strings.Repeat("x", 79) + "\n"
	d.Put("f", strings.Repeat(line, 10_000))
	read := builtin.Read(builtin.ReadConfig{Tracker: builtin.NewReadTracker()})
	d.Must(read, tooltest.Input{"filePath": "f"})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	results := make([]tool.Result, 200)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() { results[i] = d.Must(read, tooltest.Input{"filePath": "f", "offset": 1 + i*40}) })
	}
	wg.Wait()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	if t.Logf("%d MB for 200 reads", grown>>20); grown > 60<<20 {
		t.Error("more than 60 MB")
	}
	for i, r := range results {
		if !strings.Contains(r.Output, fmt.Sprintf("\n%d: x", 1+i*40)) {
			t.Errorf("read %d: %.100s", i, r.Output)
		}
	}
}

// BenchmarkRead_Far is 20 lines at offset 1,000,000 of 100 MB.
func BenchmarkRead_Far(b *testing.B) {
	path := filepath.Join(b.TempDir(), "big.log")
	line := bytes.Repeat([]byte("x"), 49)
	if err := os.WriteFile(path, bytes.Repeat(append(line, '\n'), 2<<20), 0o644); err != nil {
		b.Fatal(err)
	}
	c := &tool.Call{Dir: filepath.Dir(path), Root: "/"}
	b.ReportAllocs()
	for b.Loop() {
		r, err := builtin.ReadFile(context.Background(), c, path, 1_000_000, 20)
		if err != nil || !strings.Contains(r.Output, "1000019: x") {
			b.Fatal(err, r.Output)
		}
	}
}

// BenchmarkRead_Source is a file as most are.
func BenchmarkRead_Source(b *testing.B) {
	path := filepath.Join(b.TempDir(), "main.go")
	if err := os.WriteFile(path, bytes.Repeat([]byte("\tif err != nil { return err }\n"), 400), 0o644); err != nil {
		b.Fatal(err)
	}
	c := &tool.Call{Dir: filepath.Dir(path), Root: "/"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := builtin.ReadFile(context.Background(), c, path, 0, 0); err != nil {
			b.Fatal(err)
		}
	}
}
