// A session: its messages, what waits, and the composer.
import type { ComponentChild, JSX } from "preact"
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks"
import { at, get, lathePath, post, send, sessionPath } from "./api"
import { Asks } from "./ask"
import { useCell } from "./cell"
import { copy } from "./code"
import { Composer, store as keep } from "./composer"
import { Svg } from "./icon"
import { List, type ListControl, type Row, ToEnd } from "./list"
import { memo } from "./memo"
import { announce, setTitle } from "./notice"
import { faultText, type Place, Spinner, Todos } from "./parts"
import { go, href, route } from "./route"
import { rowsOf, UserBody } from "./rows"
import { abort, asks, asksOf, board, close, complain, line, may, type Opened, open, rename, resume, say } from "./store"
import { Limited } from "./sessions"
import { base, count, money, num, prose, titleOf, visible } from "./text"
import type { MessageView, Transcript } from "./transcript"
import type { Session } from "./types"

export function useOpened(id: string): Opened | undefined {
  const [o, set] = useState<Opened | undefined>(undefined)
  useEffect(() => {
    const mine = open(id)
    set(mine)
    return () => { close(mine) }
  }, [id])
  return o?.id === id ? o : undefined
}

export function SessionScreen(p: { id: string; children?: (o: Opened, t: Transcript) => ComponentChild }): JSX.Element {
  const o = useOpened(p.id)
  return o ? <Loaded o={o} key={p.id}>{p.children}</Loaded> : <main class="screen" id="main" />
}

function Loaded(p: { o: Opened; children?: ((o: Opened, t: Transcript) => ComponentChild) | undefined }): JSX.Element {
  const { o } = p
  useCell(o.info)
  const failure = useCell(o.failure)
  const t = o.transcript
  useEffect(() => { setTitle(t ? titleOf(t.session.title) : ""); return () => setTitle("") }, [t?.session.title])
  if (!t) {
    return <main class="screen" id="main"><header class="bar"><Back />{!failure && <span class="muted"><Spinner /> Loading…</span>}</header>
      {failure && <div class="empty"><p>{failure}</p><button type="button" onClick={() => void o.load()}>Try again</button></div>}</main>
  }
  if (t.deleted) return <main class="screen" id="main"><header class="bar"><Back /></header><div class="empty"><p>This session was deleted.</p></div></main>
  return (
    <main class="screen" id="main">
      <Head o={o} t={t} />
      {p.children ? p.children(o, t) : <Chat o={o} t={t} />}
    </main>
  )
}

const Back = (): JSX.Element => <a class="icon back" href="#/" aria-label="All sessions"><Svg d="M15 5l-7 7 7 7" /></a>

function Head(p: { o: Opened; t: Transcript }): JSX.Element {
  const s = p.t.session, r = useCell(route)
  const cost = num(s.cost)
  useCell(asks)
  const waiting = asksOf(s.id).length
  const entry = useCell(board)?.find((b) => b.id === s.id)
  return (
    <header class="bar">
      {s.parentID ? <a class="icon back always" href={href(s.parentID)} aria-label="Parent session"><Svg d="M15 5l-7 7 7 7" /></a> : <Back />}
      <div class="bar-title">
        <h1 dir="auto">{titleOf(s.title)}</h1>
        <p class="muted"><bdi>{visible(base(s.directory))}</bdi>{entry?.branch && <> · <bdi>{visible(entry.branch)}</bdi></>}{cost > 0 && <> · {money(cost)}</>}<Meter t={p.t} /></p>
      </div>
      <nav class="tabs" aria-label="Session">
        <a href={href(s.id)} aria-current={r.screen === "session" ? "page" : undefined}>Chat{waiting > 0 && r.screen !== "session" && <span class="badge">{waiting}<span class="hidden-text"> waiting</span></span>}</a>
        <a href={href(s.id, "changes")} aria-current={r.screen === "changes" ? "page" : undefined}>Changes{(p.t.diff.length || s.summary?.files) ? <span class="badge">{p.t.diff.length || s.summary?.files}</span> : null}</a>
        {may("full") && <a class="wide-only" href={href(s.id, "terminal")} aria-current={r.screen === "terminal" ? "page" : undefined}>Terminal</a>}
      </nav>
      <SessionMenu s={s} />
    </header>
  )
}

interface ContextUse { window: number; used: number; compactAt: number; parts: { name: string; tokens: number }[] }

// Meter shows how full the context window is, and of what.
function Meter(p: { t: Transcript }): JSX.Element | null {
  const [use, setUse] = useState<ContextUse | undefined>(undefined)
  const s = p.t.session, idle = p.t.status.type === "idle", tokens = s.tokens ? s.tokens.input + s.tokens.output + s.tokens.cache.read : 0
  useEffect(() => { if (idle && tokens > 0) get<ContextUse>(lathePath(s.id, "/context")).then(setUse, () => {}) }, [s.id, idle, tokens])
  if (!use?.window || !use.used) return null
  const percent = Math.min(100, Math.round(100 * use.used / use.window))
  return <span class="meter" title={use.parts.map((x) => `${x.name}: ${count(x.tokens)}`).join("\n")}> · {percent < 1 ? "<1" : percent}% of {count(use.window)} context</span>
}

function SessionMenu(p: { s: Session }): JSX.Element | null {
  const box = useRef<HTMLDetailsElement>(null)
  if (!may("full")) return null
  const run = (f: () => Promise<unknown>) => (): void => { box.current!.open = false; f().catch(complain) }
  const s = p.s
  const model = s.model && { providerID: s.model.providerID, modelID: s.model.id }
  return (
    <details class="menu" ref={box} onKeyDown={(e) => { if (e.key === "Escape") { box.current!.open = false; e.stopPropagation() } }}>
      <summary class="icon" aria-label="Session actions"><Svg d="M5 12h.01M12 12h.01M19 12h.01" /></summary>
      <div class="menu-body">
        <a class="item narrow-only" href={href(s.id, "terminal")}>Terminal</a>
        <button type="button" onClick={run(async () => { const t = prompt("Title", s.title); if (t) await rename(s.id, t) })}>Rename…</button>
        <button type="button" onClick={run(async () => { const n = await post<Session>(sessionPath(s.id, "/fork")); go(href(n.id)) })}>Fork</button>
        <button type="button" disabled={!model} onClick={run(async () => { say("Compacting the history…"); await post(sessionPath(s.id, "/summarize"), model) })}>Compact the history</button>
        <button type="button" onClick={run(async () => {
          const n = await post<Session & { share?: { url: string } }>(sessionPath(s.id, "/share"))
          if (n.share) await copy(n.share.url).then(() => say("Copied the address of the share."), () => prompt("Address of the share", n.share!.url))
        })}>Share…</button>
        {s.share && <button type="button" onClick={run(async () => { await send("DELETE", sessionPath(s.id, "/share")); say("Nobody can read the share any more.") })}>Stop sharing</button>}
        <button type="button" onClick={run(async () => { await send("PATCH", sessionPath(s.id), { time: { archived: Date.now() } }); go("#/") })}>Archive</button>
        <button type="button" onClick={() => { box.current!.open = false; print() }}>Print…</button>
        <button type="button" class="danger" onClick={run(async () => { if (confirm("Delete this session and its sub-agents?")) { await send("DELETE", sessionPath(s.id)); go("#/") } })}>Delete…</button>
      </div>
    </details>
  )
}

function Chat(p: { o: Opened; t: Transcript }): JSX.Element {
  const { o, t } = p
  useCell(o.rows)
  const [atEnd, setAtEnd] = useState(true)
  const list = useRef<ListControl | null>(null)
  const busy = t.status.type !== "idle"
  const place: Place = { directory: t.session.directory, depth: 0 }
  const all = (): Row[] => rowsOf(t, place, () => <Older />, (m) => <UserMessage m={m} place={place} o={o} />)
  const rows = useMemo(all, [t, t.structure, o.rows.value, t.session.revert?.messageID])
  const onTop = useCallback(() => { void o.older() }, [o])
  const onBottom = useCallback(() => { void o.newer() }, [o])
  useAnnounced(t, busy)
  useChatKeys(o, list, busy)
  const q = useCell(route).query, wanted = q.get("m") // a message that the search found
  useEffect(() => {
    if (wanted) void o.about(wanted, num(Number(q.get("t")))).then(() => {
      const keys = [wanted, ...(t.find(wanted)?.parts.map((v) => v.part.id) ?? [])]
      const row = all().find((r) => keys.includes(r.key))
      if (row) requestAnimationFrame(() => list.current?.toRow(row.key))
    })
  }, [o, t, wanted])
  const toEnd = (): void => { void o.latest().then(() => list.current?.toEnd()) }
  return (
    <div class="chat">
      <List rows={rows} label="Messages" follow={!t.detached} onTop={onTop} onBottom={onBottom} onStick={setAtEnd} control={list} />
      {(!atEnd || t.detached) && <ToEnd go={toEnd} />}
      <div class="dock"><div>
        <Working t={t} o={o} />
        <Asks session={o.id} />
        {t.session.revert && <Reverted t={t} />}
        {may("full")
          ? <Composer draft={"draft:" + o.id} directory={t.session.directory} session={t.session} busy={busy} sent={toEnd} />
          : <Limited />}
      </div></div>
    </div>
  )
}

// Older stands for the messages before what is here.
function Older(): JSX.Element {
  return <div class="rule">{useCell(line) === "offline" ? <span>Older messages need a connection</span> : <Spinner />}</div>
}

const UserMessage = memo((p: { m: MessageView; place: Place; o: Opened }): JSX.Element => {
  const box = useRef<HTMLDetailsElement>(null)
  const text = (): string => p.m.parts.filter((v) => v.part.type === "text" && !v.part.synthetic).map((v) => v.text).join("\n")
  const run = (f: () => Promise<unknown>) => (): void => { box.current!.open = false; f().catch(complain) }
  const undo = async (): Promise<void> => {
    if (p.o.transcript?.status.type !== "idle") await abort(p.o.id)
    await post(lathePath(p.o.id, "/undo"), { messageID: p.m.info.id })
    keep("draft:" + p.o.id, text())
    dispatchEvent(new Event("lathe-draft"))
    say("Undone, with the files. Redo brings everything back.")
  }
  return (
    <article class="user" aria-label="You">
      <UserBody m={p.m} place={p.place} />
      <details class="menu" ref={box}>
        <summary class="icon" aria-label="Message actions"><Svg d="M5 12h.01M12 12h.01M19 12h.01" /></summary>
        <div class="menu-body">
          <button type="button" onClick={run(() => copy(text()))}>Copy</button>
          {may("full") && <button type="button" onClick={run(undo)}>Undo from here</button>}
          {may("full") && <button type="button" onClick={run(async () => { const n = await post<Session>(sessionPath(p.o.id, "/fork"), { messageID: p.m.info.id }); go(href(n.id)) })}>Fork before this</button>}
        </div>
      </details>
    </article>
  )
})

function Reverted(p: { t: Transcript }): JSX.Element {
  return (
    <div class="note" role="status">Undone from a message on; the next prompt makes this final.{" "}
      {may("full") && <button type="button" class="ghost small" onClick={() => post(lathePath(p.t.session.id, "/redo"), { all: true }).catch(complain)}>Redo everything</button>}</div>
  )
}

// Working says what goes on: a turn, a retry, a lost connection, a turn that can be resumed.
function Working(p: { t: Transcript; o: Opened }): JSX.Element | null {
  const state = useCell(line), s = p.t.status, entry = useCell(board)?.find((b) => b.id === p.o.id)
  const [open, setOpen] = useState(false)
  const left = p.t.todos.filter((x) => x.status !== "completed" && x.status !== "cancelled").length
  const now = p.t.todos.find((x) => x.status === "in_progress")
  if (state === "offline") return <div class="note" role="status">No connection. What you see may be old; the page reconnects by itself.</div>
  const interrupted = s.type === "idle" && entry?.state === "interrupted"
  if (s.type === "idle" && !interrupted && left === 0) return null
  return (
    <>
      {open && left > 0 && <div class="todo-box"><Todos todos={p.t.todos} /></div>}
      <div class="working">
        {s.type === "busy" && <><Spinner /><span>Working{now ? <>: <bdi>{prose(now.content)}</bdi></> : "…"}</span></>}
        {s.type === "retry" && <><Spinner /><span>Attempt {s.attempt}: <bdi>{prose(s.message ?? "")}</bdi></span></>}
        {interrupted && <><span>The turn was interrupted.</span> {may("full") && <button type="button" class="ghost small" onClick={() => resume(p.o.id).catch(complain)}>Resume</button>}</>}
        <span class="grow" />
        {s.type !== "idle" && may("answer") && !may("full") && <button type="button" class="danger small" onClick={() => void abort(p.o.id).catch(complain)}>Stop</button>}
        {left > 0 && <button type="button" class="ghost small" aria-expanded={open} onClick={() => setOpen(!open)}>{left} to do</button>}
      </div>
    </>
  )
}

// useAnnounced reads to screen readers what happens, not each word: that a turn began, and the answer when it ends.
function useAnnounced(t: Transcript, busy: boolean): void {
  const was = useRef(busy)
  useEffect(() => {
    if (busy && !was.current) announce("Working")
    if (!busy && was.current) {
      const last = t.messages[t.messages.length - 1]
      const text = last?.parts.filter((v) => v.part.type === "text").map((v) => v.text).join(" ") ?? ""
      announce((last?.info.error ? faultText(last.info.error) : "Done.") + " " + text.slice(0, 600))
    }
    was.current = busy
  }, [busy])
}

function useChatKeys(o: Opened, list: { current: ListControl | null }, busy: boolean): void {
  useEffect(() => {
    let escaped = 0
    const f = (e: KeyboardEvent): void => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test((e.target as HTMLElement).tagName)
      if (e.key === "Escape" && busy && may("answer")) {
        if (Date.now() - escaped < 800) { void abort(o.id).catch(complain); escaped = 0 } else { escaped = Date.now(); say("Press Esc again to stop.") }
      }
      if (typing || e.ctrlKey || e.metaKey || e.altKey) return
      if (e.key === "i" || e.key === "Enter" && e.target === document.body) { e.preventDefault(); document.getElementById("prompt")?.focus() }
      if (e.key === "G" || e.key === "End") { e.preventDefault(); void o.latest().then(() => list.current?.toEnd()) }
      if (e.key === "g" || e.key === "Home") { e.preventDefault(); void o.start().then(() => list.current?.toStart()) }
      if (e.key === "c") go(href(o.id, "changes"))
    }
    addEventListener("keydown", f)
    return () => removeEventListener("keydown", f)
  }, [o, busy])
}

export { at }
