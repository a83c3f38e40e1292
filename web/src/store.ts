// The state of the page: what the server said, folded. Screens watch cells; nothing else changes them.
import { ApiError, at, get, lathePath, position, post, send, sessionPath, whenDenied } from "./api"
import { Cell } from "./cell"
import { Feed } from "./feed"
import { keep, load } from "./kept"
import { announce, remind } from "./notice"
import * as seen from "./seen"
import { Transcript } from "./transcript"
import type { Ask, BoardEntry, Device, Event, Permission, Questions, Session, Status, WithParts } from "./types"

export const board = new Cell<BoardEntry[] | undefined>(undefined)
export const asks = new Cell<Map<string, Ask>>(new Map())
export const line = new Cell<"connecting" | "online" | "offline">("connecting")
export const me = new Cell<Device | undefined>(undefined)
export const denied = new Cell(false)
export const fresh = new Cell(false) // a newer version of the page is here
export const toast = new Cell<{ text: string; bad: boolean; id: number } | undefined>(undefined)

let toasts = 0
export function say(text: string, bad = false): void {
  const id = ++toasts
  toast.value = { text, bad, id }
  announce(text)
  setTimeout(() => { if (toast.value?.id === id) toast.value = undefined }, bad ? 8000 : 4000)
}
export const complain = (e: unknown): void => { if (!(e instanceof ApiError && e.status === 401)) say(e instanceof Error ? e.message : String(e), true) }

// may tells whether this device has a right. Without devices the server has only the password, which may do everything.
export const may = (right: "answer" | "full"): boolean => {
  const r = me.value?.right ?? "full"
  return r === "full" || right === "answer" && r === "answer"
}

const parents = new Map<string, string>() // of sub-agents' sessions
export const learn = (s: Session): void => { if (s.parentID) parents.set(s.id, s.parentID) }
export function rootOf(id: string): string {
  for (let n = 0; n < 20 && parents.has(id); n++) id = parents.get(id)!
  return id
}
export const asksOf = (session: string): Ask[] => [...asks.value.values()].filter((a) => a.session === session || rootOf(a.session) === session)

const opened = new Map<string, Opened>()

// Opened is a session that a screen shows: a window of its messages, and what happens to it.
export class Opened {
  transcript: Transcript | undefined
  readonly rows = new Cell(0) // rises when the rows change
  readonly info = new Cell(0) // rises when the session, its status, list or diff changes
  readonly failure = new Cell<string>("")
  users = 0
  saved = false // this is what the browser has stored: there was no connection
  private waiting: Event[] | undefined = []
  private scheduled = false
  private structure = -1
  private reading = false
  private step = 60_000 // milliseconds of history that a page about covers

  constructor(readonly id: string) { void this.load() }

  async load(): Promise<void> {
    this.waiting ??= []
    const late = setTimeout(() => void this.recall(), patience)
    try {
      const session = await get<Session>(sessionPath(this.id))
      learn(session)
      const [page, todos, statuses, children] = await Promise.all([
        send<WithParts[]>("GET", sessionPath(this.id, `/message?limit=${pageSize}`)),
        get<Transcript["todos"]>(sessionPath(this.id, "/todo")).catch(() => []),
        get<Record<string, Status>>(at("/session/status", session.directory)).catch(() => ({}) as Record<string, Status>),
        get<Session[]>(sessionPath(this.id, "/children")).catch(() => []),
      ])
      children.forEach(learn)
      const t = new Transcript(session, page.body)
      t.hasOlder = page.headers.has("X-Next-Cursor")
      t.todos = todos
      t.status = statuses[this.id] ?? { type: "idle" }
      this.transcript = t
      this.saved = false
      const came = this.waiting ?? []
      this.waiting = undefined
      for (const e of came) t.apply(e)
      t.stale = false
      this.failure.value = ""
      this.rows.value++
      this.info.value++
      void readAsks(session.directory)
      this.save()
    } catch (e) {
      if (e instanceof ApiError && e.status === 404) void seen.drop(this.id)
      if (e instanceof ApiError && e.status === 0 && (await this.recall())) return
      this.failure.value = e instanceof Error ? e.message : String(e)
    } finally {
      clearTimeout(late)
    }
  }

  // recall shows what the browser has stored of the session, while the server does not answer.
  private async recall(): Promise<boolean> {
    const s = this.transcript ? undefined : await seen.find(this.id)
    if (this.transcript || !s || denied.value) return !!this.transcript
    learn(s.session)
    const t = new Transcript(s.session, s.messages)
    t.hasOlder = s.older
    t.todos = s.todos
    this.transcript = t
    this.saved = true
    this.failure.value = ""
    this.rows.value++
    this.info.value++
    return true
  }

  // save stores the session for times without a connection, when the browser has nothing else to do.
  save(): void {
    const f = (): void => {
      const t = this.transcript
      if (!t || t.deleted || t.detached || this.saved || denied.value) return
      const all = t.snapshot(), messages = seen.newest(all)
      void seen.save({ id: this.id, at: Date.now(), session: t.session, messages, todos: t.todos, older: t.hasOlder || messages.length < all.length })
    }
    if ("requestIdleCallback" in window) requestIdleCallback(f, { timeout: 5000 })
    else setTimeout(f, 500)
  }

  apply(e: Event): void {
    if (this.waiting) {
      if (this.waiting.length < 20_000) this.waiting.push(e)
      if (!this.transcript) return
    }
    const t = this.transcript!
    if (!t.apply(e)) return
    if (t.stale) { t.stale = false; feed.drop() } // the stream begins again with the texts so far
    if (!e.type.startsWith("message.part")) this.info.value++
    if (e.type === "session.status" && t.status.type === "idle") this.save()
    this.schedule()
  }

  // schedule tells the screen once for each frame, however many events came.
  private schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    const go = (): void => { this.scheduled = false; this.flush() }
    if (document.hidden) setTimeout(go, 250)
    else requestAnimationFrame(go)
  }

  private flush(): void {
    const t = this.transcript
    if (!t) return
    t.flush()
    if (t.structure !== this.structure) { this.structure = t.structure; this.rows.value++ }
  }

  private async page(before: string, limit = pageSize): Promise<{ read: WithParts[]; more: boolean; now: number }> {
    const r = await send<WithParts[]>("GET", sessionPath(this.id, `/message?limit=${limit}&before=${before}`))
    return { read: r.body, more: r.headers.has("X-Next-Cursor"), now: Date.parse(r.headers.get("Date") ?? "") || Date.now() } // by the clock of the server
  }

  private async once(f: (t: Transcript) => Promise<void>): Promise<void> {
    const t = this.transcript
    if (!t || this.reading) return
    this.reading = true
    try { await f(t) } catch (e) { complain(e) } finally { this.reading = false; this.flush() }
  }

  // older reads the page before what is here, and drops what is far behind.
  async older(): Promise<void> {
    if (!this.transcript?.hasOlder || this.saved || line.value === "offline") return
    return this.once(async (t) => {
      const first = t.oldest
      if (!t.hasOlder || !first) return
      const { read, more } = await this.page(position(first.time.created, first.id))
      t.include(read)
      t.hasOlder = more
      if (t.messages.length > most) { t.forget(most - pageSize * 3, t.messages.length); t.detached = true }
    })
  }

  // newer reads the page after what is here. The server pages backwards only, so this looks for a time at which a page
  // overlaps with the last message.
  async newer(): Promise<void> {
    if (!this.transcript?.detached || line.value === "offline") return
    return this.once(async (t) => {
      for (let n = 0; n < 40; n++) {
        const last = t.newest
        if (!last) return
        const to = last.time.created + this.step
        const { read, now } = await this.page(position(to, "zzz"))
        const at = read.findIndex((m) => m.info.id === last.id)
        if (at < 0) { this.step = Math.max(1, Math.floor(this.step / 4)); if (this.step > 1) continue; t.include(read); return }
        const fresh = read.slice(at + 1)
        if (to > now + 60_000 && fresh.length < pageSize - 1) { t.include(fresh); t.detached = false; return }
        if (fresh.length === 0) { this.step *= 4; continue }
        if (fresh.length < pageSize / 3) this.step *= 2
        t.include(fresh)
        if (t.messages.length > most) { t.forget(0, t.messages.length - most + pageSize * 3); t.hasOlder = true }
        return
      }
    })
  }

  // start goes to the first message. It looks for the time before which there is at most one page.
  start(): Promise<void> {
    return this.once(async (t) => {
      if (!t.hasOlder || !t.oldest) return
      let low = 0, high = t.oldest.time.created, found: WithParts[] | undefined
      let guess = Math.min(high, t.session.time.created + 60_000)
      for (let n = 0; n < 60 && high - low > 1; n++) {
        const { read, more } = await this.page(position(guess, "zzz"))
        if (more) high = guess
        else if (read.length === 0) low = guess
        else { found = read; break }
        guess = low === 0 && more ? Math.floor(t.session.time.created - (t.session.time.created - low) / 2 ** (20 - Math.min(n, 19))) : Math.floor((low + high) / 2)
        if (guess <= low || guess >= high) guess = Math.floor((low + high) / 2)
      }
      if (!found) return
      t.forget(0, t.messages.length)
      t.detached = true
      t.hasOlder = false
      t.include(found)
    })
  }

  // about reads the messages before and after one, if it is not here.
  async about(id: string, time: number): Promise<void> {
    while (this.reading) await new Promise((done) => { setTimeout(done, 50) })
    return this.once(async (t) => {
      if (t.find(id) || !time) return
      const { read, more } = await this.page(position(time, "zzz"))
      if (!read.some((m) => m.info.id === id)) return
      t.forget(0, t.messages.length)
      t.detached = true
      t.hasOlder = more
      t.include(read)
    })
  }

  // latest goes back to the newest messages.
  async latest(): Promise<void> { if (this.transcript?.detached) await this.load() }
}

const patience = 2000 // milliseconds after which what the browser has stored is shown
const pageSize = 60
const most = 900 // messages that are kept; the store has the others

// open returns a session for a screen; close must follow.
export function open(id: string): Opened {
  let o = opened.get(id)
  if (!o) { o = new Opened(id); opened.set(id, o) }
  o.users++
  return o
}
export function close(o: Opened): void {
  if (--o.users > 0) return
  o.save()
  setTimeout(() => { if (o.users === 0 && opened.get(o.id) === o) opened.delete(o.id) }, 30_000)
}

let boardTimer: ReturnType<typeof setTimeout> | undefined
let boardRead = 0
export function refreshBoard(soon = false): void {
  if (boardTimer) return
  boardTimer = setTimeout(() => { boardTimer = undefined; void readBoard() }, soon ? 0 : Math.max(300, boardRead + 1000 - Date.now()))
}
async function readBoard(): Promise<void> {
  boardRead = Date.now()
  try {
    board.value = await get<BoardEntry[]>("/lathe/board?limit=300")
    keepOffline()
    remind(board.value.reduce((n, e) => n + (e.asks ?? 0), 0))
  } catch (e) {
    if (!board.value) board.value = recall()
    if (!(e instanceof ApiError && e.status === 0)) complain(e) // the line says that there is no connection
  }
}

// The list stays readable without a connection.
function keepOffline(): void {
  if (board.value && !denied.value) keep("board", JSON.stringify(board.value.slice(0, 50)))
}
function recall(): BoardEntry[] {
  try { return JSON.parse(load("board") || "[]") } catch { return [] }
}

export async function readAsks(directory: string): Promise<void> {
  const [ps, qs] = await Promise.all([get<Permission[]>(at("/permission", directory)).catch(() => undefined), get<Questions[]>(at("/question", directory)).catch(() => undefined)])
  if (!ps || !qs) return
  for (const p of ps) asks.value.set(p.id, { kind: "permission", id: p.id, session: p.sessionID, permission: p })
  for (const q of qs) asks.value.set(q.id, { kind: "question", id: q.id, session: q.sessionID, question: q })
  asks.touch()
}

function patch(id: string, change: Partial<BoardEntry>): void {
  const list = board.value
  const i = list?.findIndex((e) => e.id === id) ?? -1
  if (!list || i < 0) return
  board.value = list.map((e, n) => n === i ? { ...e, ...change } : e)
}

// patchState changes the state of an entry that waits for nobody, until the server says it better.
function patchState(id: string, state: string): void {
  if (asksOf(id).length === 0) patch(id, { state, asks: 0 })
}

const entryOf = (s: Session): BoardEntry => ({
  id: s.id, title: s.title, state: "done", projectID: s.projectID, directory: s.directory, cost: s.cost ?? 0, created: s.time.created, updated: s.time.updated,
})

export const boardStates = ["needs you", "running", "queued", "interrupted", "failed", "done"]

function onEvent(e: Event): void {
  const p = e.properties
  switch (e.type) {
    case "session.created": case "session.updated":
      if (p.info) {
        learn(p.info)
        patch(p.info.id, { title: p.info.title, updated: p.info.time?.updated ?? 0 })
        if (!p.info.parentID && board.value && !p.info.time?.archived && !board.value.some((b) => b.id === p.info.id)) {
          board.value = [entryOf(p.info), ...board.value]
          refreshBoard()
        }
      }
      break
    case "session.deleted":
      if (board.value) board.value = board.value.filter((b) => b.id !== (p.info?.id ?? p.sessionID))
      void seen.drop(p.info?.id ?? p.sessionID)
      keepOffline()
      break
    case "session.status":
      patchState(p.sessionID, p.status?.type === "idle" ? "done" : "running")
      refreshBoard()
      break
    case "permission.asked":
      asks.value.set(p.id, { kind: "permission", id: p.id, session: p.sessionID, permission: p as Permission })
      asked(p.sessionID)
      break
    case "question.asked":
      asks.value.set(p.id, { kind: "question", id: p.id, session: p.sessionID, question: p as Questions })
      asked(p.sessionID)
      break
    case "permission.replied": case "question.replied": case "question.rejected":
      if (asks.value.delete(p.requestID)) {
        asks.touch()
        const root = rootOf(p.sessionID)
        patch(root, { asks: asksOf(root).length })
        patchState(root, "running")
      }
      refreshBoard()
      break
    case "session.error":
      if (p.sessionID && opened.has(p.sessionID) && p.error?.data?.message && p.error.name !== "MessageAbortedError") say(p.error.data.message, true)
      break
  }
  for (const o of opened.values()) o.apply(e)
}

function asked(session: string): void {
  asks.touch()
  patch(rootOf(session), { state: "needs you" })
  refreshBoard()
  announce("A request waits for your answer")
  remind(asks.value.size, true)
}

export const feed: Feed = new Feed({
  event: onEvent,
  connected() {
    const was = line.value
    line.value = "online"
    if (!me.value) who().catch(() => {})
    if (was === "offline") refreshBoard(true)
    for (const o of opened.values()) {
      if (was === "offline" && !o.transcript || o.saved) void o.load()
      else if (was === "offline") o.rows.value++ // older messages can be read again
    }
  },
  lost() { line.value = "offline" },
  resync() {
    asks.value = new Map()
    refreshBoard(true)
    for (const o of opened.values()) void o.load()
  },
  denied: deny,
})

// deny is for a device that the server refuses: what it has stored of sessions goes.
function deny(): void {
  denied.value = true
  me.value = undefined
  board.value = undefined
  asks.value = new Map()
  void seen.clear()
  keep("board", "")
}

whenDenied(deny)

const who = async (): Promise<void> => { me.value = await get<Device>("/lathe/device") }

// begin asks who we are, and connects. A server without devices answers 404: then the password is enough.
export async function begin(): Promise<void> {
  const late = setTimeout(() => { board.value ??= recall() }, patience)
  try {
    await who()
  } catch (e) {
    if (e instanceof ApiError && e.status === 401) return
  } finally {
    clearTimeout(late)
  }
  denied.value = false
  refreshBoard(true)
  feed.start()
}

export const rename = (id: string, title: string): Promise<Session> => send<Session>("PATCH", sessionPath(id), { title }).then((r) => r.body)
export const abort = (id: string): Promise<unknown> => post(sessionPath(id, "/abort"))
export const resume = (id: string): Promise<unknown> => post(lathePath(id, "/resume"))
