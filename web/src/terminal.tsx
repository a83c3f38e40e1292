// A shell of the server, over its WebSocket.
import type { JSX } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { ApiError, at, get, post, send } from "./api"
import { type Cell, Screen, styleOf } from "./screen"
import { complain } from "./store"

const basic = ["#1d2126", "#ff7b72", "#7ee08f", "#e3b341", "#79b8ff", "#d2a8ff", "#6fd6d6", "#d6d3cc", "#6b7480", "#ffa198", "#a5f0b0", "#f2cc60", "#a5d6ff", "#e2c5ff", "#a0f0f0", "#ffffff"]

function color(n: number): string {
  if (n < 16) return basic[n]!
  if (n >= 232) { const v = 8 + (n - 232) * 10; return `rgb(${v} ${v} ${v})` }
  const v = (k: number): number => k === 0 ? 0 : 55 + k * 40
  return `rgb(${v(Math.floor((n - 16) / 36))} ${v(Math.floor((n - 16) / 6) % 6)} ${v((n - 16) % 6)})`
}

// draw makes a line of spans, one for each run of a style.
function draw(into: HTMLElement, cells: Cell[], cursor: number): void {
  into.replaceChildren()
  for (let i = 0; i < cells.length;) {
    const wide = (k: number): boolean => cells[k + 1]?.c === "", on = i === cursor || wide(i) && i + 1 === cursor
    let j = i + (wide(i) ? 2 : 1)
    while (j < cells.length && !wide(i) && !wide(j) && cells[j]!.style === cells[i]!.style && j !== cursor && !on) j++
    const span = document.createElement("span"), s = styleOf(cells[i]!.style)
    if (wide(i)) span.className = "wide"
    span.textContent = cells.slice(i, j).map((c) => c.c).join("")
    const [fg, bg] = s.inverse !== on ? [s.bg, s.fg] : [s.fg, s.bg]
    if (fg >= 0) span.style.color = color(fg)
    else if (s.inverse !== on) span.style.color = "#101316"
    if (bg >= 0) span.style.background = color(bg)
    else if (s.inverse !== on) span.style.background = "#e7e5e0"
    if (s.bold) span.style.fontWeight = "700"
    if (s.dim) span.style.opacity = "0.7"
    if (s.under) span.style.textDecoration = "underline"
    into.append(span)
    i = j
  }
}

const special: Record<string, string> = { Enter: "\r", Backspace: "\u007f", Tab: "\t", Escape: "\u001b", Delete: "\u001b[3~", PageUp: "\u001b[5~", PageDown: "\u001b[6~", Insert: "\u001b[2~" }
const arrows: Record<string, string> = { ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D", Home: "H", End: "F" }

// keyOf is what a key sends, undefined for keys that are text.
function keyOf(e: KeyboardEvent, screen: Screen): string | undefined {
  if (e.isComposing || e.metaKey) return undefined
  if (arrows[e.key]) return (screen.application ? "\u001bO" : "\u001b[") + arrows[e.key]
  if (e.key === "Tab" && e.shiftKey) return "\u001b[Z"
  if (special[e.key]) return (e.altKey ? "\u001b" : "") + special[e.key]
  if (e.ctrlKey && !e.altKey && e.key.length === 1) {
    if (e.shiftKey && /[cv]/i.test(e.key)) return undefined // copy and paste
    const code = e.key.toUpperCase().charCodeAt(0)
    return code >= 64 && code < 96 ? String.fromCharCode(code - 64) : e.key === " " ? "\u0000" : undefined
  }
  return e.altKey && e.key.length === 1 ? "\u001b" + e.key : undefined
}

// The keys that keyboards of phones lack.
const touch: [string, string][] = [["Esc", "Escape"], ["Tab", "Tab"], ["Ctrl+C", "\u0003"], ["Ctrl+D", "\u0004"], ["Left", "ArrowLeft"], ["Up", "ArrowUp"], ["Down", "ArrowDown"], ["Right", "ArrowRight"]]
const labels: Record<string, string> = { "\u0003": "^C", "\u0004": "^D", ArrowLeft: "←", ArrowUp: "↑", ArrowDown: "↓", ArrowRight: "→" }

const ended = "The shell has ended."

interface Pty { id: string; title: string }

export function Terminal(p: { directory: string }): JSX.Element {
  const view = useRef<HTMLDivElement>(null), area = useRef<HTMLTextAreaElement>(null)
  const type = useRef<(key: string) => void>(() => {}) // as a keyboard would
  const [state, setState] = useState("Opening a shell…"), [again, setAgain] = useState(0)
  useEffect(() => {
    let over = false, socket: WebSocket | undefined, pty: Pty | undefined
    const el = view.current!, screen = new Screen(80, 24), input = (text: string): void => { if (socket?.readyState === 1) socket.send(text) }, stop = attach(el, area.current!, screen, input, (columns, rows) => {
      if (pty) send("PUT", at("/pty/" + pty.id, p.directory), { size: { rows, cols: columns } }).catch(() => {})
    })
    type.current = (key) => { input(arrows[key] ? (screen.application ? "\u001bO" : "\u001b[") + arrows[key] : special[key] ?? key); area.current?.focus() }
    // connect shows the shell. A connection that was cut is made again: the server has the output, and what the screen
    // answers to it was answered before.
    const connect = (repeated: boolean): void => {
      let past = repeated
      if (repeated) screen.write("\u001bc")
      const s = socket = new WebSocket(at(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/pty/${pty!.id}/connect?cursor=0`, p.directory))
      s.onmessage = (e) => {
        if (typeof e.data !== "string") { past = false; return } // all output of the past was sent
        screen.write(e.data)
        stop.draw()
        if (screen.reply && !past) s.send(screen.reply)
        screen.reply = ""
      }
      s.onopen = () => { setState(""); area.current?.focus() }
      s.onclose = (e) => { if (!over) e.code === 1000 ? setState(ended) : lost() }
    }
    const lost = (): void => {
      setState("Reconnecting…")
      setTimeout(() => {
        if (!over) get(at("/pty/" + pty!.id, p.directory)).then(() => over || connect(true), (e: unknown) => { if (!over) e instanceof ApiError && e.status === 404 ? setState(ended) : lost() })
      }, 1000)
    }
    post<Pty>(at("/pty", p.directory), {}).then((made) => {
      pty = made
      if (over) { void send("DELETE", at("/pty/" + made.id, p.directory)).catch(() => {}); return }
      stop.fit()
      connect(false)
    }).catch((e: unknown) => { setState("No shell: " + (e instanceof Error ? e.message : String(e))); complain(e) })
    return () => {
      over = true
      stop.end()
      socket?.close()
      if (pty) void send("DELETE", at("/pty/" + pty.id, p.directory)).catch(() => {})
    }
  }, [p.directory, again])
  return (
    <div class="terminal">
      {state && <p class="empty" role="status">{state} {state.endsWith(".") && <button type="button" class="small" onClick={() => { setState("Opening a shell…"); setAgain(again + 1) }}>New shell</button>}</p>}
      <div class="terminal-view" ref={view} tabIndex={0} role="region" aria-label="Terminal output" onMouseUp={() => { if (!getSelection()?.toString()) area.current?.focus() }} />
      <textarea class="terminal-input" ref={area} aria-label="Terminal input. Ctrl+Shift+F6 leaves it" autocomplete="off" autocapitalize="off" spellcheck={false} />
      <div class="terminal-keys touch-only" role="group" aria-label="Keys">
        {touch.map(([name, key]) => <button type="button" class="small" aria-label={name} onPointerDown={(e) => e.preventDefault()} onClick={() => type.current(key)}>{labels[key] ?? name}</button>)}
      </div>
    </div>
  )
}

// attach draws the screen into an element once for each frame, and sends what is typed.
function attach(el: HTMLElement, area: HTMLTextAreaElement, screen: Screen, input: (text: string) => void, sized: (columns: number, rows: number) => void): { draw: () => void; fit: () => void; end: () => void } {
  let scheduled = false, drawnBack = 0
  const back = document.createElement("div"), front = document.createElement("div")
  el.replaceChildren(back, front)
  const paint = (): void => {
    scheduled = false
    const end = el.scrollHeight - el.scrollTop - el.clientHeight < 30
    const fresh = Math.min(screen.back.length, 500)
    if (screen.back.length !== drawnBack) {
      back.replaceChildren(...screen.back.slice(-fresh).map((l) => { const d = document.createElement("div"); draw(d, l, -1); return d }))
      drawnBack = screen.back.length
    }
    while (front.children.length < screen.lines.length) front.append(document.createElement("div"))
    while (front.children.length > screen.lines.length) front.lastChild!.remove()
    screen.lines.forEach((l, y) => draw(front.children[y] as HTMLElement, l, screen.cursor && y === screen.y ? Math.min(screen.x, screen.columns - 1) : -1))
    if (end) el.scrollTop = el.scrollHeight
  }
  const schedule = (): void => { if (!scheduled) { scheduled = true; requestAnimationFrame(paint) } }
  const fit = (): void => {
    const probe = document.createElement("div") // as high as a line is drawn
    probe.textContent = "M".repeat(20)
    probe.style.width = "fit-content"
    front.append(probe)
    const box = probe.getBoundingClientRect()
    probe.remove()
    const columns = Math.max(20, Math.floor((el.clientWidth - 16) / (box.width / 20))), rows = Math.max(5, Math.floor((el.clientHeight - 8) / (box.height || 18)))
    if (!isFinite(columns)) return
    screen.resize(Math.min(columns, 500), Math.min(rows, 200))
    sized(screen.columns, screen.rows)
    schedule()
  }
  const key = (e: KeyboardEvent): void => {
    if (e.key === "F6" && e.ctrlKey && e.shiftKey) { document.querySelector<HTMLElement>(".tabs a")?.focus(); e.preventDefault(); return }
    e.stopPropagation()
    const text = keyOf(e, screen)
    if (text !== undefined) { e.preventDefault(); input(text) }
  }
  const typed = (): void => { if (area.value) { input(area.value.replaceAll("\n", "\r")); area.value = "" } }
  const paste = (e: ClipboardEvent): void => {
    const text = (e.clipboardData?.getData("text/plain") ?? "").replaceAll("\u001b", "").replace(/\r?\n/g, "\r")
    e.preventDefault()
    input(screen.bracketed ? "\u001b[200~" + text + "\u001b[201~" : text)
  }
  const sizes = new ResizeObserver(fit)
  sizes.observe(el)
  area.addEventListener("keydown", key)
  area.addEventListener("input", typed)
  area.addEventListener("paste", paste)
  return { draw: schedule, fit, end() { sizes.disconnect(); area.removeEventListener("keydown", key); area.removeEventListener("input", typed); area.removeEventListener("paste", paste) } }
}
