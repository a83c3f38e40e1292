// Where prompts are written. The text is kept in this browser until the server has stored the prompt, so that neither a
// reload nor a server that restarts loses it.
import type { JSX } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { ApiError, at, get, lathePath, newID, post, send, sessionPath } from "./api"
import { Svg } from "./icon"
import { keep, load } from "./kept"
import { abort, complain, say } from "./store"
import { bytes, visible } from "./text"
import type { Model, Session } from "./types"

interface Attached { name: string; mime: string; url: string; size: number }
interface AgentInfo { name: string; mode: string; hidden?: boolean; description?: string; variant?: string }
interface CommandInfo { name: string; description?: string; hints?: string[] }
interface Offer { text: string; hint: string; take: string }

const most = 20 << 20 // bytes of all files of a prompt

export { load }
export function store(key: string, text: string): void { if (!keep(key, text)) full() }
let told = false
function full(): void {
  if (!told) say("This browser has no room left, so the text is not kept across a reload.", true)
  told = true
}

export interface Choices { agents: AgentInfo[]; models: { id: string; provider: string; name: string; variants: string[] }[]; commands: CommandInfo[] }
const known = new Map<string, Promise<Choices>>()

export function choices(dir: string): Promise<Choices> {
  let p = known.get(dir)
  if (!p) {
    p = (async () => {
      const [agents, providers, commands] = await Promise.all([
        get<AgentInfo[]>(at("/agent", dir)),
        get<{ providers: { id: string; models: Record<string, { name?: string; variants?: Record<string, unknown> }> }[] }>(at("/config/providers", dir)),
        get<CommandInfo[]>(at("/command", dir)).catch(() => []),
      ])
      const models = providers.providers.flatMap((p) => Object.entries(p.models).map(([id, m]) => ({ id, provider: p.id, name: m.name ?? id, variants: Object.keys(m.variants ?? {}) })))
      return { agents: agents.filter((a) => !a.hidden && a.mode !== "subagent"), models, commands }
    })()
    known.set(dir, p)
    p.catch(() => known.delete(dir))
    setTimeout(() => known.delete(dir), 60_000)
  }
  return p
}

export interface ComposerProps {
  draft: string // key of the text that is kept
  directory: string
  session?: Session | undefined
  busy: boolean
  create?: () => Promise<Session> // makes the session of the first prompt
  sent?: (id: string) => void
  focus?: boolean
}

// typeOf is the type of a file as models know it. Browsers take TypeScript for a video, and scripts for applications.
async function typeOf(f: File): Promise<string> {
  if (/^(image\/(?!svg)|audio\/|video\/(?!mp2t)|application\/pdf)/.test(f.type)) return f.type
  const begin = new Uint8Array(await f.slice(0, 8000).arrayBuffer())
  return begin.includes(0) ? f.type || "application/octet-stream" : "text/plain"
}

export function Composer(p: ComposerProps): JSX.Element {
  const [text, setText] = useState(() => load(p.draft))
  const [files, setFiles] = useState<Attached[]>([])
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState("")
  const [all, setAll] = useState<Choices | undefined>(undefined)
  const [agent, setAgent] = useState(""), [model, setModel] = useState(""), [variant, setVariant] = useState("")
  const [queue, setQueue] = useState(false), [over, setOver] = useState(false)
  const [offers, setOffers] = useState<Offer[]>([]), [chosen, setChosen] = useState(0)
  const area = useRef<HTMLTextAreaElement>(null), pick = useRef<HTMLInputElement>(null), camera = useRef<HTMLInputElement>(null)
  const taken = useRef(new Set<string>()) // files from the list: their names may have spaces
  const id = useRef("") // of the message, the same for each attempt to send a text

  useEffect(() => { setText(load(p.draft)); setFiles([]); setFailed(""); id.current = "" }, [p.draft])
  useEffect(() => {
    const again = (): void => setText(load(p.draft)) // an undone prompt comes back here
    addEventListener("lathe-draft", again)
    return () => removeEventListener("lathe-draft", again)
  }, [p.draft])
  useEffect(() => { if (p.focus) area.current!.focus() }, [])
  useEffect(() => { let on = true; choices(p.directory).then((c) => { if (on) setAll(c) }, () => {}); return () => { on = false } }, [p.directory])
  useEffect(() => {
    const s = p.session
    setAgent(s?.agent ?? ""); setModel(s?.model ? s.model.providerID + "/" + s.model.id : ""); setVariant(s?.model?.variant && s.model.variant !== "default" ? s.model.variant : "")
  }, [p.session?.id, p.session?.agent, p.session?.model?.id])
  useLayoutEffect(() => {
    const a = area.current!
    a.style.height = "0"
    a.style.height = Math.min(a.scrollHeight, innerHeight * 0.4) + "px"
  }, [text])

  const write = (t: string): void => { setText(t); store(p.draft, t); setFailed(""); id.current = ""; void suggest(t) }

  const suggest = async (t: string): Promise<void> => {
    const end = area.current?.selectionStart ?? t.length
    const word = /(?:^|\s)([@/][^\s]*)$/.exec(t.slice(0, end))?.[1]
    if (!word || word[0] === "/" && t.trimStart() !== t.slice(0, end).trimStart().slice(0, word.length) + t.slice(end)) { setOffers([]); return }
    setChosen(0)
    if (word[0] === "/") {
      const c = all?.commands ?? []
      setOffers(c.filter((x) => x.name.startsWith(word.slice(1))).slice(0, 8).map((x) => ({ text: "/" + x.name, hint: x.description ?? "", take: "/" + x.name + " " })))
      return
    }
    try {
      const found = await get<string[]>(at("/find/file?limit=8&query=" + encodeURIComponent(word.slice(1)), p.directory))
      if (area.current?.value === t) setOffers(found.map((f) => ({ text: f, hint: "", take: "@" + f + " " })))
    } catch { setOffers([]) }
  }
  const take = (o: Offer): void => {
    const a = area.current!, end = a.selectionStart
    const start = Math.max(0, text.slice(0, end).search(/[@/][^\s]*$/))
    const next = text.slice(0, start) + o.take + text.slice(end)
    if (o.take[0] === "@") taken.current.add(o.text)
    a.value = next // at once, so that what is typed next comes after it
    a.focus()
    a.setSelectionRange(start + o.take.length, start + o.take.length)
    write(next)
    setOffers([])
  }

  const add = (list: Iterable<File>): void => {
    let size = files.reduce((n, x) => n + x.size, 0)
    for (const f of list) {
      if (size + f.size > most) { say(`${f.name} is too large: files of a prompt may have ${bytes(most)} together.`, true); continue }
      size += f.size
      const r = new FileReader()
      r.onload = () => { void typeOf(f).then((mime) => setFiles((old) => [...old, { name: f.name || "image.png", mime, url: String(r.result), size: f.size }])) }
      r.onerror = () => say(`${f.name} cannot be read.`, true)
      r.readAsDataURL(f)
    }
  }

  // named are the files and folders of the project that the text names. An @ is in other words, too.
  const named = async (): Promise<string[]> => {
    const words = [...text.matchAll(/(?:^|\s)@(\S*[^\s.,;:!?)])/g)].map((m) => m[1]!)
    const found = await Promise.all([...new Set(words)].slice(0, 20).map(async (w) => {
      const all = await get<string[]>(at("/find/file?limit=20&query=" + encodeURIComponent(w), p.directory)).catch(() => [])
      return all.find((f) => f === w || f === w + "/") ?? ""
    }))
    return [...new Set([...taken.current].filter((f) => text.includes("@" + f)).concat(found))].filter(Boolean)
  }

  const parts = async (): Promise<unknown[]> => [
    { type: "text", text },
    ...(await named()).map((f) => ({ type: "file", mime: f.endsWith("/") ? "application/x-directory" : "text/plain", filename: f, url: "file://" + (p.directory + "/" + f).split("/").map(encodeURIComponent).join("/") })),
    ...files.map((f) => ({ type: "file", mime: f.mime, filename: f.name, url: f.url })),
  ]

  const submit = async (): Promise<void> => {
    if (busy || text.trim() === "" && files.length === 0) return
    setBusy(true)
    setFailed("")
    try {
      const session = p.session ?? await p.create!()
      await deliver(session)
      const now = area.current?.value ?? text // with what was typed since
      write(now.startsWith(text) ? now.slice(text.length) : now); setFiles([])
      p.sent?.(session.id)
    } catch (e) {
      setFailed(e instanceof ApiError ? e.message : String(e))
    } finally { setBusy(false) }
  }
  const deliver = async (s: Session): Promise<void> => {
    const [provider, ...rest] = model.split("/")
    const ref: Model | undefined = provider && rest.length > 0 ? { providerID: provider, modelID: rest.join("/") } : undefined
    const common = { ...(agent ? { agent } : {}), ...(variant ? { variant } : {}) }
    const messageID = id.current ||= newID("msg")
    const slash = /^\/([\w:./-]+)(?:\s+([\s\S]*))?$/.exec(text.trim())
    if (slash && all?.commands.some((c) => c.name === slash[1])) {
      return stored(s, messageID, post(sessionPath(s.id, "/command"), { messageID, command: slash[1], arguments: slash[2] ?? "", ...common, ...(ref ? { model } : {}), ...(files.length ? { parts: files.map((f) => ({ type: "file", mime: f.mime, filename: f.name, url: f.url })) } : {}) }))
    }
    if (text.startsWith("!")) {
      return stored(s, messageID, post(sessionPath(s.id, "/shell"), { messageID, command: text.slice(1).trim(), agent: agent || "build", ...(ref ? { model: ref } : {}) }))
    }
    const body = { messageID, parts: await parts(), ...common, ...(ref ? { model: ref } : {}), ...(queue && p.busy ? { delivery: "queue" } : {}) }
    return stored(s, messageID, post(lathePath(s.id, "/prompt"), body))
  }
  // stored waits until the server has the message. Requests for commands end only with the turn, and the answer of any may be
  // lost although the message was stored.
  const stored = async (s: Session, messageID: string, work: Promise<unknown>): Promise<void> => {
    const message = sessionPath(s.id, "/message/" + messageID), there = (): Promise<boolean> => send("HEAD", message).then(() => true, () => false)
    let over = false
    const end = work.then(() => true, async (e: unknown) => {
      if (over) complain(e)
      else if (!(e instanceof ApiError) || e.status !== 0 && e.status !== 409 || !await there()) throw e
      return true
    })
    while (!over) over = await Promise.race([end, new Promise<void>((done) => { setTimeout(done, 250) }).then(there)])
  }

  const onKey = (e: KeyboardEvent): void => {
    if (offers.length > 0) {
      const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0
      if (step) { e.preventDefault(); setChosen((chosen + step + offers.length) % offers.length); return }
      if (e.key === "Enter" || e.key === "Tab") { e.preventDefault(); take(offers[chosen]!); return }
      if (e.key === "Escape") { e.preventDefault(); e.stopPropagation(); setOffers([]); return }
    }
    const phone = matchMedia("(pointer: coarse)").matches // there a key makes a line, and the button sends
    if (e.key === "Enter" && !e.isComposing && !e.shiftKey && (!phone || e.ctrlKey || e.metaKey)) { e.preventDefault(); void submit() }
  }
  const drop = (e: DragEvent): void => {
    e.preventDefault()
    setOver(false)
    add(e.dataTransfer?.files ?? [])
  }
  const paste = (e: ClipboardEvent): void => {
    if (e.clipboardData && e.clipboardData.files.length > 0) { e.preventDefault(); add(e.clipboardData.files) }
  }
  const chosenModel = all?.models.find((m) => m.provider + "/" + m.id === model)
  const variants = chosenModel?.variants ?? []
  return (
    <form class={"composer" + (over ? " over" : "")} onSubmit={(e) => { e.preventDefault(); void submit() }} onDragOver={(e) => { e.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)} onDrop={drop}>
      {failed && <div class="note bad" role="alert">Not sent: {failed.replace(/\.?$/, ".")} Your text is kept. <button type="button" class="ghost small" onClick={() => void submit()}>Try again</button></div>}
      {offers.length > 0 && (
        <ul class="offers" role="listbox" id="offers" aria-label="Suggestions">
          {offers.map((o, i) => <li id={"offer" + i} role="option" aria-selected={i === chosen} onMouseDown={(e) => { e.preventDefault(); take(o) }}><bdi>{visible(o.text)}</bdi> <small>{visible(o.hint)}</small></li>)}
        </ul>
      )}
      {files.length > 0 && (
        <ul class="files">
          {files.map((f, i) => <li class="chip">{f.mime.startsWith("image/") && <img src={f.url} alt="" />}<bdi>{visible(f.name)}</bdi> <small>{bytes(f.size)}</small>
            <button type="button" class="ghost small" aria-label={"Remove " + visible(f.name)} onClick={() => setFiles(files.filter((_, n) => n !== i))}>✕</button></li>)}
        </ul>
      )}
      <label class="hidden-text" for="prompt">Prompt</label>
      <textarea id="prompt" ref={area} rows={1} dir="auto" value={text} enterkeyhint="enter" placeholder={p.busy ? "Steer the running turn…" : "Describe a task…"}
        aria-autocomplete="list" aria-controls={offers.length > 0 ? "offers" : undefined} aria-activedescendant={offers.length > 0 ? "offer" + chosen : undefined}
        onInput={(e) => write(e.currentTarget.value)} onKeyDown={onKey} onPaste={paste} onBlur={() => setOffers([])} />
      <div class="composer-bar">
        <input ref={pick} type="file" multiple hidden onChange={(e) => { add(e.currentTarget.files ?? []); e.currentTarget.value = "" }} />
        <input ref={camera} type="file" accept="image/*" capture="environment" hidden onChange={(e) => { add(e.currentTarget.files ?? []); e.currentTarget.value = "" }} />
        <button type="button" class="icon" aria-label="Attach files" title="Attach files; @ in the text names one of the project" onClick={() => pick.current!.click()}><Clip /></button>
        <button type="button" class="icon touch-only" aria-label="Take a picture" title="Take a picture" onClick={() => camera.current!.click()}><Camera /></button>
        <Pick label="Agent" value={agent} set={setAgent} options={(all?.agents ?? []).map((a) => [a.name, a.name])} none="agent" />
        <Pick label="Model" value={model} set={(m) => { setModel(m); setVariant("") }} options={(all?.models ?? []).map((m) => [m.provider + "/" + m.id, m.name])} none="model" />
        {variants.length > 0 && <Pick label="Reasoning" value={variant} set={setVariant} options={variants.map((v) => [v, v])} none="reasoning" />}
        <span class="grow" />
        {p.busy && <Pick label="Delivery" value={queue ? "queue" : ""} set={(v) => setQueue(v === "queue")} options={[["queue", "Queue"]]} none="Steer" />}
        {p.busy && p.session && <button type="button" class="icon stop" aria-label="Stop" title="Stop (Esc twice)" onClick={() => void abort(p.session!.id).catch(complain)}><i /></button>}
        <button type="submit" class="send" aria-label="Send" title="Send (Enter)" disabled={busy || text.trim() === "" && files.length === 0}><Arrow /></button>
      </div>
    </form>
  )
}

function Pick(p: { label: string; value: string; set: (v: string) => void; options: [string, string][]; none: string }): JSX.Element | null {
  if (p.options.length === 0) return null
  const known = p.value === "" || p.options.some((o) => o[0] === p.value)
  return (
    <select class="pick" aria-label={p.label} title={p.label} value={p.value} onChange={(e) => p.set(e.currentTarget.value)}>
      <option value="">{p.none}</option>
      {!known && <option value={p.value}>{visible(p.value)}</option>}
      {p.options.map(([v, t]) => <option value={v}>{visible(t)}</option>)}
    </select>
  )
}

const Clip = (): JSX.Element => <Svg d="M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.4 3.4 0 0 1 5 5l-8.500 8.500a1.700 1.700 0 0 1-2.500-2.500L15 7" />
const Camera = (): JSX.Element => <Svg d="M4 8h3l2-3h6l2 3h3v11H4zM12 17a4 4 0 1 0 0-8 4 4 0 0 0 0 8z" />
const Arrow = (): JSX.Element => <Svg d="M12 20V4M5 11l7-7 7 7" />
