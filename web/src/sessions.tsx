// All sessions: those that wait for you, those that run, then the recent ones.
import type { JSX } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { at, get, post } from "./api"
import { useCell } from "./cell"
import { Composer, load, store } from "./composer"
import { Svg } from "./icon"
import { memo } from "./memo"
import { go, href, route } from "./route"
import { board, boardStates, complain, may } from "./store"
import { ago, base, money, prose, titleOf, visible } from "./text"
import type { BoardEntry, Session } from "./types"

interface Hit { sessionID: string; title: string; directory: string; messageID: string; place: string; time: number; snippet: { text: string; match?: boolean }[] }
interface Search { hits: Hit[]; indexed: number; failure?: string }

const groups: [string, (e: BoardEntry) => boolean][] = [
  ["Needs you", (e) => e.state === "needs you" || (e.asks ?? 0) > 0],
  ["Running", (e) => e.state === "running" || e.state === "queued"],
  ["Recent", () => true],
]

export function Sessions(p: { current: string }): JSX.Element {
  const list = useCell(board)
  const [query, setQuery] = useState(""), [found, setFound] = useState<Search | undefined>(undefined), [more, setMore] = useState(60)
  useEffect(() => {
    if (query.trim() === "") { setFound(undefined); return }
    const stop = new AbortController()
    const look = (): void => {
      get<Search>("/lathe/search?typing=true&limit=30&q=" + encodeURIComponent(query.trim()), stop.signal).then((r) => {
        setFound(r)
        if (r.indexed < 1) timer = setTimeout(look, 1000)
      }, (e: Error) => { if (!stop.signal.aborted) setFound({ hits: [], indexed: 1, failure: e.message }) })
    }
    let timer = setTimeout(look, 200)
    return () => { clearTimeout(timer); stop.abort() }
  }, [query])
  const parts = useMemo(() => grouped(list ?? [], query), [list, query]), hits = found?.hits
  return (
    <div class="sessions">
      <header class="bar">
        <a class="brand" href="#/"><img src="/icon.svg" width="24" height="24" alt="" /><b>lathe</b></a>
        <span class="grow" />
        {may("full") && <a class="button primary small" href={"#/new"}>New</a>}
        <a class="icon" href="#/usage" aria-label="Usage" title="Usage"><Svg d="M5 20V10M12 20V4M19 20v-7" /></a>
        <a class="icon" href="#/settings" aria-label="Settings" title="Settings"><Svg d="M4 7h10M18 7h2M4 17h2M10 17h10M16 4.500v5M8 14.500v5" /></a>
      </header>
      <div class="search"><label class="hidden-text" for="search">Search sessions</label>
        <input id="search" type="search" placeholder="Search all sessions" value={query} dir="auto" onInput={(e) => setQuery(e.currentTarget.value)} /></div>
      <nav class="entries" aria-label="Sessions">
        {!list && <Skeleton />}
        {parts.map(([name, all]) => all.length > 0 && (
          <section aria-label={name}>
            <h2>{name}{name !== "Recent" && <span class="badge">{all.length}</span>}</h2>
            <ul>{all.slice(0, more).map((e) => <Entry key={e.id} e={e} current={e.id === p.current} />)}</ul>
            {all.length > more && <button type="button" class="more" onClick={() => setMore(more + 100)}>Show {all.length - more} more</button>}
          </section>
        ))}
        {hits && hits.length > 0 && <section aria-label="Found in messages"><h2>In messages</h2><ul>{hits.map((h) => <Found h={h} />)}</ul></section>}
        {query && hits?.length === 0 && parts.every(([, all]) => all.length === 0) && <p class="empty">{found?.failure || "Nothing found."}</p>}
        {found && found.indexed < 1 && <p class="empty" role="status">Older sessions are being indexed: {Math.floor(found.indexed * 100)}%</p>}
        {list && list.length === 0 && !query && <div class="empty"><p>No sessions yet.</p>{may("full") && <p><a class="button primary" href="#/new">Start one</a></p>}</div>}
      </nav>
    </div>
  )
}

function grouped(list: BoardEntry[], query: string): [string, BoardEntry[]][] {
  const q = query.trim().toLowerCase()
  let rest = list.filter((e) => q === "" || (e.title + " " + e.directory).toLowerCase().includes(q))
  rest.sort((a, b) => b.updated - a.updated)
  return groups.map(([name, test]) => {
    const mine = rest.filter(test)
    rest = rest.filter((e) => !test(e))
    return [name, mine]
  })
}

const state = (e: BoardEntry): string => (e.asks ?? 0) > 0 ? "needs you" : boardStates.includes(e.state) ? e.state : "done"

const Entry = memo((p: { e: BoardEntry; current: boolean }): JSX.Element => {
  const e = p.e, s = state(e)
  return (
    <li>
      <a class={"entry" + (p.current ? " on" : "")} href={href(e.id)} aria-current={p.current ? "page" : undefined}>
        <span class={"dot " + s.replace(" ", "-")} aria-hidden="true" />
        <span class="entry-body">
          <span class="entry-top"><span class="entry-title" dir="auto">{titleOf(e.title)}</span><time>{ago(e.updated)}</time></span>
          {e.last && <span class="entry-last" dir="auto">{prose(e.last).slice(0, 200)}</span>}
          <span class="entry-meta"><span class={"state " + s.replace(" ", "-")}>{s === "done" ? "" : s}</span><bdi>{visible(base(e.directory))}</bdi>{e.branch && <bdi>{visible(e.branch)}</bdi>}{e.cost > 0 && <span>{money(e.cost)}</span>}</span>
        </span>
      </a>
    </li>
  )
})

const Found = (p: { h: Hit }): JSX.Element => (
  <li><a class="entry" href={href(p.h.sessionID) + `?m=${p.h.messageID}&t=${p.h.time}`}><span class="entry-body">
    <span class="entry-top"><span class="entry-title" dir="auto">{titleOf(p.h.title)}</span><time>{ago(p.h.time)}</time></span>
    <span class="entry-last two" dir="auto">{p.h.snippet.map((t) => t.match ? <mark>{prose(t.text)}</mark> : prose(t.text))}</span>
    <span class="entry-meta"><span>{p.h.place}</span><bdi>{visible(base(p.h.directory))}</bdi></span>
  </span></a></li>
)

const Skeleton = (): JSX.Element => <ul aria-hidden="true">{[1, 2, 3, 4, 5].map(() => <li class="entry skeleton"><span /><span /></li>)}</ul>

// NewSession is where a session begins: a project and the first prompt.
// Limited stands where a device has not all rights.
export const Limited = (): JSX.Element => <p class="muted center">This device may {may("answer") ? "answer requests" : "only read"}.</p>

export function NewSession(): JSX.Element {
  const list = useCell(board), r = useCell(route)
  const [dir, setDir] = useState(r.query.get("dir") ?? load("directory")), [projects, setProjects] = useState<string[]>([])
  const own = useRef<HTMLInputElement>(null), made = useRef<Session | undefined>(undefined)
  const allowed = may("full")
  useEffect(() => {
    if (allowed) Promise.all([get<{ worktree: string }[]>("/project"), get<{ directory: string }>("/path")]).then(([all, here]) => {
      setProjects([here.directory, ...all.map((x) => x.worktree).filter((w) => w !== "/" && w !== "")])
      setDir((d) => d || here.directory)
    }, complain)
  }, [allowed])
  const create = async (): Promise<Session> => { // a prompt that was not sent keeps its session for the next attempt
    if (made.current?.directory !== dir) made.current = await post<Session>(at("/session", dir), {})
    return made.current
  }
  const dirs = [...new Set([...projects, ...(list ?? []).map((e) => e.directory)])].slice(0, 50)
  const choose = (d: string): void => { setDir(d); store("directory", d) }
  const other = (): void => { const d = own.current?.value.trim(); if (d) choose(d) }
  return (
    <main class="screen" id="main">
      <header class="bar"><a class="icon back" href="#/" aria-label="All sessions"><Svg d="M15 5l-7 7 7 7" /></a><h1>{allowed ? "New session" : "lathe"}</h1></header>
      {!allowed ? <Limited /> : <div class="welcome">
        <h2>What should be done?</h2>
        <div class="where"><label for="dir">Project</label>
          <select id="dir" value={dir} onChange={(e) => choose(e.currentTarget.value)}>
            {!dirs.includes(dir) && dir && <option value={dir}>{visible(dir)}</option>}
            {dirs.map((d) => <option value={d}>{visible(d)}</option>)}
          </select>
          <details><summary>Another directory</summary><span class="row-of"><input ref={own} placeholder="/path/on/the/server" aria-label="Directory on the server" dir="ltr" /><button type="button" onClick={other}>Use</button></span></details>
        </div>
        {dir && <Composer draft="draft:new" directory={dir} busy={false} focus create={create} sent={(id) => go(href(id))} />}
      </div>}
    </main>
  )
}
