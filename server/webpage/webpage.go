// Package webpage writes a session as HTML: as one file that needs nothing else, with its style inside and without
// scripts, or as the page of a share, whose style and script come from the server. Neither has a remote
// image, and links go only to the web and to mail. Every text of the session is escaped, and a policy forbids the rest.
//
// It holds no state. Start reading at Write.
package webpage

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/internal/termtext"
)

//go:embed page.css
var style string

// Style is the style of a page that does not have it inside.
func Style() string { return style }

// App has the paths of the script and the style that draw a shared session as the web app does.
type App struct{ Script, Style string }

// Page is a file that is being written. Begin with Write, then add the messages, then End.
type Page struct {
	out io.Writer
	at  *time.Location
	end raw // of what Shared opened
	err error
}

// Write begins a page with the head of a session. Times are in the given zone.
func Write(out io.Writer, s lathe.Session, at *time.Location) *Page {
	p := &Page{out: out, at: at}
	title := cmp.Or(s.Title, string(s.ID))
	p.write(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"/>
<meta name="referrer" content="no-referrer"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>%s</title>
<style>
%s</style>
</head>
<body>
<header>
<h1>%s</h1>
<dl>
`, text(title), raw(style), text(title))
	rows := [][2]string{{"Session", string(s.ID)}, {"Directory", s.Directory}, {"Created", p.time(s.Created)}, {"Updated", p.time(s.Updated)}}
	if s.Cost != nil && *s.Cost != 0 {
		rows = append(rows, [2]string{"Cost", s.Cost.Short()})
	}
	for _, r := range rows {
		p.write("<dt>%s</dt><dd>%s</dd>\n", text(r[0]), text(r[1]))
	}
	p.write("</dl>\n</header>\n<main>\n")
	return p
}

// Shared begins the page of a share, with its title alone. It is complete without a script; with one, the app's own renderer
// replaces what is here and follows the session.
func Shared(out io.Writer, s lathe.Session, app App, at *time.Location) *Page {
	p := &Page{out: out, at: at}
	title := cmp.Or(s.Title, string(s.ID))
	p.write(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="robots" content="noindex, nofollow"/>
<meta name="referrer" content="no-referrer"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>%s</title>
<link rel="stylesheet" href="/share/page.css"/>
<link rel="stylesheet" href="%s" media="not all"/>
<script type="module" src="%s"></script>
</head>
<body>
<div id="app"></div>
<div id="rendered">
<header><h1>%s</h1><p class="note">Shared session, read-only · %s</p></header>
<main>
`, text(title), text(app.Style), text(app.Script), text(title), text(p.time(s.Created)))
	p.end = "</div>\n"
	return p
}

// End completes the page and returns the first error of the writer.
func (p *Page) End() error {
	p.write("</main>\n%s</body>\n</html>\n", p.end)
	return p.err
}

// raw is HTML that this package wrote.
type raw string

// text escapes a text of the session. Control characters and marks of text direction become visible.
func text(s string) raw { return raw(html.EscapeString(termtext.PlainText(s))) }

// write formats HTML. Only raw values go in, so that no text is forgotten.
func (p *Page) write(format string, args ...raw) {
	if p.err != nil {
		return
	}
	all := make([]any, len(args))
	for i, a := range args {
		all[i] = a
	}
	_, p.err = fmt.Fprintf(p.out, format, all...)
}

func (p *Page) time(t lathe.Time) string {
	return t.Std().In(p.at).Format("2006-01-02 15:04:05")
}

// Messages adds messages, oldest first.
func (p *Page) Messages(all []lathe.Message) error {
	for _, m := range all {
		p.message(m)
	}
	return p.err
}

func (p *Page) message(m lathe.Message) {
	if !isShown(m) {
		return
	}
	by, class := "You", raw("user")
	a, answer := m.Data.(*lathe.Assistant)
	if answer {
		by, class = strings.Trim(a.Agent+" · "+a.Model.Provider+"/"+a.Model.Model, " ·/"), "assistant"
	}
	p.write("<article class=\"%s\">\n<div class=\"by\">%s · %s</div>\n", class, text(by), text(p.time(m.Created)))
	for _, one := range m.Parts {
		p.part(one.Body)
	}
	if answer && a.Error != nil {
		p.write("<p class=\"error\">%s: %s</p>\n", text(a.Error.Name()), text(lathe.FaultMessage(a.Error)))
	}
	p.write("</article>\n")
}

// isShown reports whether there is anything to see of a message. Notes of the program to the model are not shown.
func isShown(m lathe.Message) bool {
	if a, ok := m.Data.(*lathe.Assistant); ok && a.Error != nil {
		return true
	}
	return slices.ContainsFunc(m.Parts, func(p lathe.Part) bool {
		switch b := p.Body.(type) {
		case *lathe.Text:
			return b.Ignored.On() || !b.Synthetic.On() && strings.TrimSpace(b.Text) != ""
		case *lathe.Reasoning:
			return strings.TrimSpace(b.Text) != ""
		case *lathe.ToolCall, *lathe.File, *lathe.Subtask, *lathe.Compaction:
			return true
		default:
			return false
		}
	})
}

func (p *Page) part(body lathe.Body) {
	switch b := body.(type) {
	case *lathe.Text:
		switch {
		case b.Ignored.On():
			p.write("<p class=\"note\">%s</p>\n", text(b.Text))
		case !b.Synthetic.On() && strings.TrimSpace(b.Text) != "":
			p.write("<div class=\"text\">\n%s</div>\n", markdown(b.Text))
		}
	case *lathe.Reasoning:
		if strings.TrimSpace(b.Text) != "" {
			p.write("<details class=\"reasoning\"><summary>Thinking</summary><p>%s</p></details>\n", text(strings.TrimSpace(b.Text)))
		}
	case *lathe.ToolCall:
		p.call(b)
	case *lathe.File:
		p.file(b)
	case *lathe.Subtask:
		p.write("<p class=\"note\">Task for %s: %s</p>\n", text(b.Agent), text(b.Description))
	case *lathe.Compaction:
		p.write("<p class=\"note\">The history before this was summarized.</p>\n")
	default: // step boundaries, snapshots, parts of later versions
	}
}

// picture is an image inside an address. Other formats, such as SVG, can contain scripts.
var picture = phrase.Regexp(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$`)

func (p *Page) file(f *lathe.File) {
	if picture().MatchString(f.URL) {
		p.write("<p><img alt=\"%s\" src=\"%s\"/></p>\n", text(f.Filename), text(f.URL))
		return
	}
	p.write("<p class=\"note\">File: %s (%s)</p>\n", text(f.Filename), text(f.Mime))
}

// call adds a tool call, folded: its input, its output and the change of a file.
func (p *Page) call(c *lathe.ToolCall) {
	icon, title, output, class := "·", "", "", raw("tool")
	var input, metadata json.RawMessage
	switch s := c.State.(type) {
	case *lathe.Pending:
		input = s.Input
	case *lathe.Running:
		icon, title, input = "▸", s.Title, s.Input
	case *lathe.Completed:
		icon, title, output, input, metadata = "✓", s.Title, s.Output, s.Input, s.Metadata
	case *lathe.Failed:
		icon, output, input, class = "✗", s.Error, s.Input, "tool failed"
	}
	title = termtext.Clip(termtext.OneLine(cmp.Or(title, phrase.Hint(input))), 120)
	p.write("<details class=\"%s\"><summary>%s %s %s</summary>\n", class, text(icon), text(c.Tool), text(title))
	var changed struct {
		Diff string `json:"diff"`
	}
	if json.Unmarshal(metadata, &changed) == nil && changed.Diff != "" {
		p.write("<pre>%s</pre>\n", diff(changed.Diff))
	} else if len(input) > 2 {
		p.write("<pre>%s</pre>\n", text(indented(input)))
	}
	if strings.TrimSpace(output) != "" {
		p.write("<pre>%s</pre>\n", text(strings.TrimRight(output, "\n")))
	}
	p.write("</details>\n")
}

func indented(input json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, input, "", "  ") != nil {
		return string(input)
	}
	return b.String()
}

// diff marks added and removed lines.
func diff(s string) raw {
	var b strings.Builder
	for line := range strings.Lines(s) {
		class := ""
		switch {
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		if class == "" {
			b.WriteString(string(text(line)))
			continue
		}
		fmt.Fprintf(&b, `<span class="%s">%s</span>`, class, text(line))
	}
	return raw(b.String())
}
