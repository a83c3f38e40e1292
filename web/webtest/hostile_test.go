package webtest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// attacks are texts that would do something in a page that took them for markup, style or an address.
func attacks() []string {
	return []string{
		`<script>window.owned = 1</script><img src=x onerror="window.owned = 2"><svg onload="window.owned = 3"><style>body{display:none}</style>`,
		`<iframe srcdoc="<script>parent.owned = 4</script>"></iframe><a href="javascript:window.owned = 5">x</a><base href="https://evil.example/">`,
		`[click](javascript:window.owned=6) [data](data:text/html,<script>opener.owned=7</script>) ![p](https://evil.example/p.png) <javascript:window.owned=8>`,
		"```html\"><script>window.owned = 9</script>\n</code></pre><script>window.owned = 10</script>\n```",
		"| <img src=x onerror=window.owned=11> | b |\n|---|---|\n| [x](javascript:owned=12) | </td><script>owned=13</script> |",
		"rm \u202egpj.exe\u202c \u2066hidden\u2069",
		`{{constructor.constructor("window.owned = 14")()}} ${window.owned = 15} <!--><script>window.owned=16</script>-->`,
		"x" + strings.Repeat("A", 100<<10) + "END", // a model may write no more; TestLongSession has a longer line
	}
}

// quote writes a text for a script of the model.
func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// A transcript whose every text is an attack does nothing: in answers, thoughts, calls, titles and requests.
func TestHostile(t *testing.T) {
	var script strings.Builder
	for _, a := range attacks() {
		small := a[:min(len(a), 2000)]
		fmt.Fprintf(&script, "reasoning %s\ntext %s\ncall todowrite {\"todos\":[{\"content\":%s,\"status\":\"pending\",\"priority\":\"high\"}]}\nfinish tool-calls\n--\n", strconvQuote(small), strconvQuote(a), quote(small))
	}
	fmt.Fprintf(&script, "call bash {\"command\":%s,\"description\":%s}\nfinish tool-calls\n--\ntext \"The end of it.\"\nfinish stop\n", quote(attacks()[0]+"\n"+attacks()[5]), quote(attacks()[1]))
	w := begin(t, script.String())
	w.size(1280, 800)
	w.do("open", chromedp.Navigate(w.url))
	var s struct{ ID string }
	w.ask("POST", "/session?directory="+w.project, `{"title":`+quote(attacks()[0])+`}`, &s)
	w.do("open the session", chromedp.Navigate(w.url+"/#/s/"+s.ID))
	w.prompt(attacks()[0] + " " + attacks()[2])
	w.shows("Run a command")
	w.wait(`document.querySelector(".ask .code").innerText.includes("⟨U+202E⟩")`)
	if got := eval[string](w, `document.querySelector(".ask .code pre").innerText`); !strings.Contains(got, attacks()[0]) {
		t.Errorf("the request shows %q", got)
	}
	w.click("Reject…")
	w.click("Reject")
	w.wait(`!document.querySelector(".ask")`)
	for range 12 { // every row is drawn once
		w.do("scroll", chromedp.Evaluate[chromedp.Void](`for (const b of document.querySelectorAll('[aria-expanded="false"]')) b.click(); document.querySelector(".list").scrollBy(0, -600)`))
	}
	if owned := eval[bool](w, "window.owned !== undefined"); owned {
		t.Errorf("the transcript ran code: %v", eval[float64](w, "window.owned"))
	}
	for what, expression := range map[string]string{
		"elements": `document.querySelectorAll("#app script, #app iframe, #app style, #app svg[onload], #app base, #app img[src='x']").length`,
		"links":    `[...document.querySelectorAll("#app a[href]")].filter(a => !/^(#|https?:|mailto:)/.test(a.getAttribute("href"))).length`,
		"pictures": `performance.getEntriesByType("resource").filter(e => !e.name.startsWith(location.origin) && !e.name.startsWith("data:")).length`,
		"display":  `getComputedStyle(document.body).display === "none" ? 1 : 0`,
		"overflow": `document.documentElement.scrollWidth > innerWidth ? 1 : 0`,
	} {
		if n := eval[int](w, expression); n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
	// The control: what the policy must stop is stopped by the policy too.
	if blocked := eval[bool](w, `new Promise(done => {
		addEventListener("securitypolicyviolation", () => done(true))
		const s = document.createElement("script"); s.textContent = "window.control = 1"; document.body.append(s)
		setTimeout(() => done(false), 5000)
	})`); !blocked || eval[bool](w, "window.control === 1") {
		t.Error("the policy lets inline scripts run")
	}
	w.quiet()
}

func strconvQuote(s string) string { return fmt.Sprintf("%q", s) }

// A long session opens at its end, and scrolls to its start with few rows in the page.
func TestLongSession(t *testing.T) {
	const turns = 3000
	w := begin(t, "text \"Fine.\"\nfinish stop\n")
	id := w.imported(turns)
	w.size(390, 800)
	w.do("open", chromedp.Navigate(w.url+"/#/s/"+id))
	w.shows(fmt.Sprintf("Answer %d.", turns-1))
	if n := eval[int](w, `document.querySelectorAll(".row").length`); n > 120 {
		t.Errorf("%d rows are drawn", n)
	}
	for i := 0; eval[bool](w, `!document.body.innerText.includes("Answer 2900.")`); i++ {
		if i > 400 {
			t.Fatal("scrolling back does not reach older messages")
		}
		w.do("scroll", chromedp.Evaluate[chromedp.Void](`document.querySelector(".list").scrollBy(0, -500)`), chromedp.Evaluate[chromedp.Void]("new Promise(requestAnimationFrame)", chromedp.EvalAwaitPromise))
	}
	w.do("go to the start", chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); dispatchEvent(new KeyboardEvent("keydown", {key: "g", bubbles: true}))`))
	w.wait(`document.body.innerText.includes("Answer 0.")`)
	if n := eval[int](w, `document.querySelectorAll(".row").length`); n > 120 {
		t.Errorf("%d rows are drawn", n)
	}
	for i := 0; eval[bool](w, `!document.body.innerText.includes("Answer 90.")`); i++ {
		if i > 400 {
			t.Fatal("scrolling forward does not reach newer messages")
		}
		w.do("scroll", chromedp.Evaluate[chromedp.Void](`document.querySelector(".list").scrollBy(0, 500)`), chromedp.Evaluate[chromedp.Void]("new Promise(requestAnimationFrame)", chromedp.EvalAwaitPromise))
	}
	w.click("To the latest message")
	w.shows(fmt.Sprintf("Answer %d.", turns-1))
	w.quiet()
}

// Who jumps to the top of a session that follows its end stays there, also when the page is drawn again.
func TestScroll_ToTop(t *testing.T) {
	w := begin(t, fmt.Sprintf("text %q\nfinish stop\n", strings.Repeat("A paragraph of the answer.\n\n", 200)+"The end."))
	id := w.session("Scroll")
	w.size(390, 800)
	w.see(id)
	w.prompt("Begin.")
	w.shows("The end.")
	w.wait(`!document.querySelector(".working") && document.querySelector(".list").scrollTop > 1000`)
	w.do("jump to the top", chromedp.Evaluate[chromedp.Void](`new Promise(done => setTimeout(() => { document.querySelector(".list").scrollTo(0, 0); done() }, 500))`, chromedp.EvalAwaitPromise))
	w.wait(`document.querySelector(".to-end")`)
	w.size(390, 700)
	if top := eval[float64](w, `new Promise(done => setTimeout(() => done(document.querySelector(".list").scrollTop), 500))`); top > 1 {
		t.Errorf("the list is at %v", top)
	}
	w.quiet()
}

// What the search finds opens at the message, which is far from the end. While older sessions are being indexed, the page
// says so and searches again.
func TestSearch_OpensMessage(t *testing.T) {
	w := begin(t, "text \"Fine.\"\nfinish stop\n")
	w.imported(150)
	w.size(1280, 800)
	w.do("open", chromedp.Navigate(w.url), chromedp.WaitVisible("#search"))
	for _, text := range []string{"Prompt 17", "Answer 23"} {
		w.do("search", chromedp.Evaluate[chromedp.Void](`document.querySelector("#search").value = ""`), chromedp.SendKeys("#search", text))
		hit := `[...document.querySelectorAll("[aria-label='Found in messages'] a")].find(a => a.innerText.includes(` + quote(text) + `))`
		w.wait(hit)
		w.do("open what is found", chromedp.Evaluate[chromedp.Void](hit+`.click()`))
		w.wait(`[...document.querySelectorAll(".row")].some(e => {
			const r = e.getBoundingClientRect(), at = document.querySelector(".list").getBoundingClientRect()
			return e.innerText.includes(` + quote(text+".") + `) && r.top >= at.top - 1 && r.top < at.bottom
		})`)
	}
	w.click("To the latest message")
	w.shows("Answer 149.")
	w.quiet()
}

// imported adds a session with so many prompts and answers.
func (w *world) imported(turns int) string {
	w.Helper()
	const longest = 10 << 20 // bytes of the line that the last answer has
	const id = "ses_1f0a0000000000000000000000"
	var messages []any
	for i := range turns {
		at := 1763000000000 + i*60_000
		user, answer := fmt.Sprintf("msg_%012xaaaaaaaaaaaaaa", i*4), fmt.Sprintf("msg_%012xbbbbbbbbbbbbbb", i*4+1)
		model := map[string]string{"providerID": "script", "modelID": "script"}
		messages = append(messages,
			map[string]any{
				"info":  map[string]any{"id": user, "sessionID": id, "role": "user", "time": map[string]int{"created": at}, "agent": "build", "model": model},
				"parts": []any{map[string]any{"id": "prt_" + user[4:], "sessionID": id, "messageID": user, "type": "text", "text": fmt.Sprintf("Prompt %d.", i)}},
			},
			map[string]any{
				"info": map[string]any{
					"id": answer, "sessionID": id, "role": "assistant", "parentID": user, "time": map[string]int{"created": at + 1, "completed": at + 2}, "agent": "build", "mode": "build",
					"modelID": "script", "providerID": "script", "path": map[string]string{"cwd": w.project, "root": w.project}, "cost": 0, "tokens": map[string]any{"input": 1, "output": 1, "reasoning": 0, "cache": map[string]int{"read": 0, "write": 0}}, "finish": "stop",
				},
				"parts": []any{map[string]any{"id": "prt_" + answer[4:], "sessionID": id, "messageID": answer, "type": "text", "text": fmt.Sprintf("Answer %d. ", i) + strings.Repeat("It has a few words. ", i%40) + strings.Repeat("x", longest*max(0, i-turns+2)), "time": map[string]int{"start": at, "end": at + 1}}},
			})
	}
	data, err := json.Marshal(map[string]any{
		"info":     map[string]any{"id": id, "slug": "long", "projectID": "global", "directory": w.project, "title": "A long session", "version": "1", "time": map[string]int{"created": 1763000000000, "updated": 1763000000000 + turns*60_000}},
		"messages": messages,
	})
	if err != nil {
		w.Fatal(err)
	}
	file := filepath.Join(w.TempDir(), "long.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		w.Fatal(err)
	}
	path, err := program()
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.Command(path, "import", file)
	cmd.Dir, cmd.Env = w.project, w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	var all []struct{ ID, Title string }
	w.ask("GET", "/lathe/board", "", &all)
	for _, e := range all {
		if e.Title == "A long session" {
			return e.ID
		}
	}
	w.Fatalf("the session is not there: %v", all)
	return ""
}
