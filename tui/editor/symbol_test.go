package editor

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/style"
)

func foundSymbol(name, uri string, from, to int) api.Symbol {
	at := func(line int) api.SymbolPosition { return api.SymbolPosition{Line: line} }
	return api.Symbol{Name: name, Kind: 12, Location: api.SymbolLocation{URI: uri, Range: api.SymbolRange{Start: at(from), End: at(to)}}}
}

// What a server found is hostile: only files have a place, and a name has one line.
func TestSymbolsOf(t *testing.T) {
	t.Parallel()
	same(t, SymbolsOf([]api.Symbol{
		foundSymbol("Start", "file:///code/app/srv/main.go", 11, 40), foundSymbol("one line", "file:///code/app/a%20b.go", 4, 4),
		foundSymbol("away", "file:///code/application/x.go", 0, 9), foundSymbol("web", "http://example.org/x", 0, 1), foundSymbol("", "file:///x", 0, 1),
		foundSymbol("minus", "file:///x", -5, 1), foundSymbol("two\nlines\x1b[2J", "file:///code/app/x.go", 0, 1),
	}, "/code/app"), []Symbol{
		{Name: "Start", Path: "srv/main.go", Start: 12, End: 41, Kind: 12},
		{Name: "one line", Path: "a b.go", Start: 5, End: 44, Kind: 12},
		{Name: "away", Path: "/code/application/x.go", Start: 1, End: 10, Kind: 12},
		{Name: "two lines", Path: "x.go", Start: 1, End: 2, Kind: 12},
	})
}

// A symbol is sent as the lines that it stands for, comes below the first files, and can be sent again.
func TestSymbols(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	typeIn(t, e, "see @Sta")
	e.SetFiles("Sta", []string{"stack.go"})
	e.SetSymbols("St", []Symbol{{Name: "Outdated"}})
	e.SetSymbols("Sta", []Symbol{{Name: "Server.Start", Path: "srv/main.go", Start: 12, End: 40, Kind: 6}})
	popup := style.Text(e.Popup(style.Default(true), 60))
	if first, rest, _ := strings.Cut(popup, "\n"); !strings.Contains(first, "stack.go") || !strings.Contains(rest, "@Server.Start") || !strings.Contains(rest, "srv/main.go:12") || strings.Contains(popup, "Outdated") {
		t.Errorf("%s", popup)
	}
	press(t, e, "down")
	press(t, e, "enter")
	draft := e.Draft()
	out, ok := press(t, e, "enter").(Submit)
	if !ok || len(out.Parts) != 2 {
		t.Fatalf("%+v", out)
	}
	file := out.Parts[1].Body.(*lathe.File)
	if file.URL != "file:///code/app/srv/main.go?start=12&end=40" || file.Filename != "srv/main.go" || out.Text != "see @Server.Start" {
		t.Errorf("%q %+v", out.Text, file)
	}
	const source = `"source":{"type":"symbol","text":{"value":"@Server.Start","start":4,"end":17},"path":"srv/main.go","range":{"start":{"line":11,"character":0},"end":{"line":39,"character":0}},"name":"Server.Start","kind":6}`
	if got := string(out.Parts[1].AppendJSON(nil)); !strings.Contains(got, source) {
		t.Errorf("%s", got)
	}
	again := DraftOf(out.Parts)
	if len(again.Parts) != 1 || again.Parts[0].Token.Kind != KindSymbol || again.Parts[0].Token.Start != 12 || again.Parts[0].Token.End != 40 || again.Parts[0].Token.Path != "srv/main.go" {
		t.Errorf("%+v", again)
	}
	e.Restore(draft)
	same(t, press(t, e, "enter").(Submit).Parts, out.Parts)
}
