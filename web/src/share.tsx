// The page of a share: one session, drawn as the app draws it, and followed while it runs. It needs no credentials and sends
// none. Until it has read the session, the page shows what the server rendered.
import { type JSX, render } from "preact"
import { useMemo, useRef, useState } from "preact/hooks"
import { Cell, useCell } from "./cell"
import { Feed } from "./feed"
import { List, type ListControl, ToEnd } from "./list"
import { type Place, Spinner, Todos } from "./parts"
import { rowsOf, UserBody } from "./rows"
import { titleOf } from "./text"
import { Transcript } from "./transcript"
import type { Status, WithParts } from "./types"

interface Shared { title: string; sessionID: string; created: number; status: Status; cursor: string; messages: WithParts[] }

const address = location.pathname.replace(/\/$/, "")
const session = new Cell<Transcript | undefined>(undefined)
const changed = new Cell(0) // rises when rows, the status or the list changes
const note = new Cell("")
let structure = -1, scheduled = false

// read gets the session anew, with the place in the stream from which to follow it.
async function read(): Promise<void> {
  const res = await fetch(address + "/data", { credentials: "omit", cache: "no-store" }).catch(() => undefined)
  if (res && !res.ok) { end(); return }
  if (!res) { note.value = "No connection. What you see may be old."; return }
  const got = await res.json() as Shared
  const info = got.messages.find((m) => m.info.path)?.info
  const t = new Transcript({
    id: got.sessionID, projectID: "", title: got.title, directory: info?.path?.cwd ?? "", time: { created: got.created, updated: got.created },
  }, got.messages)
  t.status = got.status
  feed.cursor = got.cursor
  session.value = t
  draw()
}

function end(): void {
  feed.close()
  note.value = "This session is no longer shared."
  draw()
}

// draw replaces what the server rendered, with its style.
function draw(): void {
  const rendered = document.getElementById("rendered")
  if (!rendered) return
  rendered.remove()
  document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]").forEach((l) => { if (l.media === "not all") l.media = ""; else l.remove() })
  render(<Page />, document.getElementById("app")!)
}

const feed = new Feed({
  event(e) {
    const t = session.value
    if (!t?.apply(e)) return
    if (t.stale) { t.stale = false; feed.drop() } // the stream begins again with the texts so far
    if (scheduled) return
    scheduled = true
    const show = (): void => {
      scheduled = false
      t.flush()
      if (t.structure !== structure || !e.type.startsWith("message.part")) { structure = t.structure; changed.value++ }
    }
    if (document.hidden) setTimeout(show, 250)
    else requestAnimationFrame(show)
  },
  connected() { note.value = "" },
  lost() { note.value = "No connection. What you see may be old." },
  resync() { void read() },
  denied: end,
}, { path: address + "/event", credentials: "omit", refused: [404] })

function Page(): JSX.Element {
  const t = useCell(session), said = useCell(note)
  if (!t) return <main class="screen" id="main"><div class="empty"><p>{said}</p></div></main>
  return (
    <main class="screen" id="main">
      <header class="bar"><div class="bar-title">
        <h1 dir="auto">{titleOf(t.session.title)}</h1>
        <p class="muted">Shared session, read-only · {new Date(t.session.time.created).toLocaleString()}</p>
      </div></header>
      <Messages t={t} key={feed.cursor} />
      <div class="dock"><div>{said && <div class="note" role="status">{said}</div>}</div></div>
    </main>
  )
}

function Messages(p: { t: Transcript }): JSX.Element {
  const { t } = p, version = useCell(changed)
  const [atEnd, setAtEnd] = useState(false)
  const list = useRef<ListControl | null>(null)
  const place: Place = { directory: t.session.directory, depth: 3 } // the sessions of sub-agents are not shared
  const rows = useMemo(() => rowsOf(t, place, () => null, (m) => <article class="user" aria-label="Prompt"><UserBody m={m} place={place} ownOnly /></article>), [t, version])
  const open = t.todos.filter((x) => x.status !== "completed" && x.status !== "cancelled").length
  return (
    <div class="chat">
      <List rows={rows} label="Messages" follow fromStart onStick={setAtEnd} control={list} />
      {!atEnd && <ToEnd go={() => list.current?.toEnd()} />}
      {t.status.type !== "idle" && <div class="dock"><div>{open > 0 && <Todos todos={t.todos} />}<div class="working"><Spinner /><span>Working…</span></div></div></div>}
    </div>
  )
}

void read().then(() => { if (session.value) feed.start() })
