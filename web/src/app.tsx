import type { JSX } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { useCell, useMedia } from "./cell"
import { Changes } from "./changes"
import { reach } from "./focus"
import { TerminalScreen } from "./lazy"
import { go, href, pairing, route } from "./route"
import { Limited, NewSession, Sessions } from "./sessions"
import { SessionScreen } from "./session"
import { Settings, SignIn } from "./settings"
import { asks, begin, board, denied, feed, fresh, line, may, me, rootOf, toast } from "./store"
import { Usage } from "./usage"

const token = pairing()
const wide = "(min-width: 960px)"

export function App(): JSX.Element {
  const r = useCell(route), out = useCell(denied), state = useCell(line), newer = useCell(fresh)
  useCell(me) // what the device may do is everywhere
  const [help, setHelp] = useState(false), isWide = useMedia(wide)
  const first = useRef(true)
  useEffect(() => {
    if (token) denied.value = true
    else void begin()
  }, [])
  useEffect(() => { // the focus follows the screen, for those who do not see it change
    if (first.current) { first.current = false; return }
    const main = document.getElementById("main")
    if (main && !main.contains(document.activeElement)) { main.tabIndex = -1; main.focus({ preventScroll: true }) }
  }, [r.screen, r.session])
  useKeys(() => setHelp(true))
  const list = r.screen === "sessions"
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); const m = document.getElementById("main"); if (m) { m.tabIndex = -1; m.focus() } }}>Skip to content</a>
      {!out && <div class={"app" + (list ? " at-list" : "")}>
        {(list || isWide) && <aside class="side"><Sessions current={r.session} /></aside>}
        {r.screen === "session" && <SessionScreen key={r.session} id={r.session} />}
        {r.screen === "changes" && <SessionScreen key={r.session} id={r.session}>{(o, t) => <Changes o={o} t={t} />}</SessionScreen>}
        {r.screen === "terminal" && <SessionScreen key={r.session} id={r.session}>{(_, t) => may("full") ? <TerminalScreen directory={t.session.directory} /> : <Limited />}</SessionScreen>}
        {r.screen === "new" && <NewSession />}
        {r.screen === "usage" && <Usage />}
        {r.screen === "settings" && <Settings />}
        {list && isWide && <NewSession />}
      </div>}
      {state === "offline" && !out && <div class="offline" role="status">Offline <button type="button" class="ghost small" onClick={() => feed.drop()}>Reconnecting…</button></div>}
      {newer && <div class="offline" role="status">A new version is here. <button type="button" class="ghost small" onClick={() => location.reload()}>Reload</button></div>}
      <Toast />
      {help && <Help close={() => setHelp(false)} />}
      {out && <SignIn token={token} done={() => { location.reload() }} />}
    </>
  )
}

function Toast(): JSX.Element | null {
  const t = useCell(toast)
  return t ? <div class={"toast" + (t.bad ? " bad" : "")} onClick={() => { toast.value = undefined }}>{t.text}</div> : null
}

const keys: [string, string][] = [
  ["?", "Show this sheet"], ["/", "Search sessions"], ["n", "New session"], ["s", "All sessions"], ["j  k", "Next or previous session"],
  ["w", "Request that waits for you"], ["i", "Write a prompt"], ["Enter", "Send; Shift+Enter makes a line"], ["c", "Changes of the session"],
  ["y", "Allow once, with the focus in a request"], ["n", "Reject, with the focus in a request"], ["g  G", "First or latest message"], ["Esc Esc", "Stop the turn"],
]

function Help(p: { close: () => void }): JSX.Element {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => { box.current!.showModal() }, [])
  return (
    <dialog ref={box} class="help" aria-labelledby="help-title" onClose={p.close} onClick={(e) => { if (e.target === box.current) box.current!.close() }}>
      <h2 id="help-title">Keyboard shortcuts</h2>
      <dl>{keys.map(([k, t]) => <div><dt>{k.split(" ").filter(Boolean).map((x) => <kbd>{x}</kbd>)}</dt><dd>{t}</dd></div>)}</dl>
      <form method="dialog"><button class="primary" autoFocus>Close</button></form>
    </dialog>
  )
}

function useKeys(help: () => void): void {
  useEffect(() => {
    const f = (e: KeyboardEvent): void => {
      const t = e.target as HTMLElement
      if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName) || document.querySelector("dialog[open]")) return
      if (e.key === "?") help()
      else if (e.key === "/") { e.preventDefault(); if (!document.getElementById("search")) go("#/"); reach("#search") }
      else if (e.key === "n" && may("full") && !t.closest(".ask")) go("#/new")
      else if (e.key === "s") go("#/")
      else if (e.key === "w") { const a = [...asks.value.values()][0]; const b = board.value?.find((x) => x.asks); if (a ?? b) { go(href(a ? rootOf(a.session) : b!.id)); reach(".ask-box") } }
      else if (e.key === "j" || e.key === "k") step(e.key === "j" ? 1 : -1)
    }
    addEventListener("keydown", f)
    return () => removeEventListener("keydown", f)
  }, [])
}

// step goes to the next session of the list, in its order.
function step(by: number): void {
  const all = [...document.querySelectorAll<HTMLAnchorElement>(".entries .entry[href]")]
  if (all.length === 0) return
  const at = all.findIndex((a) => a.getAttribute("aria-current") === "page")
  const next = all[Math.max(0, Math.min(all.length - 1, at + by))]!
  next.focus()
  if (matchMedia(wide).matches) go(next.hash)
}
