// Requests that wait for a person: permissions, with the exact command or change, and questions.
import type { ComponentChild, JSX } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { post } from "./api"
import { Code, Diff } from "./code"
import { focused } from "./focus"
import { Markdown } from "./markdown"
import { asks, asksOf, complain, may, say } from "./store"
import { useCell } from "./cell"
import { str, prose, visible } from "./text"
import type { Ask, Permission, Question, Questions } from "./types"

export function Asks(p: { session: string }): JSX.Element | null {
  useCell(asks)
  const all = asksOf(p.session)
  const first = all[0]
  if (!first) return null
  return (
    <section class="ask" aria-label="Waiting for you" role="region">
      {all.length > 1 && <div class="ask-more">{all.length} requests wait</div>}
      {first.kind === "permission" ? <Permit key={first.id} ask={first} p={first.permission} session={p.session} /> : <Ask_ key={first.id} ask={first} q={first.question} session={p.session} />}
    </section>
  )
}

// title says in a line what is asked, in the words of the terminal UI.
export function askTitle(p: Permission): string {
  const m = p.metadata ?? {}, patterns = visible(p.patterns.join(", ")), file = visible(str(m["filepath"])) || patterns
  switch (p.permission) {
    case "edit": return "Change " + file
    case "read": case "list": return "Read " + patterns
    case "glob": return "Find files matching " + (visible(str(m["pattern"])) || patterns)
    case "grep": return "Search files for " + (visible(str(m["pattern"])) || patterns)
    case "bash": return m["sandbox"] === "off" ? "Run a command without a sandbox" : "Run a command"
    case "sandbox": return m["filepath"] && !m["command"] ? (m["diff"] ? "Change a protected file: " : "Read a secret: ") + file : "Run a command outside the sandbox"
    case "task": return "Start the agent " + (visible(str(m["subagent_type"])) || patterns)
    case "webfetch": return "Fetch a page"
    case "websearch": return "Search the web"
    case "external_directory": return "Access files outside the project"
    case "doom_loop": return "Repeat the same call: " + (visible(str(m["tool"])) || patterns)
    case "skill": return "Load the skill " + patterns
    default: return "Use " + visible(p.permission)
  }
}

function detail(p: Permission): ComponentChild {
  const m = p.metadata ?? {}, out: ComponentChild[] = []
  if (str(m["reason"])) out.push(<p dir="auto">{prose(str(m["reason"]))}</p>)
  if (str(m["command"])) out.push(<Code code={str(m["command"])} language="sh" />)
  if (str(m["diff"])) out.push(<Diff patch={str(m["diff"])} name={str(m["filepath"])} most={200} />)
  for (const key of ["url", "query", "description", "operation", "parentDir", "uri", "server"]) if (str(m[key])) out.push(<p class="path"><bdi>{visible(str(m[key]))}</bdi></p>)
  if (m["input"] !== undefined && m["input"] !== null) out.push(<Code code={JSON.stringify(m["input"], null, 2)} language="json" />)
  if (!str(m["command"]) && !str(m["diff"]) || p.permission === "external_directory") out.push(<ul class="patterns">{p.patterns.map((x) => <li><code>{visible(x)}</code></li>)}</ul>)
  return out
}

function settle(ask: Ask, work: Promise<unknown>, done: () => void): void {
  work.then(() => { asks.value.delete(ask.id); asks.touch() }, (e: unknown) => {
    if (e instanceof Error && /not found/i.test(e.message)) { asks.value.delete(ask.id); asks.touch(); say("This request was already answered.") }
    else complain(e)
  }).finally(done)
}

// useReady is false while a request has just appeared: the second tap of a double tap on the one before, or a tap on what
// was there, must not answer what nobody has read.
function useReady(): boolean {
  const [ready, setReady] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), 500)
    return () => clearTimeout(timer)
  }, [])
  return ready
}

function Permit(p: { ask: Ask; p: Permission; session: string }): JSX.Element {
  const [sent, setBusy] = useState(false), [saying, setSaying] = useState(false), [why, setWhy] = useState("")
  const ready = useReady(), busy = sent || !ready
  const box = useRef<HTMLDivElement>(null)
  const reply = (r: "once" | "reject", message = ""): void => {
    setBusy(true)
    settle(p.ask, post(`/permission/${p.p.id}/reply`, message ? { reply: r, message } : { reply: r }), () => setBusy(false))
  }
  const grant = (scope: "session" | "project"): void => {
    setBusy(true)
    settle(p.ask, post(`/lathe/permission/${p.p.id}/grant`, { scope }), () => setBusy(false))
  }
  useShortcut(box, busy || !may("answer") ? {} : { y: () => reply("once"), n: () => setSaying(true) })
  const back = (): void => { setSaying(false); box.current!.focus() }
  const always = p.p.always ?? []
  const full = may("full") && always.length > 0
  return (
    <div ref={box} tabIndex={-1} class="ask-box">
      <h2>{askTitle(p.p)}</h2>
      {p.ask.session !== p.session && <p class="muted">Asked by a sub-agent</p>}
      <div class="ask-body">{detail(p.p)}</div>
      {full && <p class="muted small-text">“This session” and “Always” cover: {always.slice(0, 6).map((a) => <><code>{visible(a)}</code> </>)}{always.length > 6 && `and ${always.length - 6} more`}</p>}
      {saying
        ? <form class="ask-say" onSubmit={(e) => { e.preventDefault(); reply("reject", why.trim()) }} onKeyDown={(e) => { if (e.key === "Escape") { e.stopPropagation(); back() } }}>
            <label>What should the model do instead? <input value={why} onInput={(e) => setWhy(e.currentTarget.value)} ref={focused} placeholder="Optional" dir="auto" /></label>
            <div class="buttons"><button type="submit" class="danger" disabled={busy}>Reject</button><button type="button" onClick={back}>Back</button></div>
          </form>
        : may("answer")
          ? <div class="buttons">
              <button type="button" class="primary" disabled={busy} onClick={() => reply("once")}>Allow once</button>
              {full && <button type="button" disabled={busy} onClick={() => grant("session")}>This session</button>}
              {full && <button type="button" disabled={busy} onClick={() => grant("project")}>Always</button>}
              <button type="button" class="danger" disabled={busy} onClick={() => setSaying(true)}>Reject…</button>
            </div>
          : <p class="muted">This device may only read. Answer on another one.</p>}
    </div>
  )
}

// useShortcut answers to keys while the focus is in the box.
function useShortcut(box: { current: HTMLElement | null }, keys: Record<string, () => void>): void {
  useLayoutEffect(() => {
    const f = (e: KeyboardEvent): void => {
      const t = e.target as HTMLElement
      if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName) || !box.current?.contains(t)) return
      const go = keys[e.key]
      if (go) { e.preventDefault(); go() }
    }
    addEventListener("keydown", f)
    return () => removeEventListener("keydown", f)
  })
}

function Ask_(p: { ask: Ask; q: Questions; session: string }): JSX.Element {
  const list = p.q.questions
  const [picked, setPicked] = useState<string[][]>(list.map(() => []))
  const [own, setOwn] = useState<string[]>(list.map(() => ""))
  const [sent, setBusy] = useState(false), settled = useReady(), busy = sent || !settled
  const answers = (): string[][] => list.map((q, i) => {
    const words = own[i]!.trim()
    return words ? (q.multiple ? [...picked[i]!, words] : [words]) : picked[i]!
  })
  const ready = answers().every((a) => a.length > 0)
  const done = (): void => setBusy(false)
  const submit = (e: Event): void => {
    e.preventDefault()
    if (!ready) return
    setBusy(true)
    settle(p.ask, post(`/question/${p.q.id}/reply`, { answers: answers() }), done)
  }
  return (
    <form class="ask-box" tabIndex={-1} onSubmit={submit}>
      <div class="ask-body">
        {list.map((q, i) => <One q={q} i={i} picked={picked[i]!} own={own[i]!}
          pick={(v) => setPicked(picked.map((o, n) => n === i ? v : o))} write={(v) => setOwn(own.map((o, n) => n === i ? v : o))} />)}
      </div>
      {may("answer")
        ? <div class="buttons">
            <button type="submit" class="primary" disabled={busy || !ready}>Answer</button>
            <button type="button" disabled={busy} onClick={() => { setBusy(true); settle(p.ask, post(`/question/${p.q.id}/reject`), done) }}>Skip</button>
          </div>
        : <p class="muted">This device may only read. Answer on another one.</p>}
    </form>
  )
}

function One(p: { q: Question; i: number; picked: string[]; own: string; pick: (v: string[]) => void; write: (v: string) => void }): JSX.Element {
  const toggle = (label: string): void => {
    const has = p.picked.includes(label)
    p.pick(p.q.multiple ? (has ? p.picked.filter((x) => x !== label) : [...p.picked, label]) : [label])
    if (!p.q.multiple) p.write("")
  }
  return (
    <fieldset>
      <legend><Markdown text={p.q.question} /></legend>
      {p.q.options.map((o) => (
        <label class="option">
          <input type={p.q.multiple ? "checkbox" : "radio"} name={"q" + p.i} checked={p.picked.includes(o.label)} onChange={() => toggle(o.label)} />
          <span><b dir="auto">{prose(o.label)}</b>{o.description && <small dir="auto">{prose(o.description)}</small>}</span>
        </label>
      ))}
      {p.q.custom !== false && <label class="own">Another answer <input value={p.own} dir="auto" onInput={(e) => { p.write(e.currentTarget.value); if (!p.q.multiple && e.currentTarget.value) p.pick([]) }} /></label>}
    </fieldset>
  )
}
