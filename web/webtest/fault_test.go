package webtest

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Two tabs and the terminal UI work on one session. One sends a prompt, another one answers, and all see the same.
func TestClients_EndEqual(t *testing.T) {
	w := begin(t, turn+"--\ntext \"The terminal has this.\"\nfinish stop\n")
	id := w.session("Fix the slug test")
	x := w.attach(id)
	w.size(1280, 3000)
	w.see(id)
	o := w.other(true)
	o.size(1280, 3000)
	o.see(id)
	w.prompt("The test fails. Fix it.")
	o.wait(`document.querySelector(".ask")?.innerText.includes("sh check.sh")`)
	x.shows("[1 Allow once]")
	for range 60 { // a new request ignores keys for a moment
		<-time.After(time.Second)
		if !eval[bool](o, `!!document.querySelector(".ask")`) {
			break
		}
		x.enter("\r")
	}
	w.shows("The last word is here.")
	w.wait(`!document.querySelector(".working .spinner") && !document.querySelector(".ask")`)
	x.shows("word is here.")
	x.enter("And now?\r")
	w.shows("The terminal has this.")
	x.shows("The terminal has this.")
	w.wait(`!document.querySelector(".working .spinner") && document.querySelectorAll(".foot").length === 2`)
	o.equal("the other tab", w)
	w.quiet()
	o.quiet()
}

// A server that dies takes no typed text with it: the prompt is sent again when the server is back, and is there once.
func TestRestart_KeepsTypedText(t *testing.T) {
	w := begin(t, "text \"Fine, I do that.\"\nfinish stop\n")
	id := w.session("Restart")
	w.size(1280, 800)
	w.see(id)
	w.do("type", chromedp.WaitVisible("#prompt"), chromedp.SendKeys("#prompt", "Do not lose this."))
	w.kill()
	w.click("Send")
	w.wait(`document.querySelector(".composer .note.bad")?.innerText.includes("Your text is kept")`)
	w.wait(`document.querySelector(".offline")`)
	w.wait(`document.querySelector("#prompt").value === "Do not lose this."`)
	w.launch("--port", w.url[strings.LastIndex(w.url, ":")+1:], "--no-auth")
	w.wait(`!document.querySelector(".offline")`)
	w.do("reload", chromedp.Reload())
	w.wait(`document.querySelector("#prompt")?.value === "Do not lose this."`)
	w.click("Send")
	w.shows("Fine, I do that.")
	w.wait(`document.querySelector("#prompt").value === "" && document.querySelectorAll("article.user").length === 1`)
	w.quiet()
}

// What begins a slash command or a shell command is kept as well until the server has it, and is sent once.
func TestRestart_KeepsCommands(t *testing.T) {
	w := begin(t, "pause 2s\ntext \"I have looked around.\"\nfinish stop\n")
	id := w.session("Restart")
	w.size(1280, 800)
	w.see(id)
	w.wait(`document.querySelectorAll(".pick").length >= 2`)
	for _, text := range []string{"!echo kept; sleep 2", "/init this project"} {
		w.do("type "+text, chromedp.SendKeys("#prompt", text))
		w.kill()
		w.click("Send")
		w.wait(`document.querySelector(".composer .note.bad")?.innerText.includes("Your text is kept")`)
		w.wait(`document.querySelector("#prompt").value === ` + quote(text))
		w.launch("--port", w.url[strings.LastIndex(w.url, ":")+1:], "--no-auth")
		w.wait(`!document.querySelector(".offline")`)
		w.do("reload", chromedp.Reload())
		w.wait(`document.querySelector("#prompt")?.value === ` + quote(text) + ` && document.querySelectorAll(".pick").length >= 2`)
		w.click("Send")
		w.wait(`document.querySelector("#prompt").value === "" && document.querySelector(".working .spinner")`) // before the command ends
		w.wait(`!document.querySelector(".working .spinner")`)
	}
	w.shows("I have looked around.")
	w.wait(`document.querySelectorAll("article.user").length === 2 && document.querySelector(".rows").innerText.includes("kept")`)
	w.quiet()
}

// A device is paired with a link that works once. When it is revoked in the middle of a turn, it sees no more, neither on
// the screen nor in what it has stored.
func TestDevice_RevokedMidStream(t *testing.T) {
	w := locked(t, "text \"One.\"\nstall\n")
	id := w.session("Secret work")
	var link struct{ Token string }
	w.ask("POST", "/lathe/pair/new", `{"right":"full","name":"Phone"}`, &link)
	w.size(390, 800)
	w.do("open without a device", chromedp.Navigate(w.url))
	w.shows("Sign in to lathe")
	w.screen("sign-in")
	w.do("open an old link", chromedp.Navigate(w.url+"/?a#pair=abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"))
	w.shows("Pair this device")
	w.screen("pair")
	w.click("Pair")
	w.shows("used or expired")
	w.do("open the link where the page is open", chromedp.Evaluate[chromedp.Void](`location.hash = "#pair=`+link.Token+`"`))
	w.click("Pair")
	w.shows("Secret work")
	if at := eval[string](w, "location.href"); strings.Contains(at, link.Token) {
		t.Errorf("the address keeps the token: %s", at)
	}
	w.do("open an address that is cut off", chromedp.Navigate(w.url+"/?d#/s/%E0%A4"))
	w.shows("Try again")
	w.see(id)
	w.prompt("Begin.")
	w.shows("One.")
	w.until("the session is stored", func() bool { return strings.Contains(eval[string](w, stored), "Secret work") })
	var all []struct{ ID string }
	w.ask("GET", "/lathe/devices", "", &all)
	if len(all) != 1 {
		t.Fatalf("devices: %v", all)
	}
	w.ask("DELETE", "/lathe/device/"+all[0].ID, "", nil)
	w.wait(`document.querySelector(".gate")`)
	w.forgotten()
	w.do("open the used link", chromedp.Navigate(w.url+"/?c#pair="+link.Token))
	w.click("Pair")
	w.shows("used or expired")
	w.quiet()
}

// A browser without room loses only what a reload would bring back.
func TestStorage_Full(t *testing.T) {
	w := begin(t, "text \"Fine, I do that.\"\nfinish stop\n")
	w.before(`Storage.prototype.setItem = IDBObjectStore.prototype.put = () => { throw new DOMException("no room", "QuotaExceededError") }`)
	id := w.session("No room")
	w.size(1280, 800)
	w.do("open the settings", chromedp.Navigate(w.url+"/#/settings"))
	w.click("Dark")
	w.wait(`document.documentElement.dataset.theme === "dark"`)
	w.click("Play a sound when a request waits and the page is in the background")
	w.see(id)
	w.prompt("Do that.")
	w.shows("Fine, I do that.")
	w.wait(`document.querySelector("#prompt").value === ""`)
	w.quiet()
}

// Nor may a page store anything where the browser forbids it.
func TestStorage_Forbidden(t *testing.T) {
	w := begin(t, "text \"Fine, I do that.\"\nfinish stop\n")
	w.before(`for (const name of ["localStorage", "indexedDB"]) Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError") } })`)
	id := w.session("Forbidden")
	w.size(1280, 800)
	w.do("open the settings", chromedp.Navigate(w.url+"/#/settings"))
	w.click("Dark")
	w.wait(`document.documentElement.dataset.theme === "dark"`)
	w.see(id)
	w.prompt("Do that.")
	w.shows("Fine, I do that.")
	w.quiet()
}

// A browser whose clock is wrong by days sees the same session in the same order.
func TestClock_Skew(t *testing.T) {
	w := begin(t, strings.Repeat("text \"Fine, I do that.\"\nfinish stop\n--\n", 2))
	id := w.session("Skew")
	w.size(1280, 3000)
	w.see(id)
	for i, skew := range []string{"+ 4 * 864e5", "- 4 * 864e5"} {
		o := w.other(false)
		o.before(`{ const now = Date.now.bind(Date), D = Date; window.Date = class extends D { constructor(...a) { super(...(a.length ? a : [now() ` + skew + `])) } }; Date.now = () => now() ` + skew + ` }`)
		o.size(1280, 3000)
		o.see(id)
		o.prompt([]string{"The first.", "The second."}[i])
		w.wait(`document.querySelectorAll(".foot").length === ` + []string{"1", "2"}[i])
		o.wait(`!document.querySelector(".working .spinner")`)
		if order := eval[string](o, `[...document.querySelectorAll("article.user")].map(e => e.innerText.trim().split("\n")[0]).join(" ")`); i == 1 && order != "The first. The second." {
			t.Errorf("the prompts stand as %q", order)
		}
		o.equal("a tab with a wrong clock", w)
		o.quiet()
	}
	w.quiet()
}

// A double tap on a request answers that one, not the next, which nobody has read.
func TestAsk_DoubleTap(t *testing.T) {
	w := begin(t, "call bash {\"command\":\"echo one\",\"description\":\"One\"}\ncall bash {\"command\":\"git commit -m two\",\"description\":\"Two\"}\nfinish tool-calls\n--\ntext \"Both are done.\"\nfinish stop\n")
	id := w.session("Two requests")
	w.size(390, 800)
	w.see(id)
	w.prompt("Run both.")
	w.wait(`document.querySelector(".ask .primary:not([disabled])")`)
	w.do("tap as soon as the next request is there", chromedp.Evaluate[chromedp.Void](`{
		const body = () => document.querySelector(".ask-body")?.innerText ?? "", first = body(), button = () => document.querySelector(".ask .primary")
		window.taps = 0
		new MutationObserver(() => { if (body() && body() !== first && window.taps++ === 0) button().click() }).observe(document.body, {subtree: true, childList: true, characterData: true})
		button().click()
	}`))
	w.wait(`window.taps > 0 && document.querySelector(".ask .primary:not([disabled])")`)
	if text := eval[string](w, `document.body.innerText`); strings.Contains(text, "Both are done.") {
		t.Error("the second request was answered unseen")
	}
	w.click("Allow once")
	w.shows("Both are done.")
	w.quiet()
}

// With a clock that is years behind, a long session is read from its start to its end.
func TestClock_Behind(t *testing.T) {
	w := begin(t, "text \"Fine.\"\nfinish stop\n")
	id := w.imported(200)
	w.before(`Date.now = () => 1e12`)
	w.size(390, 800)
	w.see(id)
	w.do("go to the start", chromedp.Evaluate[chromedp.Void](`dispatchEvent(new KeyboardEvent("keydown", {key: "g", bubbles: true}))`))
	w.shows("Answer 0.")
	for i := 0; eval[bool](w, `!document.body.innerText.includes("Answer 198.")`); i++ {
		if i > 600 {
			t.Fatalf("the last is %s", eval[string](w, `[...document.querySelectorAll("article.user")].at(-1)?.innerText`))
		}
		w.do("scroll", chromedp.Evaluate[chromedp.Void](`document.querySelector(".list").scrollBy(0, 500)`), chromedp.Evaluate[chromedp.Void]("new Promise(requestAnimationFrame)", chromedp.EvalAwaitPromise))
	}
	w.quiet()
}
