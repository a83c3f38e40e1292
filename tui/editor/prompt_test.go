package editor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/style"
)

func TestSubmit(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	same(t, press(t, e, "enter"), Nothing{})
	typeIn(t, e, " \n ")
	same(t, press(t, e, "enter"), Nothing{})
	e.Clear()
	typeIn(t, e, "  hello\nthere \n")
	same(t, press(t, e, "enter"), Submit{
		Text: "hello\nthere", Parts: []lathe.Part{{Body: &lathe.Text{Text: "hello\nthere"}}},
		Draft: Draft{Input: "  hello\nthere \n", Cursor: 15},
	})
	if !e.IsEmpty() {
		t.Error("the prompt is not empty")
	}
}

// What is sent names files and agents with their places, in units of UTF-16, in the text as it is sent.
func TestSubmit_Parts(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	typeIn(t, e, " 😀 ")
	e.Paste("a\nb\nc")
	same(t, typeIn(t, e, "@mai"), WantFiles{"mai"})
	e.SetFiles("mai", []string{"cmd/a b/main.go", "docs/"})
	press(t, e, "enter")
	typeIn(t, e, "@doc")
	e.SetFiles("doc", []string{"docs/"})
	press(t, e, "enter")
	same(t, typeIn(t, e, "@x.go#12-40"), Nothing{})
	e.SetFiles("x.go", []string{"/abs/x.go"})
	press(t, e, "enter")
	typeIn(t, e, "@gen")
	press(t, e, "enter")
	e.Attach("shot.png", "image/png", []byte("png"))
	out, ok := press(t, e, "enter").(Submit)
	if !ok {
		t.Fatal("not sent")
	}
	text := "😀 a\nb\nc @cmd/a b/main.go @docs/ @/abs/x.go#12-40 @general [Image 1]"
	file := func(path, url, mime, value string, start int) lathe.Part {
		return lathe.Part{Body: &lathe.File{Mime: mime, URL: url, Filename: path, Source: &lathe.FileSource{
			Type: "file", Path: path, Text: lathe.Mention{Value: value, Start: start, End: start + len(value)},
		}}}
	}
	same(t, out.Parts, []lathe.Part{
		{Body: &lathe.Text{Text: text}},
		file("cmd/a b/main.go", "file:///code/app/cmd/a%20b/main.go", "text/plain", "@cmd/a b/main.go", 9),
		file("docs/", "file:///code/app/docs/", "application/x-directory", "@docs/", 26),
		file("/abs/x.go", "file:///abs/x.go?start=12&end=40", "text/plain", "@/abs/x.go#12-40", 33),
		{Body: &lathe.AgentMention{Name: "general", Source: &lathe.Mention{Value: "@general", Start: 50, End: 58}}},
		file("shot.png", "data:image/png;base64,cG5n", "image/png", "[Image 1]", 59),
	})
	same(t, out.Text, text)
	same(t, out.Draft.Files(), []string{"cmd/a b/main.go", "docs/", "/abs/x.go"})
}

func TestFileURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ dir, path, want string }{
		{"/w", "./a/../b.go", "file:///w/b.go"},
		{"/w/", "é#?.go", "file:///w/%C3%A9%23%3F.go"},
		{`C:\w`, `a.go`, "file:///C:/w/a.go"},
		{`C:\w`, `D:\x\y.go`, "file:///D:/x/y.go"},
		{"", "a.go", "file:///a.go"},
		{"/", "/", "file:///"},
	} {
		if got := fileToken(tt.path, 0, 0).fileURL(tt.dir); got != tt.want {
			t.Errorf("%s in %s: %s", tt.path, tt.dir, got)
		}
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	typeIn(t, e, "/mod")
	if !e.Suggesting() {
		t.Fatal("no suggestions")
	}
	same(t, press(t, e, "enter"), RunCommand{Name: "models"})
	want(t, e, "|")
	typeIn(t, e, "/cle") // an alias
	same(t, press(t, e, "enter"), RunCommand{Name: "new"})
	typeIn(t, e, "/chang") // a word of the description
	press(t, e, "tab")
	want(t, e, "/review |")
	typeIn(t, e, "the tests")
	same(t, press(t, e, "enter"), ServerCommand{Name: "review", Arguments: "the tests", Draft: Draft{Input: "/review the tests", Cursor: 17}})
	typeIn(t, e, "/init")
	same(t, press(t, e, "enter"), ServerCommand{Name: "init", Draft: Draft{Input: "/init", Cursor: 5}})
	typeIn(t, e, "/new")
	press(t, e, "esc")
	if e.Suggesting() {
		t.Error("esc does not close")
	}
	same(t, press(t, e, "enter"), RunCommand{Name: "new"})
	typeIn(t, e, "/rena")
	press(t, e, "enter")
	want(t, e, "/rename |")
	typeIn(t, e, "better")
	same(t, press(t, e, "enter"), RunCommand{Name: "rename", Arguments: "better"})
	typeIn(t, e, "text that stays")
	press(t, e, "home", "/", "m", "o")
	same(t, press(t, e, "enter"), RunCommand{Name: "models"})
	want(t, e, "|text that stays")
	e.Restore(Draft{Input: "/reviiew it", Cursor: 5})
	press(t, e, "backspace", "tab")
	want(t, e, "/review | it")
	e.Clear()
	for _, text := range []string{"/etc/hosts is wrong", " /new things", "see /new", "\n/new", "/ or", "//go:build linux", "// like this", "/go.mod"} {
		typeIn(t, e, text)
		press(t, e, "esc")
		if out, ok := press(t, e, "enter").(Submit); !ok || out.Text != strings.TrimSpace(text) {
			t.Errorf("%q: %#v", text, out)
		}
	}
}

func TestCommands_Files(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	typeIn(t, e, "/review @a")
	e.SetFiles("a", []string{"a.go"})
	press(t, e, "enter")
	want(t, e, "/review {@a.go} |")
	typeIn(t, e, "@general")
	press(t, e, "enter")
	out, ok := press(t, e, "enter").(ServerCommand)
	if !ok || out.Arguments != "@a.go @general" || len(out.Parts) != 1 {
		t.Fatalf("%#v", out)
	}
	f, ok := out.Parts[0].Body.(*lathe.File)
	if !ok || f.URL != "file:///code/app/a.go" || f.Source.Text.Start != 0 {
		t.Errorf("%+v", f)
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	same(t, typeIn(t, e, "mail a@b"), Nothing{})
	if e.Suggesting() {
		t.Error("an address is no mention")
	}
	e.Clear()
	same(t, typeIn(t, e, "@"), WantFiles{""})
	same(t, typeIn(t, e, "s"), WantFiles{"s"})
	e.SetFiles("", []string{"late.go"}) // too late
	if got := len(e.sug.items); got != 0 {
		t.Errorf("%d suggestions", got)
	}
	e.SetFiles("s", []string{"src/", "s.go"})
	same(t, press(t, e, "tab"), WantFiles{"src/"})
	want(t, e, "@src/|")
	if len(e.sug.items) != 1 { // of the old ones what still fits
		t.Errorf("%v", e.sug.items)
	}
	e.SetFiles("src/", []string{"src/a.go", "src/b.go"})
	press(t, e, "down", "enter")
	want(t, e, "{@src/b.go} |")
	press(t, e, "backspace", "left")
	want(t, e, "|{@src/b.go}")
	press(t, e, "right", "backspace")
	want(t, e, "|")
	typeIn(t, e, "@g")
	press(t, e, "esc")
	typeIn(t, e, "e")
	if e.Suggesting() {
		t.Error("closed suggestions came back")
	}
	typeIn(t, e, " @g")
	if !e.Suggesting() {
		t.Error("no suggestions for another word")
	}
	same(t, press(t, e, "left", "left", "left"), Nothing{})
	if e.Suggesting() {
		t.Error("suggestions for a word that is left")
	}
}

func TestMentions_Range(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Token{
		"a.go#12-40":   {Kind: KindFile, Text: "@a.go#12-40", Path: "a.go", Start: 12, End: 40},
		"a.go#L12-L40": {Kind: KindFile, Text: "@a.go#12-40", Path: "a.go", Start: 12, End: 40},
		"a.go#7":       {Kind: KindFile, Text: "@a.go#7", Path: "a.go", Start: 7, End: 7},
		"a.go#7-":      {Kind: KindFile, Text: "@a.go#7", Path: "a.go", Start: 7, End: 7},
		"a.go#9-3":     {Kind: KindFile, Text: "@a.go", Path: "a.go"},
		"a.go#x":       {Kind: KindFile, Text: "@a.go#x", Path: "a.go#x"},
	} {
		file, start, end := cutRange(text)
		same(t, *fileToken(file, start, end), want)
	}
}

func TestPaste(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 151)
	for _, tt := range []struct{ text, want string }{
		{"short", "short|"},
		{"two\r\nlines\r\n", "two\nlines\n|"},
		{"a\nb\nc", "{[Pasted ~3 lines]} |"},
		{long, "{[Pasted ~1 lines]} |"},
		{long[:150], long[:150] + "|"},
		{"\x1b[31mred\x1b[0m\x00\x07", "red|"},
		{"bad \xff byte", "bad \uFFFD byte|"},
		{"file:///home/dev/a%20b.go", "{@/home/dev/a b.go} |"},
		{"/usr/bin/env", "/usr/bin/env|"},
		{"", "|"},
	} {
		e := newEditor(t)
		if out := e.Paste(tt.text); out != (Nothing{}) {
			t.Errorf("%q: %#v", tt.text, out)
		}
		want(t, e, tt.want)
	}
	e := newEditor(t)
	e.SetPasteSummary(false)
	e.Paste("a\nb\nc")
	want(t, e, "a\nb\nc|")
	e = newEditor(t)
	e.Paste("a\nb\nc\n")
	typeIn(t, e, "why?")
	if out, ok := press(t, e, "enter").(Submit); !ok || out.Text != "a\nb\nc\n why?" {
		t.Errorf("%#v", out)
	}
}

// A mention that was typed to its end is one; lines can still be said of a file that was just chosen.
func TestMention_TypedOut(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	typeIn(t, e, "see @main.go")
	e.SetFiles("main.go", []string{"cmd/main.go", "main.go"})
	typeIn(t, e, " and @general or @gen x")
	want(t, e, "see {@main.go} and {@general} or @gen x|")
	e = newEditor(t)
	typeIn(t, e, "@mai")
	e.SetFiles("mai", []string{"main.go"})
	press(t, e, "enter")
	want(t, e, "{@main.go} |")
	same(t, typeIn(t, e, "#"), WantFiles{"main.go#"})
	same(t, typeIn(t, e, "5"), WantFiles{"main.go"})
	typeIn(t, e, "-9")
	e.SetFiles("main.go", []string{"main.go"})
	typeIn(t, e, " is #1")
	want(t, e, "{@main.go#5-9} is #1|")
}

func TestPaste_Files(t *testing.T) {
	t.Parallel()
	for text, path := range map[string]string{
		"/tmp/a.png ":            "/tmp/a.png",
		`/tmp/a\ b\(1\).PDF`:     "/tmp/a b(1).PDF",
		"'/tmp/it'\\''s a.jpg'":  "/tmp/it's a.jpg",
		`"/tmp/a b.svg"`:         "/tmp/a b.svg",
		"~/a.webp":               "~/a.webp",
		`C:\Users\usr\a.gif`:     `C:\Users\usr\a.gif`,
		"file:///tmp/a%20b.jpeg": "/tmp/a b.jpeg",
	} {
		e := newEditor(t)
		same(t, e.Paste(text), WantDropped{Paths: []string{path}, Text: text})
		want(t, e, "|")
	}
	for _, text := range []string{"see /tmp/a.png", "/tmp/a b.png", "a.png", "/tmp/a.png\n/tmp/b.png", "file://host/a.png", "'"} {
		e := newEditor(t)
		e.Paste(text)
		want(t, e, text+"|")
	}
	for text, paths := range map[string][]string{
		"/tmp/a.png /tmp/b.go ":                       {"/tmp/a.png", "/tmp/b.go"},
		`/tmp/a\ b.go  /tmp/it\'s.go`:                 {"/tmp/a b.go", "/tmp/it's.go"},
		`'/tmp/a b.go' '/tmp/it'\''s.go' "/tmp/c d/"`: {"/tmp/a b.go", "/tmp/it's.go", "/tmp/c d/"},
		"file:///tmp/a%20b.go file:///tmp/c.png":      {"/tmp/a b.go", "/tmp/c.png"},
		`C:\Users\usr\a.go "C:\a b\c.go"`:             {`C:\Users\usr\a.go`, `C:\a b\c.go`},
	} {
		e := newEditor(t)
		same(t, e.Paste(text), WantDropped{Paths: paths, Text: text})
		want(t, e, "|")
	}
	for _, text := range []string{"/bin/cp a /tmp/b", "/tmp/a and /tmp/b", "'/tmp/a /tmp/b", "/tmp/a \"", "./a ./b", "/bin/ls -l /tmp"} {
		e := newEditor(t)
		e.Paste(text)
		want(t, e, text+"|")
	}
	e := newEditor(t)
	press(t, e, "!")
	e.Paste("/tmp/a.png")
	want(t, e, "/tmp/a.png|")
	same(t, press(t, e, "ctrl+v"), WantClipboard{})
}

func TestAttach(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.Attach("/tmp/a.png", "image/png", nil)
	e.Attach("b.jpg", "image/jpeg", nil)
	e.Attach("c.pdf", "application/pdf", nil)
	e.Attach(`C:\d.svg`, "image/svg+xml", []byte("<svg/>"))
	e.Attach("x/D.SVG", "text/xml; charset=utf-8", []byte("<svg/>"))
	e.Attach("e.txt", "text/plain; charset=utf-8", []byte("note"))
	e.Attach("f.bin", "application/octet-stream", nil)
	want(t, e, "{[Image 1]} {[Image 2]} {[PDF 1]} {[SVG: d.svg]} {[SVG: D.SVG]} note{[File: f.bin]} |")
	out, ok := e.Submit().(Submit)
	if !ok || out.Text != "[Image 1] [Image 2] [PDF 1] <svg/> <svg/> note[File: f.bin]" || len(out.Parts) != 5 {
		t.Errorf("%#v", out)
	}
}

// A command typed to its end is the first, then what fits best, the shorter of two alike; one that only its
// description speaks of is the last.
func TestCommands_Order(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.SetCommands([]Command{
		{Name: "share", Description: "Make a new link", Local: true},
		{Name: "renew", Local: true},
		{Name: "newest", Local: true},
		{Name: "start", Aliases: []string{"newly"}, Local: true},
		{Name: "newer", Local: true},
		{Name: "new", Local: true},
		{Name: "other", Description: "anew", Local: true},
	})
	typeIn(t, e, "/new")
	var got []string
	for _, it := range e.sug.items {
		got = append(got, it.command.Name)
	}
	if want := []string{"new", "newer", "newest", "start", "renew", "share"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Suggestions are a window around the chosen one.
func TestPopup_Window(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	var all []Command
	for i := range 30 {
		all = append(all, Command{Name: fmt.Sprintf("c%02d", i), Local: true})
	}
	e.SetCommands(all)
	typeIn(t, e, "/")
	press(t, e, "up")
	if from, to := e.sug.window(); from != 20 || to != 30 || e.sug.sel != 29 {
		t.Errorf("%d to %d, %d chosen", from, to, e.sug.sel)
	}
	press(t, e, "down", "ctrl+n", "ctrl+n", "ctrl+p")
	if from, to := e.sug.window(); from != 0 || to != 10 || e.sug.sel != 1 {
		t.Errorf("%d to %d, %d chosen", from, to, e.sug.sel)
	}
	same(t, e.ClickPopup(10), NotHandled{})
	same(t, e.ClickPopup(3), RunCommand{Name: "c03"})
}

// A mistyped command stays in the prompt; a second slash or a space before it sends it.
func TestCommands_Unknown(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	for text, want := range map[string]UnknownCommand{
		"/modles":         {Name: "modles", Nearest: "models"},
		"/Models":         {Name: "Models", Nearest: "models"},
		"/clera":          {Name: "clera", Nearest: "clear"},
		"/xyzzy and more": {Name: "xyzzy"},
		"/srv:prompt":     {Name: "srv:prompt"},
		"/new things":     {Name: "new", Known: true},
	} {
		e.Restore(Draft{Input: text})
		same(t, e.Submit(), want)
		same(t, e.Text(), text)
	}
	for text, want := range map[string]string{"//modles x": "/modles x", " /modles": "/modles", "//models": "/models", "///x": "///x"} {
		e.Restore(Draft{Input: text})
		if out, ok := e.Submit().(Submit); !ok || out.Text != want {
			t.Errorf("%q: %#v", text, out)
		}
	}
	e.Restore(Draft{Input: "/modles"})
	if out, ok := e.SubmitText().(Submit); !ok || out.Text != "/modles" || !e.IsEmpty() {
		t.Errorf("as a text: %#v", out)
	}
}

// A line that begins with # is remembered; issue numbers, headings of Markdown texts and scripts are prompts.
func TestRemember(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	for text, want := range map[string]string{"#use tabs": "use tabs", "# run make first ": "run make first", "#": ""} {
		e.Restore(Draft{Input: text})
		if out, ok := e.Submit().(Remember); !ok || out.Line != want || out.Draft.Input != text || !e.IsEmpty() {
			t.Errorf("%q: %#v", text, out)
		}
	}
	for _, text := range []string{"#12 fails", "## Plan", "#!/bin/sh", "# Plan\nfirst", " #use tabs"} {
		e.Restore(Draft{Input: text})
		if out, ok := e.Submit().(Submit); !ok || out.Text != strings.TrimSpace(text) {
			t.Errorf("%q: %#v", text, out)
		}
	}
}

// A command that does not fit is run by who knows it, and not suggested.
func TestCommands_Hidden(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.SetCommands([]Command{{Name: "share", Local: true, Hidden: true}, {Name: "show", Local: true}})
	typeIn(t, e, "/sh")
	if got := style.Text(e.Popup(style.Default(true), 40)); strings.Contains(got, "share") || !strings.Contains(got, "show") {
		t.Errorf("suggested:\n%s", got)
	}
	e.Restore(Draft{Input: "/share"})
	same(t, e.Submit(), RunCommand{Name: "share"})
}
