// What a session is made of: texts, thoughts, calls of tools, files.
import type { ComponentChild, JSX } from "preact"
import { useEffect, useState } from "preact/hooks"
import { useCell, useWatch } from "./cell"
import { Code, CopyButton, Counts, Diff, Output } from "./code"
import { parseDiff } from "./diff"
import { languageOf } from "./highlight"
import { Markdown } from "./markdown"
import { memo } from "./memo"
import { href } from "./route"
import { close, type Opened, open } from "./store"
import { base, count, duration, inside, money, num, output, prose, str, visible } from "./text"
import type { MessageView, PartView } from "./transcript"
import type { Fault, Part, Todo, ToolState } from "./types"

export interface Place { directory: string; depth: number }

// isShown tells the parts that have something to show.
export function isShown(p: Part): boolean {
  switch (p.type) {
    case "text": return !p.ignored && (p.text !== "" || !p.time?.end) && !(p.synthetic && p.text === "")
    case "reasoning": case "tool": case "file": case "compaction": case "retry": case "subtask": case "agent": return true
    default: return false
  }
}

export const PartRow = memo((p: { view: PartView; user: boolean; place: Place }): JSX.Element | null => {
  useWatch(p.view.watchers)
  const part = p.view.part
  switch (part.type) {
    case "text":
      if (part.synthetic) return <Folded title="Added by lathe" class="synthetic"><Markdown text={p.view.text} /></Folded>
      return p.user ? <div class="said" dir="auto">{prose(p.view.text)}</div> : <Markdown text={p.view.text} />
    case "reasoning": return <Thought view={p.view} />
    case "tool": return <Tool part={part} place={p.place} />
    case "file": return <File part={part} />
    case "agent": return <span class="chip">@{visible(part.name ?? "")}</span>
    case "subtask": return <div class="note">Start {visible(part.agent ?? "an agent")}: {prose(part.description ?? "")}</div>
    case "compaction": return <div class="rule"><span>The history above was summarized{part.auto ? " automatically" : ""}</span></div>
    case "retry": return <div class="note bad">Attempt {part.attempt}: {faultText(part.error)}</div>
    default: return null
  }
})

function Folded(p: { title: ComponentChild; class?: string; children: ComponentChild; start?: boolean }): JSX.Element {
  const [on, setOn] = useState(!!p.start)
  return (
    <div class={"folded " + (p.class ?? "")}>
      <button type="button" class="fold" aria-expanded={on} onClick={() => setOn(!on)}>{p.title}</button>
      {on && <div class="fold-body">{p.children}</div>}
    </div>
  )
}

function Thought(p: { view: PartView }): JSX.Element | null {
  const { part, text } = p.view
  const over = !!part.time?.end
  if (over && text.trim() === "") return null
  const ms = num(part.time?.end) - num(part.time?.start), took = over && ms >= 1000 ? " for " + duration(ms) : ""
  return <Folded class="thought" title={over ? "Thought" + took : <><Spinner />Thinking…</>}><Markdown text={text} /></Folded>
}

export const Spinner = (): JSX.Element => <span class="spinner" aria-hidden="true" />

const isImage = (p: Part): boolean => /^image\/(png|jpeg|gif|webp|avif)$/.test(p.mime ?? "")

export function File(p: { part: Part }): JSX.Element {
  const url = p.part.url ?? "", name = visible(p.part.filename ?? p.part.source?.path ?? base(url.startsWith("data:") ? "file" : url))
  const [big, setBig] = useState(false)
  if (isImage(p.part) && url.startsWith("data:image/")) {
    return <button type="button" class={"picture" + (big ? " big" : "")} onClick={() => setBig(!big)} aria-label={(big ? "Make smaller: " : "Make larger: ") + name}><img src={url} alt={name} loading="lazy" /></button>
  }
  return <span class="chip" title={visible(url.slice(0, 300))}>📄 <bdi>{name}</bdi></span>
}

export function faultText(f: Fault | undefined): string {
  if (!f) return ""
  if (f.name === "MessageAbortedError") return "Stopped"
  return prose(str(f.data?.message) || f.name.replace(/Error$/, ""))
}

// Foot is the end of an answer: its error, or what it took.
export const Foot = memo((p: { view: MessageView; took: number }): JSX.Element | null => {
  useWatch(p.view.watchers)
  const m = p.view.info
  if (m.error) return <div class={"note " + (m.error.name === "MessageAbortedError" ? "" : "bad")} role={m.error.name === "MessageAbortedError" ? undefined : "alert"}>{faultText(m.error)}</div>
  const text = (): string => p.view.parts.filter((v) => v.part.type === "text").map((v) => v.text).join("\n\n")
  return (
    <div class="foot">
      <span>{visible(m.modelID ?? "")}{p.took > 0 && " · " + duration(p.took)}{num(m.cost) > 0 && " · " + money(num(m.cost))}</span>
      <CopyButton text={text} label="Copy answer" />
    </div>
  )
})

interface Look { icon: string; title: string; detail: string; open: boolean; body: (() => ComponentChild) | undefined; counts?: [number, number] }

export const Tool = memo((p: { part: Part; place: Place }): JSX.Element => {
  const s = p.part.state ?? { status: "pending" }, look = lookOf(p.part.tool ?? "", s, p.place)
  const [on, setOn] = useState<boolean | undefined>(undefined)
  const shown = on ?? (look.open || s.status === "error")
  const running = s.status === "running" || s.status === "pending"
  const words = { pending: "preparing", running: "running", completed: "done", error: "failed" }[s.status]
  const took = s.time?.end ? s.time.end - s.time.start : 0
  return (
    <div class={"tool " + s.status}>
      <button type="button" class="tool-head" aria-expanded={look.body ? shown : undefined} disabled={!look.body} onClick={() => setOn(!shown)}>
        <span class="tool-icon" aria-hidden="true">{running ? <Spinner /> : s.status === "error" ? "✕" : look.icon}</span>
        <span class="tool-title"><b>{look.title}</b> <bdi>{look.detail}</bdi></span>
        {look.counts && <Counts added={look.counts[0]} removed={look.counts[1]} />}
        {took > 2000 && <span class="took">{duration(took)}</span>}
        <span class="hidden-text">{words}</span>
      </button>
      {shown && look.body && <div class="tool-body">{look.body()}</div>}
      {s.status === "error" && <div class="tool-error" dir="auto">{output(s.error ?? "failed").slice(0, 4000)}</div>}
      {(s.attachments ?? []).map((a) => <File part={a} />)}
    </div>
  )
})

function lookOf(name: string, s: ToolState, place: Place): Look {
  const input = s.input ?? {}, meta = s.metadata ?? {}
  const file = visible(inside(str(input["filePath"]) || str(input["path"]) || str(meta["filepath"]), place.directory))
  const printed = s.output ?? str(meta["output"])
  const text = (tail?: number): (() => ComponentChild) | undefined => printed ? () => tail ? <Output text={output(printed)} tail={tail} /> : <Output text={output(printed)} /> : undefined
  const look = (icon: string, title: string, detail: string, body = text(), open = false): Look => ({ icon, title, detail, open, body })
  switch (name) {
    case "bash": case "shell": {
      const command = visible(str(input["command"]))
      const short = prose(str(input["description"])) || command.split("\n")[0]!
      return { ...look("$", "", short.slice(0, 300)), open: true, body: () => <><pre class="command" dir="ltr" tabIndex={0}>{command}</pre>{printed && <Output text={output(printed).replace(/\n+$/, "")} tail={s.status === "running" ? 12 : 8} />}</> }
    }
    case "edit": case "write": case "multiedit": case "patch": case "apply_patch": return edited(name, s, file)
    case "read": return look("→", "Read", file)
    case "list": return look("→", "List", file || ".")
    case "glob": return look("✱", "Find", visible(str(input["pattern"])))
    case "grep": return look("✱", "Search", visible(str(input["pattern"])))
    case "webfetch": return look("↓", "Fetch", visible(str(input["url"])))
    case "websearch": return look("◈", "Search the web", prose(str(input["query"])))
    case "todowrite": case "todoread": return { ...look("☰", "Todo list", ""), open: false, body: () => <Todos todos={(Array.isArray(input["todos"]) ? input["todos"] : []) as Todo[]} /> }
    case "question": return look("?", "Question", "")
    case "skill": return look("→", "Skill", visible(str(input["name"])))
    case "task": {
      const child = str(meta["sessionId"]) || str(meta["sessionID"])
      const title = prose(str(input["description"])) || "Sub-agent"
      return { ...look("↳", visible(str(input["subagent_type"])) || "Agent", title), body: () => child && place.depth < 3 ? <Child id={child} depth={place.depth + 1} /> : <Markdown text={printed} /> }
    }
    default: {
      const args = Object.keys(input).length > 0 ? JSON.stringify(input, null, 2) : ""
      return { ...look("⚙", visible(name), prose(str(s.title)).slice(0, 200)), body: () => <>{args && <Code code={args} language="json" />}{printed && <Output text={output(printed)} tail={20} />}</> }
    }
  }
}

function edited(name: string, s: ToolState, file: string): Look {
  const input = s.input ?? {}, meta = s.metadata ?? {}, patch = str(meta["diff"])
  const files = patch.length < 500_000 && patch ? parseDiff(patch, file) : []
  const counts: [number, number] = files.reduce((n, f) => [n[0] + f.added, n[1] + f.removed], [0, 0])
  const title = name === "write" ? "Write" : "Edit"
  const content = str(input["content"]) || str(input["newString"]) || str(input["patchText"])
  const detail = file || visible(files.map((f) => f.name).join(", ")).slice(0, 300)
  const body = patch ? (): ComponentChild => <Diff patch={patch} name={file} most={60} bare /> : content ? (): ComponentChild => <Code code={content} language={languageOf(file)} /> : undefined
  return { icon: "←", title, detail, open: patch !== "" && patch.length < 6000, body, ...(patch ? { counts } : {}) }
}

export function Todos(p: { todos: Todo[] }): JSX.Element {
  return (
    <ul class="todos">
      {p.todos.slice(0, 200).map((t) => (
        <li class={str(t.status)} dir="auto"><span class={"tick " + (t.status === "completed" ? "on" : t.status === "in_progress" ? "now" : "")} role="img" aria-label={str(t.status).replace("_", " ")} />{prose(str(t.content))}</li>
      ))}
    </ul>
  )
}

// Child is the session of a sub-agent inside the call that started it.
function Child(p: { id: string; depth: number }): JSX.Element {
  const [o, setOpened] = useState<Opened | undefined>(undefined)
  useEffect(() => {
    const mine = open(p.id)
    setOpened(mine)
    return () => close(mine)
  }, [p.id])
  return <div class="child">{o ? <ChildBody o={o} depth={p.depth} /> : <Spinner />}<a href={href(p.id)}>Open this agent's session</a></div>
}

function ChildBody(p: { o: Opened; depth: number }): JSX.Element {
  useCell(p.o.rows)
  const t = p.o.transcript, failure = useCell(p.o.failure)
  if (!t) return <p class="muted">{failure || "Loading…"}</p>
  const parts = t.messages.flatMap((m) => m.info.role === "assistant" ? m.parts.filter((v) => isShown(v.part)) : [])
  const place = { directory: t.session.directory, depth: p.depth }
  return (
    <>
      {parts.length > 12 && <p class="muted">{count(parts.length - 12)} earlier steps</p>}
      {parts.slice(-12).map((v) => <PartRow key={v.part.id} view={v} user={false} place={place} />)}
    </>
  )
}
