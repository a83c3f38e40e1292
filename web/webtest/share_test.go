package webtest

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// edits is a turn with code, a changed line, and words after it.
const edits = `text "Look at **this**:\n\n` + "```go\\nfunc main() { return 42 }\\n```" + `\n\n| a | b |\n|---|---|\n| 1 | [site](https://example.com/) |\n"
call edit {"filePath":"slug.go","oldString":"strings.ReplaceAll","newString":"strings.Replacement"}
finish tool-calls
--
text "Changed it."
finish stop
`

// share shares a session and returns the address of its page.
func (w *world) share(id string) string {
	w.Helper()
	var s struct{ Share struct{ URL string } }
	w.ask("POST", "/session/"+id+"/share", "", &s)
	at, err := url.Parse(s.Share.URL)
	if err != nil || at.Path == "" {
		w.Fatalf("shared at %q: %v", s.Share.URL, err)
	}
	return w.url + at.Path
}

// A shared session is drawn as in the app, by a browser that has no password and sends no cookie, and it follows the session
// until the share ends.
func TestShare(t *testing.T) {
	w := locked(t, edits+"--\ntext \"More \" \"words.\"\nfinish stop\n")
	id := w.session("Shared work")
	w.send(id, "Change it.")
	w.size(1280, 800)
	var sent sync.Map // cookies by path
	w.url = w.proxy(func(r *http.Response) error {
		if c := r.Request.Header.Get("Cookie"); c != "" {
			sent.Store(r.Request.URL.Path, c)
		}
		return nil
	}, nil).URL
	at := w.share(id)
	w.do("set a cookie", chromedp.Navigate(w.url+"/icon.svg"), chromedp.Evaluate[chromedp.Void](`document.cookie = "mine=1; path=/"`))
	w.do("open the share", chromedp.Navigate(at))
	w.shows("Changed it.")
	w.wait(`!document.getElementById("rendered")`)
	for what, expression := range map[string]string{
		"keywords":  `.md pre .tk`,
		"mark":      `.md strong`,
		"table":     `.md td a[href="https://example.com/"]`,
		"tool card": `.tool.completed .tool-body`,
		"words":     `.tool-body .del mark, .tool-body .del .mark, .tool-body .del b`,
	} {
		if eval[int](w, "document.querySelectorAll(`"+expression+"`).length") == 0 {
			t.Errorf("%s: nothing is %s in\n%s", what, expression, eval[string](w, `document.querySelector("#app").innerHTML`))
		}
	}
	if n := eval[int](w, `document.querySelectorAll("textarea, #prompt, .menu, a[href^='#']").length`); n != 0 {
		t.Errorf("a reader gets %d controls of the app", n)
	}
	if eval[bool](w, `document.querySelector(".to-end") !== null || document.body.innerText.includes("Added by lathe")`) {
		t.Error("the page offers what the reader sees, or shows what nobody said")
	}
	w.barriers("share")
	w.picture("share")
	w.send(id, "Once more.")
	w.shows("More words.")
	path := strings.TrimPrefix(at, w.url)
	if _, ok := sent.Load(path); !ok {
		t.Error("the control: the browser has a cookie, and sends it for the page")
	}
	for _, p := range []string{path + "/data", path + "/event"} {
		if c, ok := sent.Load(p); ok {
			t.Errorf("the page sends %v for %s", c, p)
		}
	}
	w.ask("DELETE", "/session/"+id+"/share", "", nil)
	w.shows("no longer shared")
	w.do("open the old share", chromedp.Navigate(at))
	w.shows("Share not found")
}

// Without its script the page is complete, and still.
func TestShare_WithoutScripts(t *testing.T) {
	w := begin(t, edits)
	id := w.session("Shared work")
	at := w.share(id)
	w.send(id, "Change it.")
	block := func(urls ...string) {
		var all []*network.BlockPattern
		for _, u := range urls {
			all = append(all, &network.BlockPattern{URLPattern: u, Block: true})
		}
		if _, err := chromedp.Call(w.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: all}); err != nil {
			t.Fatal(err)
		}
	}
	block("*://*:*/assets/share-*")
	w.until("the turn is over", func() bool {
		w.do("open without the script", chromedp.Navigate(at))
		return eval[bool](w, `document.body.innerText.includes("Changed it.")`)
	})
	w.wait(`document.getElementById("rendered") && getComputedStyle(document.querySelector("article")).display === "block"`)
	block()
	w.do("open the share", chromedp.Navigate(at))
	w.shows("Changed it.")
	w.wait(`!document.getElementById("rendered")`)
}
