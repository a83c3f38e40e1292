package webpage_test

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli/session/webpage"
)

// attack is a text that would do something on a page, in each of the places where texts stand.
const attack = "</title></p></pre></style>\"'><script>alert(1)</script><img src=x onerror=alert(1)>`</code><b onclick=x>`**<i>**\u202e\x1b[31m"

func page(t *testing.T, s lathe.Session, all ...lathe.Message) string {
	t.Helper()
	var b strings.Builder
	p := webpage.Write(&b, s, time.UTC)
	if err := p.Messages(all); err != nil {
		t.Fatal(err)
	}
	if err := p.End(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func message(data lathe.RoleData, bodies ...lathe.Body) lathe.Message {
	m := lathe.Message{ID: "msg_1", Data: data, Created: 1737000000000}
	for _, b := range bodies {
		m.Parts = append(m.Parts, lathe.Part{Body: b})
	}
	return m
}

// tags returns the names of all elements and attributes, with strict nesting.
func tags(t *testing.T, src string) map[string]bool {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(src))
	d.Entity = xml.HTMLEntity
	found := map[string]bool{}
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, src)
		}
		if e, ok := tok.(xml.StartElement); ok {
			found[e.Name.Local] = true
			for _, a := range e.Attr {
				found["@"+a.Name.Local] = true
			}
		}
	}
}

// No text of a session becomes markup: the elements and attributes are those of this package, whatever the text.
func TestWrite_Hostile(t *testing.T) {
	t.Parallel()
	hostile, _ := json.Marshal(map[string]string{"command": attack, "diff": "+" + attack + "\n-" + attack})
	s := lathe.Session{ID: "ses_" + attack, Title: attack, Directory: attack}
	got := page(t, s,
		message(&lathe.User{}, &lathe.Text{Text: attack + "\n# " + attack + "\n- " + attack + "\n```" + attack + "\n" + attack},
			&lathe.File{Filename: attack, Mime: attack, URL: "data:image/png;base64,AAAA\" onerror=\"alert(1)"},
			&lathe.File{Filename: attack, Mime: "image/svg+xml", URL: "data:image/svg+xml;base64,PHN2Zy8+"},
			&lathe.File{Filename: attack, Mime: "image/png", URL: "https://example.com/x.png"},
			&lathe.File{Filename: attack, Mime: "image/png", URL: "data:image/png;base64,iVBORw0KGgo="}),
		message(&lathe.Assistant{Agent: attack, Model: lathe.ModelRef{Provider: attack, Model: attack}, Error: &lathe.UnknownFault{Message: attack}},
			&lathe.Reasoning{Text: attack}, &lathe.Text{Text: attack, Ignored: lathe.Yes}, &lathe.Subtask{Agent: attack, Description: attack},
			&lathe.ToolCall{Tool: attack, State: &lathe.Completed{Title: attack, Output: attack, Input: hostile, Metadata: hostile}},
			&lathe.ToolCall{Tool: attack, State: &lathe.Failed{Error: attack, Input: hostile}},
			&lathe.ToolCall{Tool: attack, State: &lathe.Running{Input: json.RawMessage(attack)}}),
	)
	// The control: with the escapes undone, the attack is there.
	if plain := strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(got); !strings.Contains(plain, "<script>") {
		t.Error("the attack did not arrive")
	}
	allowed := strings.Fields("html head meta title style body header h1 dl dt dd main article div p pre code strong details summary span img h2 ul li " +
		"@lang @charset @http-equiv @content @name @class @alt @src")
	found := tags(t, strings.Replace(got, "<!doctype html>", "", 1))
	for _, name := range allowed {
		delete(found, name)
	}
	if len(found) > 0 {
		t.Errorf("unexpected markup: %v", found)
	}
	for _, bad := range []string{"<script", "svg+xml;base64", "https://", "\x1b", "\u202e"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if strings.Count(got, "<img ") != 1 || !strings.Contains(got, `src="data:image/png;base64,iVBORw0KGgo="`) {
		t.Error("exactly the one safe picture should be shown")
	}
}

// The common Markdown becomes markup.
func TestWrite_Markdown(t *testing.T) {
	t.Parallel()
	got := page(t, lathe.Session{ID: "ses_1", Title: "A & B"}, message(&lathe.Assistant{Agent: "build"},
		&lathe.Text{Text: "# Result\nIt **works** with `go < 2`.\n\n1. one\n2. two\n   more\n\n```go\nif a < b {\n\n}\n```\ndone"}))
	_, body, _ := strings.Cut(got, "<div class=\"text\">\n")
	body, _, _ = strings.Cut(body, "</div>")
	want := `<h2>Result</h2>
<p>It <strong>works</strong> with <code>go &lt; 2</code>.</p>
<ul>
<li>one</li>
<li>two more</li>
</ul>
<pre><code>if a &lt; b {

}</code></pre>
<p>done</p>
`
	if body != want {
		t.Errorf("got:\n%s\nwant:\n%s", body, want)
	}
	if !strings.Contains(got, "<title>A &amp; B</title>") || !strings.Contains(got, "prefers-color-scheme: dark") {
		t.Error("title or style is missing")
	}
}
