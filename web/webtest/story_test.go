package webtest

import (
	_ "embed"
	"testing"

	"github.com/chromedp/chromedp"
)

//go:embed testdata/story.script
var story string

// A whole turn by clicks: a new session, a permission, changes, undo, a question.
func TestStory(t *testing.T) {
	w := begin(t, story)
	w.size(1280, 800)
	w.do("open", chromedp.Navigate(w.url))
	w.shows("What should be done?")
	w.prompt("The test fails. Find the cause and fix it.")
	w.shows("Run a command")
	w.shows("sh check.sh")
	w.size(390, 800)
	w.picture("ask-phone")
	w.click("Allow once")
	w.wait(`document.querySelector(".ask .code")?.innerText.includes("git commit")`)
	w.click("This session")
	w.shows("The test passes now.")
	w.wait(`!document.querySelector(".working .spinner")`)
	w.picture("session-phone")
	w.size(1280, 800)
	w.picture("session")
	w.click("Changes1")
	w.shows("slug.go")
	w.picture("changes")
	w.click("Steps")
	w.shows("Rewind to here")
	w.click("This session")
	w.click("Undo")
	w.shows("Undone: ")
	w.click("Redo")
	w.shows("Redone: ")
	w.click("Chat")
	w.prompt("Which case?")
	w.shows("Which case should slugs have?")
	w.size(390, 800)
	w.click("Lower case\nhello-world, as today")
	w.click("Answer")
	w.shows("Fine, I keep it lower case.")
	w.click("All sessions")
	w.shows("Recent")
	w.quiet()
}

// The other screens show what the server says, and nothing on them fails.
func TestScreens(t *testing.T) {
	w := begin(t, "text \"Fine.\"\nusage 1000 100\nfinish stop\n")
	w.before(`{ const W = WebSocket, all = window.sockets = []; window.WebSocket = class extends W { constructor(...a) { super(...a); all.push(this) } } }`)
	w.size(1280, 800)
	w.do("open", chromedp.Navigate(w.url))
	w.prompt("Say something.")
	w.shows("Fine.")
	w.click("Usage")
	w.shows("By model")
	w.shows("script/script")
	w.click("Settings")
	w.click("Dark")
	w.wait(`getComputedStyle(document.body).backgroundColor === "rgb(21, 24, 28)"`)
	w.do("go back", chromedp.NavigateBack(), chromedp.NavigateBack())
	w.click("Terminal")
	w.wait(`document.querySelector(".terminal-view")?.innerText.trim() !== "" && document.activeElement.className === "terminal-input"`)
	w.do("type", chromedp.SendKeys(".terminal-input", "echo ab$((41+1))\r"))
	w.shows("ab42")
	w.do("cut the connection of the terminal", chromedp.Evaluate[chromedp.Void](`sockets[0].close()`))
	w.shows("Reconnecting…")
	w.wait(`sockets[1]?.readyState === 1 && document.querySelector(".terminal-view").innerText.includes("ab42")`)
	w.do("type again", chromedp.SendKeys(".terminal-input", "echo cd$((41+1))\r"))
	w.shows("cd42")
	w.do("repeat it with the keys of a phone", chromedp.Evaluate[chromedp.Void](`document.querySelector(".terminal-keys [aria-label=Up]").click()`), chromedp.SendKeys(".terminal-input", "\r"))
	w.wait(`document.querySelector(".terminal-view").innerText.split("cd42").length === 3`)
	w.do("type wide characters", chromedp.SendKeys(".terminal-input", `clear; printf '\xe6\x97\xa5e\xcc\x81\xf0\x9f\x98\x80|\n12345|\n'`+"\r"))
	w.wait(`(() => {
		const rows = [...document.querySelectorAll(".terminal-view > div:last-child > div")].filter(e => e.textContent.trimEnd().endsWith("|"))
		return rows.length === 2 && rows[0].offsetHeight === rows[1].offsetHeight && rows.map(e => {
			const r = document.createRange(), node = [...e.querySelectorAll("span")].find(s => s.textContent.includes("|")).firstChild
			r.setStart(node, node.data.indexOf("|")); r.setEnd(node, node.data.indexOf("|") + 1)
			return r.getBoundingClientRect().left
		}).every((x, _, all) => Math.abs(x - all[0]) < 1)
	})()`)
	w.do("open the help", chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); dispatchEvent(new KeyboardEvent("keydown", {key: "?"}))`))
	w.shows("Keyboard shortcuts")
	w.quiet()
}

// The text of a prompt survives a reload.
func TestDraft(t *testing.T) {
	w := begin(t, "text \"Fine.\"\nfinish stop\n")
	w.size(390, 800)
	w.do("open", chromedp.Navigate(w.url+"/#/new"), chromedp.WaitVisible("#prompt"), chromedp.SendKeys("#prompt", "Do not lose this."), chromedp.Reload())
	w.wait(`document.querySelector("#prompt")?.value === "Do not lose this."`)
	w.click("Send")
	w.shows("Fine.")
	if left := eval[string](w, `localStorage.getItem("draft:new") ?? ""`); left != "" {
		t.Errorf("%q is left after it was sent", left)
	}
	w.quiet()
}

// A turn that is stopped, or fails, says so at its end, also to screen readers.
func TestEnd_Said(t *testing.T) {
	w := begin(t, "text \"One.\"\nstall\n--\nstatus 400 \"That is too much.\"\n")
	id := w.session("Ends")
	w.size(390, 800)
	w.see(id)
	w.prompt("Begin.")
	w.shows("One.")
	w.click("Stop")
	w.wait(`document.querySelector(".rows .note")?.innerText === "Stopped" && document.querySelector("#live").innerText.startsWith("Stopped")`)
	w.prompt("Again.")
	w.wait(`document.querySelector(".rows .note.bad")?.innerText.includes("That is too much.")`)
	w.quiet()
}

// A request is reached and settled by keys, and the focus is never lost.
func TestKeys(t *testing.T) {
	w := begin(t, "call bash {\"command\":\"sh check.sh\"}\nfinish tool-calls\n--\ncall bash {\"command\":\"git push\"}\nfinish tool-calls\n--\ntext \"One.\"\nfinish stop\n")
	asks, other := w.session("It asks"), w.session("Another")
	w.size(1280, 800)
	w.see(other)
	w.send(asks, "Begin.")
	w.wait(`document.querySelector(".entry .needs-you")`)
	key := func(keys string) { w.do("press "+keys, chromedp.KeyEvent(keys)) }
	in := func(selector string) { w.wait(`document.activeElement?.closest(` + quote(selector) + `)`) }
	key("w")
	in(".ask-box")
	w.wait(`document.querySelector(".ask .primary:enabled")`)
	key("y")
	w.wait(`document.querySelector(".ask .code")?.innerText.includes("git push") && document.querySelector(".ask .primary:enabled")`)
	key("w")
	in(".ask-box")
	key("n")
	in(".ask-say input")
	key("Wait")
	key("\x1b")
	in(".ask-box")
	w.wait(`!document.querySelector(".ask-say") && !document.querySelector(".toast")`)
	key("n")
	in(".ask-say input")
	key("\r")
	w.shows("One.")
	key("n")
	in("#prompt")
	w.quiet()
}
