package webtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"

	"github.com/lathe-agent/lathe/lathetest"
)

// parts is the size of the session of TestLoad. Its figures at a million parts are those of the docs:
//
//	go test -run TestLoad -v ./web/webtest -parts 1000000
var parts = flag.Int("parts", 10_000, "parts of the long session of TestLoad")

// watch notes what each frame costs, from before the page loads.
const watch = `(() => {
	const f = window.figures = {gap: 0, long: 0, changes: 0, most: 0, rows: 0, added: 0, shift: 0}
	let last = performance.now()
	const frame = () => {
		const now = performance.now()
		f.gap = Math.max(f.gap, now - last); last = now
		f.most = Math.max(f.most, f.changes); f.changes = 0
		if (!f.rows && document.querySelector(".row")) f.rows = now
		requestAnimationFrame(frame)
	}
	requestAnimationFrame(frame)
	new MutationObserver(all => { f.changes += all.length; for (const m of all) f.added += m.addedNodes.length }).observe(document, {subtree: true, childList: true, characterData: true, attributes: true})
	new PerformanceObserver(l => { for (const e of l.getEntries()) if (e.sources.some(s => (s.node?.nodeType !== 3 || s.node.data.trim()) && (s.node?.parentElement ?? s.node)?.closest(".list"))) f.shift += e.value }).observe({type: "layout-shift", buffered: true})
	new PerformanceObserver(l => { for (const e of l.getEntries()) f.long = Math.max(f.long, e.duration) }).observe({type: "longtask", buffered: true})
})()`

// figures are what watch notes.
type figures struct{ Gap, Long, Most, Rows, Added, Shift float64 }

// figures returns what was noted since the last call.
func (w *world) figures() figures {
	w.Helper()
	return eval[figures](w, `(() => { const f = window.figures, was = {...f}; Object.assign(f, {gap: 0, long: 0, most: 0, added: 0, shift: 0}); return {Gap: was.gap, Long: was.long, Most: was.most, Rows: was.rows, Added: was.added, Shift: was.shift} })()`)
}

// An answer of 200 deltas in a second changes a bounded part of the page in each frame.
func TestDeltas_BoundedWork(t *testing.T) {
	const deltas = 500
	var script strings.Builder
	for i := range deltas {
		fmt.Fprintf(&script, "text %q\npause 5ms\n", []string{"word ", "**bold** ", "`code` ", "a longer piece of text ", "\n\n"}[i%5*min(1, i%10)])
	}
	w := begin(t, script.String()+"text \"The last word.\"\nfinish stop\n")
	w.before(watch)
	id := w.session("Deltas")
	w.size(1280, 800)
	w.see(id)
	w.figures()
	w.prompt("Write much.")
	w.shows("The last word.")
	w.wait(`!document.querySelector(".working .spinner")`)
	f := w.figures()
	t.Logf("deltas: longest task %.0f ms, longest frame %.0f ms, most changes in a frame %.0f, nodes added %.0f, layout shift %.4f", f.Long, f.Gap, f.Most, f.Added, f.Shift)
	if f.Shift > 0.02 {
		t.Errorf("text moves while it streams: the layout shift is %.4f", f.Shift)
	}
	if f.Most > 400 {
		t.Errorf("%.0f changes in one frame", f.Most)
	}
	if f.Added > 40*deltas {
		t.Errorf("%.0f nodes were made for %d deltas: finished text is drawn again", f.Added, deltas)
	}
	w.quiet()
}

// A session of any length costs the page the same: rows near the screen, and a page of messages for each request.
func TestLoad(t *testing.T) {
	w := begin(t, "text \"Fine.\"\nfinish stop\n")
	id := w.long(*parts)
	w.before(watch)
	w.size(1280, 800)
	w.do("open", chromedp.Navigate(w.url+"/#/s/"+id))
	w.wait(`document.querySelectorAll(".row").length > 5 && !document.body.innerText.includes("Loading…")`)
	w.bounded("at its end", 30)
	f := w.figures()
	t.Logf("%d parts: first paint %.0f ms, messages %.0f ms, longest task %.0f ms", *parts, eval[float64](w, `performance.getEntriesByName("first-contentful-paint")[0].startTime`), f.Rows, f.Long)
	const pages = 40
	for range pages {
		w.do("scroll", chromedp.Evaluate[chromedp.Void](`document.querySelector(".list").scrollBy(0, -700); new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`, chromedp.EvalAwaitPromise))
	}
	w.bounded("after scrolling", pages)
	f = w.figures()
	t.Logf("scrolling: longest task %.0f ms, longest frame %.0f ms", f.Long, f.Gap)
	w.do("go to the start", chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); dispatchEvent(new KeyboardEvent("keydown", {key: "g", bubbles: true}))`))
	w.shows("Prompt 0: look at package p0")
	w.bounded("at its start", 60)
	f = w.figures()
	t.Logf("to the start: longest task %.0f ms, longest frame %.0f ms; heap %.1f MB, %s", f.Long, f.Gap, eval[float64](w, "performance.memory.usedJSHeapSize / 1e6"), w.memory())
	w.quiet()
}

// memory is that of the process that draws the page, with its share of what processes have in common; only Linux tells.
func (w *world) memory() string {
	w.Helper()
	all, err := chromedp.CallBrowser(w.ctx, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		w.Fatal(err)
	}
	most := 0
	for _, p := range all.ProcessInfo {
		rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.ID))
		if _, rest, found := strings.Cut(string(rollup), "\nPss:"); p.Type == "renderer" && err == nil && found {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			most = max(most, n)
		}
	}
	return fmt.Sprintf("process %.0f MB", float64(most)/1e3)
}

// bounded checks the size of the page, and the number of requests since the last check.
func (w *world) bounded(where string, requests int) {
	w.Helper()
	got := eval[struct{ Nodes, Rows, Requests int }](w, `(() => {
		const n = performance.getEntriesByType("resource").length
		performance.clearResourceTimings()
		return {Nodes: document.querySelectorAll("*").length, Rows: document.querySelectorAll(".row").length, Requests: n}
	})()`)
	w.Logf("%s: %+v", where, got)
	if got.Rows > 120 || got.Nodes > 8000 || got.Requests > requests {
		w.Errorf("%s: %+v", where, got)
	}
}

// long imports a session of so many parts.
func (w *world) long(parts int) string {
	w.Helper()
	x := lathetest.Long(parts)
	file := filepath.Join(w.TempDir(), "long.json")
	f, err := os.Create(file)
	if err == nil {
		err = json.NewEncoder(f).Encode(x)
	}
	if err == nil {
		err = f.Close()
	}
	path, e := program()
	if err != nil || e != nil {
		w.Fatal(err, e)
	}
	cmd := exec.Command(path, "import", file)
	cmd.Dir, cmd.Env = w.project, w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	var all []struct{ ID, Title string }
	w.ask("GET", "/lathe/board", "", &all)
	if len(all) != 1 {
		w.Fatalf("the sessions are %v", all)
	}
	return all[0].ID
}
