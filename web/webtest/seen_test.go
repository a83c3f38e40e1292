package webtest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// stored are the sessions in the database of the browser, as JSON.
const stored = `new Promise((done, fail) => {
	const r = indexedDB.open("seen", 1)
	r.onupgradeneeded = () => r.result.createObjectStore("sessions", {keyPath: "id"}).createIndex("at", "at")
	r.onerror = () => fail(r.error)
	r.onsuccess = () => {
		const all = r.result.transaction("sessions").objectStore("sessions").getAll()
		all.onsuccess = () => { r.result.close(); done(JSON.stringify(all.result)) }
		all.onerror = () => fail(all.error)
	}
})`

// A session that was opened is readable without a connection, and goes on when there is one again.
func TestSeen_Offline(t *testing.T) {
	w := begin(t, "text \"Fine, that is done.\"\nfinish stop\n--\ntext \"And the rest.\"\nfinish stop\n")
	long, id := w.imported(200), w.session("A session to read on the train")
	w.size(390, 800)
	w.see(id)
	w.wait(`navigator.serviceWorker.controller`)
	w.prompt("Do it.")
	w.shows("Fine, that is done.")
	w.until("the answer is stored", func() bool { return strings.Contains(eval[string](w, stored), "Fine, that is done.") })
	w.see(long)
	w.until("the long session is stored", func() bool { return strings.Contains(eval[string](w, stored), "Answer 199.") })
	if n := len(eval[string](w, stored)); n > 600_000 {
		t.Errorf("%d characters are stored", n)
	}
	w.kill()
	w.do("open the session without a connection", chromedp.Navigate(w.url+"/?1#/s/"+id))
	w.shows("Fine, that is done.")
	w.shows("No connection.")
	w.do("open the long session without a connection", chromedp.Navigate(w.url+"/?2#/s/"+long))
	w.shows("Answer 199.")
	w.do("scroll up", chromedp.Evaluate[chromedp.Void](`document.querySelector(".list").scrollTo(0, 0)`))
	for eval[bool](w, `!document.body.innerText.includes("Older messages need a connection")`) {
		w.do("scroll up", chromedp.Evaluate[chromedp.Void](`document.querySelector(".list").scrollTo(0, 0)`), chromedp.Evaluate[chromedp.Void]("new Promise(requestAnimationFrame)", chromedp.EvalAwaitPromise))
	}
	if eval[bool](w, `!!document.querySelector(".toast")`) {
		t.Errorf("an error is shown: %s", eval[string](w, `document.querySelector(".toast").innerText`))
	}
	w.do("go to the other one", chromedp.Evaluate[chromedp.Void](`location.hash = "#/s/`+id+`"`))
	w.shows("Fine, that is done.")
	w.launch("--port", w.url[strings.LastIndex(w.url, ":")+1:], "--no-auth")
	w.wait(`!document.querySelector(".offline")`)
	w.prompt("Go on.")
	w.shows("And the rest.")
	w.ask("DELETE", "/session/"+id, "", nil)
	w.shows("This session was deleted.")
	w.until("the deleted session is gone", func() bool { return !strings.Contains(eval[string](w, stored), id) })
	w.ask("DELETE", "/session/"+long, "", nil)
	w.until("sessions that another client deletes are gone", func() bool { return eval[string](w, stored) == "[]" })
	w.quiet()
}

// A device with the fewest rights signs itself out, and leaves nothing behind in the browser.
func TestSeen_SignedOut(t *testing.T) {
	w := locked(t, "text \"One.\"\nfinish stop\n")
	id := w.session("Secret work")
	w.size(390, 800)
	w.pair("read")
	w.see(id)
	w.send(id, "Begin.")
	w.shows("One.")
	w.until("the session is stored", func() bool { return strings.Contains(eval[string](w, stored), "One.") })
	for _, at := range []string{"#/new", "#/s/" + id, "#/s/" + id + "/terminal"} {
		w.do("open "+at, chromedp.Navigate(w.url+"/"+at))
		w.shows("This device may only read.")
		if eval[bool](w, `!!document.querySelector("#prompt, .terminal")`) {
			t.Errorf("%s has a field to type in", at)
		}
	}
	w.do("open the settings", chromedp.Navigate(w.url+"/#/settings"), chromedp.Evaluate[chromedp.Void](`window.confirm = () => true`))
	w.click("Sign out")
	w.shows("Sign in to lathe")
	w.forgotten()
	w.quiet()
}

// A device that may only answer allows once, rejects with words, and stops a turn; nothing on its screen offers more.
func TestDevice_Answers(t *testing.T) {
	w := locked(t, "call bash {\"command\":\"sh check.sh\"}\nfinish tool-calls\n--\ncall bash {\"command\":\"git push\"}\nfinish tool-calls\n--\ntext \"One.\"\nstall\n")
	id := w.session("Secret work")
	w.size(390, 800)
	w.pair("answer")
	w.see(id)
	w.send(id, "Begin.")
	w.wait(`document.querySelector(".ask .code")?.innerText.includes("sh check.sh")`)
	if got := eval[string](w, `[...document.querySelectorAll(".ask .buttons button")].map(e => e.innerText).join()`); got != "Allow once,Reject…" {
		t.Errorf("the request offers %s", got)
	}
	w.click("Changes")
	w.shows("No changes.")
	w.wait(`document.querySelector(".tabs .badge")?.innerText.startsWith("1")`)
	w.do("go back to the request", chromedp.Click(".tabs a"))
	w.click("Allow once")
	w.wait(`document.querySelector(".ask .code")?.innerText.includes("git push")`)
	w.click("Reject…")
	w.do("say why", chromedp.SendKeys(".ask input", "Not yet."))
	w.click("Reject")
	w.shows("One.")
	w.click("Stop")
	w.shows("Stopped")
	w.wait(`!document.querySelector(".working")`)
	w.quiet()
}

// locked starts a server with a password.
func locked(t *testing.T, script string) *world {
	t.Helper()
	w := &world{T: t, project: project(t), secret: "correct horse"}
	browser := chromium(t)
	w.serve(script)
	w.kill()
	w.env = append(w.env, "LATHE_SERVER_PASSWORD="+w.secret)
	w.launch("--port", "0")
	w.ctx = w.open(browser)
	return w
}

// pair pairs the browser with a right.
func (w *world) pair(right string) {
	w.Helper()
	var link struct{ Token string }
	w.ask("POST", "/lathe/pair/new", `{"right":"`+right+`","name":"Phone"}`, &link)
	w.do("open the link", chromedp.Navigate(w.url+"/?pair#pair="+link.Token))
	w.click("Pair")
	w.wait(`document.querySelector(".entries")`)
}

// forgotten waits until the browser has nothing of the sessions, on the screen and in its storage.
func (w *world) forgotten() {
	w.Helper()
	w.wait(`!document.body.innerText.includes("Secret work")`)
	w.until("nothing is stored", func() bool {
		return eval[string](w, stored) == "[]" && !strings.Contains(eval[string](w, `JSON.stringify({...localStorage})`), "Secret work")
	})
}
