package webtest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The control of TestHostile: the same texts do run code in a page that takes them for markup and has no policy.
func TestHostile_Control(t *testing.T) {
	w := &world{T: t}
	w.ctx = w.open(chromium(t))
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/policy" {
			out.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'")
		}
		_, _ = out.Write([]byte("<!doctype html><body>" + strings.Join(attacks()[:5], "\n")))
	}))
	defer server.Close()
	w.do("open a page without protection", chromedp.Navigate(server.URL))
	w.wait("window.owned !== undefined")
	w.do("open a page with a policy", chromedp.Navigate(server.URL+"/policy"))
	if eval[bool](w, "window.owned !== undefined") {
		t.Error("the policy does not stop the attacks")
	}
}

// Names of files, output of commands, changes and errors are texts too.
func TestHostile_Files(t *testing.T) {
	const name = `<img src=x onerror="window.owned=21">.go`
	script := `call bash {"command":"printf '<script>window.owned=22</script>\\033]8;;javascript:window.owned=23\\033\\\\click\\033]8;;\\033\\\\ \\033[31m<b>red</b>\\033[0m \\342\\200\\256gpj.exe\\n'; exit 3","description":"<svg onload=window.owned=24>"}
call write {"filePath":` + quote(name) + `,"content":"package p // </code><script>window.owned = 25</script>\n"}
call read {"filePath":"</bdi><img src=x onerror=window.owned=26>"}
call ` + "<script>" + ` {"x":"<img src=x onerror=window.owned=27>"}
finish tool-calls
--
call question {"questions":[{"question":"<img src=x onerror=window.owned=28> [x](javascript:window.owned=29)","header":"<b>h</b>","options":[{"label":"<img src=x onerror=window.owned=30>","description":"</small><script>window.owned=31</script>"},{"label":"b","description":"x"}]}]}
finish tool-calls
--
text "The end of the attack."
finish stop
`
	w := begin(t, script)
	if err := os.WriteFile(filepath.Join(w.project, "<style>*{display:none}.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := w.session(`</title><script>window.owned=32</script>` + "\u202egpj")
	w.size(1280, 3000)
	w.see(id)
	w.prompt("Begin.")
	w.wait(`document.querySelector(".ask")?.innerText.includes("<script>window.owned=22</script>")`)
	w.click("Allow once")
	w.wait(`document.querySelector(".ask")?.innerText.includes("<img src=x onerror=window.owned=30>")`)
	w.do("answer", chromedp.Evaluate[chromedp.Void](`document.querySelector(".ask .option input").click()`))
	w.click("Answer")
	w.shows("The end of the attack.")
	w.do("open all", chromedp.Evaluate[chromedp.Void](`for (const b of document.querySelectorAll('[aria-expanded="false"]')) b.click()`))
	w.wait(`document.querySelector(".list").innerText.includes("<b>red</b>")`)
	w.inert("the chat")
	w.do("search files", chromedp.SendKeys("#prompt", "@style"))
	w.wait(`document.querySelector(".offers")?.innerText.includes("<style>")`)
	w.inert("the suggestions")
	w.do("see the changes", chromedp.Evaluate[chromedp.Void](`location.hash += "/changes"`))
	w.wait(`document.body.innerText.includes("onerror=\"window.owned=21\"")`)
	w.inert("the changes")
	w.do("open the share", chromedp.Navigate(w.share(id)))
	w.shows("The end of the attack.")
	w.wait(`!document.getElementById("rendered")`)
	w.do("open all", chromedp.Evaluate[chromedp.Void](`for (const b of document.querySelectorAll('[aria-expanded="false"]')) b.click()`))
	w.wait(`document.querySelector(".list").innerText.includes("<b>red</b>")`)
	w.inert("the share")
	w.quiet()
}

// inert checks that no text became an element, a link to a script, a style or a request.
func (w *world) inert(where string) {
	w.Helper()
	for what, expression := range map[string]string{
		"code that ran":    `window.owned === undefined ? 0 : window.owned`,
		"elements":         `document.querySelectorAll("#app script, #app iframe, #app style, #app [onload], #app [onerror], #app base, #app img[src='x']").length`,
		"links":            `[...document.querySelectorAll("#app a[href]")].filter(a => !/^(#|https?:|mailto:)/.test(a.getAttribute("href"))).length`,
		"foreign requests": `performance.getEntriesByType("resource").filter(e => !e.name.startsWith(location.origin) && !e.name.startsWith("data:")).length`,
		"hidden body":      `getComputedStyle(document.body).display === "none" ? 1 : 0`,
		"raw overrides":    `/[\u202a-\u202e\u2066-\u2069]/.test(document.querySelector("#app").innerText + document.title) ? 1 : 0`,
	} {
		if n := eval[int](w, expression); n != 0 {
			w.Errorf("%s: %s: %d", where, what, n)
		}
	}
}
