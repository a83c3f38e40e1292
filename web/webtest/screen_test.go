package webtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// outline is what a screen has, for readers and screen readers: elements with their names and texts, without styles.
const outline = `(() => {
	const out = [], words = s => s.replace(/[\u200b\ufeff]/g, "").replace(/\s+/g, " ").trim()
	const boring = new Set(["SPAN", "DIV", "B", "BDI", "SMALL", "I", "P", "CODE", "EM", "STRONG"])
	const walk = (e, depth) => {
		if (e.nodeType === 3) { const s = words(e.data); if (s) out.push("  ".repeat(depth) + s); return }
		if (e.nodeType !== 1 || /^(SCRIPT|STYLE|svg|OPTION)$/.test(e.tagName) || !e.checkVisibility({contentVisibilityAuto: true}) || e.matches(".took, aside") && e.matches(".took, .app:not(.at-list) > aside")) return
		if (e.inert || e.getAttribute("aria-hidden") === "true") return
		let line = e.tagName.toLowerCase()
		for (const a of ["role", "aria-label", "aria-expanded", "aria-current", "aria-pressed", "href", "placeholder", "type"]) {
			const v = e.getAttribute(a)
			if (v !== null) line += " " + a + "=" + JSON.stringify(v)
		}
		if (e.disabled) line += " disabled"
		const plain = boring.has(e.tagName) && line === e.tagName.toLowerCase()
		if (!plain) out.push("  ".repeat(depth) + line)
		for (const c of e.childNodes) walk(c, plain ? depth : depth + 1)
	}
	for (const e of document.querySelectorAll("#app > *")) walk(e, 0)
	return out.join("\n") + "\n"
})()`

// changing are the words of a screen that differ between runs.
func changing() []struct {
	is *regexp.Regexp
	as string
} {
	var out []struct {
		is *regexp.Regexp
		as string
	}
	for _, p := range [][2]string{
		{`ses_\w+`, "ses_1"},
		{`127\.0\.0\.1:\d+`, "HOST"},
		{`\d{1,2}/\d{1,2}/\d{4}, [\d:]+\s?[AP]M`, "TIME"},
		{`\b\d+(\.\d+)? ?(ms|s)\b`, "TOOK"},
		{`lathe v?[\w.+-]*\d[\w.+-]*`, "lathe VERSION"},
		{`lathe \(?devel\)?`, "lathe VERSION"},
		{`(?m)^(\s*)(now|just now|\d+ ?(s|min|m|h)( ago)?)$`, "${1}AGE"},
		{`\d{4}-\d\d-\d\d`, "DAY"},
		{`[A-Z][a-z]{2} \d{1,2}\b`, "DAY"},
		{`\$\d+\.\d+`, "$$COST"},
	} {
		out = append(out, struct {
			is *regexp.Regexp
			as string
		}{regexp.MustCompile(p[0]), p[1]})
	}
	return out
}

// steady replaces them.
func (w *world) steady(s string) string {
	s = strings.ReplaceAll(s, w.project, "/PROJECT")
	for _, c := range changing() {
		s = c.is.ReplaceAllString(s, c.as)
	}
	return s
}

// screen compares a screen in two sizes with its goldens, and looks for barriers in dark and light.
func (w *world) screen(name string) {
	w.Helper()
	for _, look := range []struct {
		width int64
		theme string
	}{{390, "dark"}, {1280, "light"}} {
		w.size(look.width, 800)
		w.do("set the theme", chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.theme = "`+look.theme+`"; new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`, chromedp.EvalAwaitPromise))
		w.golden(fmt.Sprintf("%s-%d", name, look.width))
		w.barriers(name + ", " + look.theme)
		if wide := eval[int](w, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
			w.Errorf("%s is %d pixels wider than a screen of %d", name, wide, look.width)
		}
	}
	w.size(320, 640)
	for _, out := range eval[[]string](w, outside) {
		w.Errorf("%s does not fit on a screen of 320 pixels: %s", name, out)
	}
	w.size(1280, 800)
}

// outside are the elements beyond the sides of the screen, unless a box that scrolls by itself holds them.
const outside = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
	const cut = e => { for (; e && !e.matches(".page, .list, .entries, .changes, .gate"); e = e.parentElement) if (getComputedStyle(e).overflowX !== "visible") return true }
	done([...document.querySelectorAll("#app *")].filter(e => {
		const r = e.getBoundingClientRect()
		return r.width > 0 && e.checkVisibility() && (r.right > innerWidth + 1 || r.left < -1) && !cut(e.parentElement)
	}).slice(0, 5).map(e => e.outerHTML.slice(0, 120)))
})))`

// golden compares the outline with testdata/screens, or writes it with -update.
func (w *world) golden(name string) {
	w.Helper()
	path := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.Fatal(err)
		}
		last := ""
		w.until("a screen that stays", func() bool { // for half a second, which is enough for a look at the result
			before := last
			last = eval[string](w, `new Promise(done => setTimeout(() => done(`+outline+`), 500))`)
			return last == before
		})
		if err := os.WriteFile(path, []byte(w.steady(last)), 0o644); err != nil {
			w.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	got, end := "", time.Now().Add(limit/4)
	for got != string(want) && time.Now().Before(end) {
		got = w.steady(eval[string](w, `new Promise(done => setTimeout(() => done(`+outline+`), 20))`))
	}
	if got != string(want) {
		w.Errorf("%s differs from %s (write it with -update):\n%s", name, path, difference(string(want), got))
	}
}

// difference is the lines that only one of two texts has.
func difference(want, got string) string {
	var out strings.Builder
	for sign, pair := range map[string][2]string{"-": {want, got}, "+": {got, want}} {
		there := map[string]bool{}
		for l := range strings.Lines(pair[1]) {
			there[l] = true
		}
		for l := range strings.Lines(pair[0]) {
			if !there[l] {
				out.WriteString(sign + l)
			}
		}
	}
	return out.String()
}

// barriers looks for barriers with axe-core, if make web has installed it.
func (w *world) barriers(what string) {
	w.Helper()
	source, err := os.ReadFile(filepath.Join("..", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		w.Log("axe-core is not installed (npm ci in web/): barriers are not looked for")
		return
	}
	if !eval[bool](w, `"axe" in window`) {
		w.do("load axe", chromedp.Evaluate[chromedp.Void](string(source)+";0"))
	}
	found := eval[[]string](w, `axe.run(document, {resultTypes: ["violations"], rules: {"target-size": {enabled: true}}}).then(r => r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical")
		.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + (n.any[0]?.message ?? "")).join(" | ")))`)
	for _, f := range found {
		w.Errorf("%s: %s", what, f)
	}
}

// Every screen, as it is on a phone and on a laptop, while a turn is driven by clicks.
func TestScreens_Goldens(t *testing.T) {
	w := begin(t, turn+`--
call question {"questions":[{"question":"Which case should slugs have?","header":"Case","options":[{"label":"Lower case","description":"hello-world, as today"},{"label":"Keep","description":"Hello-World"}]}]}
usage 3000 30
finish tool-calls
--
text "Fine, I keep it lower case."
finish stop
`)
	w.size(1280, 800)
	w.do("open", chromedp.Navigate(w.url+"/#/new"))
	w.shows("What should be done?")
	w.wait(`document.querySelectorAll(".pick").length >= 2`)
	w.screen("new")
	w.prompt("The test fails. Fix it.")
	w.wait(`document.querySelector(".ask")?.innerText.includes("sh check.sh")`)
	w.shows("Fix the slug test")
	w.screen("permission")
	w.click("Reject…")
	w.shows("What should the model do instead?")
	w.screen("reject")
	w.click("Back")
	w.click("Allow once")
	w.shows("The last word is here.")
	w.wait(`!document.querySelector(".working .spinner") && document.querySelector(".meter") && document.querySelector(".tabs .badge")`)
	w.screen("session")
	w.click("Session actions")
	w.screen("menu")
	w.click("Session actions")
	w.click("Changes1")
	w.shows("strings.Fields")
	w.screen("changes")
	w.click("Side by side")
	w.screen("side")
	if tall := eval[int](w, `Math.max(...[...document.querySelectorAll(".diff tr")].map(e => e.offsetHeight))`); tall > 60 {
		t.Errorf("a line of the comparison is %d pixels high", tall)
	}
	w.click("Side by side")
	w.click("Terminal")
	w.wait(`document.querySelector(".terminal-view")?.innerText.trim()`)
	for _, height := range []int64{640, 300, 800} {
		w.size(1280, height)
		w.wait(`(() => { const v = document.querySelector(".terminal-view"), r = v.lastChild.firstChild.getBoundingClientRect(), at = v.getBoundingClientRect(); return r.height && r.top >= at.top && r.bottom <= at.bottom && v.scrollHeight <= v.clientHeight })()`)
	}
	w.barriers("terminal, light")
	w.do("set the theme", chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.theme = "dark"`))
	w.barriers("terminal, dark")
	w.click("Chat")
	w.prompt("Which case?")
	w.shows("Which case should slugs have?")
	w.screen("question")
	w.click("Lower case\nhello-world, as today")
	w.click("Answer")
	w.shows("Fine, I keep it lower case.")
	w.wait(`!document.querySelector(".working .spinner")`)
	w.do("see all", chromedp.Evaluate[chromedp.Void](`location.hash = "#/"`))
	w.wait(`document.querySelector(".entry-last")?.innerText.includes("lower case")`)
	w.screen("sessions")
	w.do("see the usage", chromedp.Evaluate[chromedp.Void](`location.hash = "#/usage"`))
	w.shows("By model")
	w.screen("usage")
	w.do("see the settings", chromedp.Evaluate[chromedp.Void](`location.hash = "#/settings"`))
	w.wait(`document.body.innerText.includes("Servers") && document.body.innerText.includes(", lathe")`)
	w.screen("settings")
	w.do("open the help", chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); dispatchEvent(new KeyboardEvent("keydown", {key: "?"}))`))
	w.shows("Keyboard shortcuts")
	w.screen("help")
	w.quiet()
}

// On a narrow screen words stay whole, and every choice is visible without scrolling.
func TestScreens_Narrow(t *testing.T) {
	w := begin(t, `text "| The first column | The second one | Three | Four | Five |\n|---|---|---|---|---|\n| many words are in this cell | and in this one | x | y | z |\n\nThat is the table."`+"\nusage 6100 500\nfinish stop\n")
	id := w.session("Narrow")
	broken := func(selector string) {
		t.Helper()
		for _, text := range eval[[]string](w, `[...document.querySelectorAll("`+selector+`")].filter(e => e.textContent.split(/\s+/).some((word, i) => {
			const node = e.firstChild, at = node.data.indexOf(word), r = document.createRange()
			r.setStart(node, at); r.setEnd(node, at + word.length)
			return r.getClientRects().length > 1
		})).map(e => e.textContent)`) {
			t.Errorf("%s is broken inside a word", text)
		}
	}
	for _, width := range []int64{320, 390} {
		w.size(width, 640)
		w.see(id)
		if width == 320 {
			w.prompt("Compare.")
		}
		w.shows("That is the table.")
		broken(".md th")
		w.do("see the changes", chromedp.Navigate(w.url+"/#/s/"+id+"/changes"))
		w.shows("No changes.")
		if over := eval[int](w, `(e => e.scrollWidth - e.clientWidth)(document.querySelector(".changes .segments"))`); over > 0 {
			t.Errorf("the choices of changes are %d pixels wider than a screen of %d", over, width)
		}
		w.do("see the usage", chromedp.Navigate(w.url+"/#/usage"))
		w.wait(`document.querySelector(".figures dd")`)
		broken(".figures dd")
	}
	w.quiet()
}
