package webpage_test

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/server/webpage"
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
		message(&lathe.User{}, &lathe.Text{Text: attack + "\n# " + attack + "\n- " + attack + "\n\n|" + attack + "|\n|-|\n|" + attack + "|\n\n```" + attack + "\n" + attack},
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
	allowed := strings.Fields("html head meta title style body header h1 dl dt dd main article div p pre code strong details summary span img h2 ul ol li table tr th td a em blockquote " +
		"@dir @start @href @rel @lang @charset @http-equiv @content @name @class @alt @src")
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
		&lathe.Text{Text: "# Result\nIt **works** with `go < 2`.\n\n3. one\n4. two\n   more\n   - [x] in *it*\n   - [ ] `**as is**`\n\n```go\nif a < b {\n\n}\n```\n| Case | Cost |\n|:--|--:|\n| a \\| b | **$1** |\n\ndone | so\n> see [the *docs*](https://go.dev/a?b=1&c=2) or https://go.dev/x. [no](javascript:alert(1)) snake_case_name _yes_ ~~old~~\n> - (\"https://go.dev\")"}))
	_, body, _ := strings.Cut(got, "<div class=\"text\">\n")
	body, _, _ = strings.Cut(body, "</div>")
	want := `<h2 dir="auto">Result</h2>
<p dir="auto">It <strong>works</strong> with <code>go &lt; 2</code>.</p>
<ol start="3" dir="auto">
<li>one</li>
<li>two more
<ul dir="auto">
<li>☑ in <em>it</em></li>
<li>☐ <code>**as is**</code></li>
</ul>
</li>
</ol>
<pre><code>if a &lt; b {

}</code></pre>
<table>
<tr><th dir="auto">Case</th><th dir="auto">Cost</th></tr>
<tr><td dir="auto">a | b</td><td dir="auto"><strong>$1</strong></td></tr>
</table>
<p dir="auto">done | so</p>
<blockquote>
<p dir="auto">see <a href="https://go.dev/a?b=1&amp;c=2" rel="noopener noreferrer nofollow">the *docs*</a> or <a href="https://go.dev/x" rel="noopener noreferrer nofollow">https://go.dev/x</a>. [no](javascript:alert(1)) snake_case_name <em>yes</em> <del>old</del></p>
<ul dir="auto">
<li>(&#34;<a href="https://go.dev" rel="noopener noreferrer nofollow">https://go.dev</a>&#34;)</li>
</ul>
</blockquote>
`
	if body != want {
		t.Errorf("got:\n%s\nwant:\n%s", body, want)
	}
	if !strings.Contains(got, "<title>A &amp; B</title>") || !strings.Contains(got, "prefers-color-scheme: dark") {
		t.Error("title or style is missing")
	}
}

// Marks in any order give elements that are closed where they should be, and only those of this package.
func TestWrite_AnyMarks(t *testing.T) {
	t.Parallel()
	bits := strings.Split("a|b c|*|**|`|```|~~|_|[x](|](|http://a.b/|mailto:x|)|> |- |12. |# |  |   |\n|\n\n|\\||---|<b>|&amp;|\"|'|[ ] |[", "|")
	dice := rand.New(rand.NewPCG(7, 7))
	for range 3000 {
		var b strings.Builder
		for range 40 {
			b.WriteString(bits[dice.IntN(len(bits))])
		}
		got := page(t, lathe.Session{ID: "ses_1"}, message(&lathe.Assistant{}, &lathe.Text{Text: b.String()}))
		if found := tags(t, strings.Replace(got, "<!doctype html>", "", 1)); found["b"] || found["script"] {
			t.Fatalf("%q becomes markup:\n%s", b.String(), got)
		}
	}
	long := page(t, lathe.Session{ID: "ses_1"}, message(&lathe.Assistant{}, &lathe.Text{Text: strings.Repeat("*a `x` [", 1<<18)}))
	if strings.Contains(long, "<code>") {
		t.Error("a line of megabytes is searched for marks")
	}
}
