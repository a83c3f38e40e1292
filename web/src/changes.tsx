// What a session changed: files with their differences, and the steps, to which it can be rewound.
import type { JSX } from "preact"
import { useEffect, useState } from "preact/hooks"
import { at, get, lathePath, post, sessionPath } from "./api"
import { useCell, useMedia } from "./cell"
import { Counts, Diff } from "./code"
import { load, store } from "./composer"
import { Spinner } from "./parts"
import { complain, may, type Opened, say } from "./store"
import { ago, base, count, inside, money, prose, visible } from "./text"
import type { Transcript } from "./transcript"
import type { FileDiff } from "./types"

interface Step { step: number; kind: string; created: number; prompt?: string; text?: string; files: string[]; commands: unknown[]; tools: string[]; cost: number; tokens: number; undone?: boolean }
interface Steps { total: number; at: number; steps: Step[]; rewoundFiles: number }
interface Moved { files: { file: string; action: string; conflict?: string }[] }

const sources = [["session", "This session"], ["git", "Uncommitted"], ["branch", "This branch"], ["steps", "Steps"]] as const
type Source = typeof sources[number][0]

export function Changes(p: { o: Opened; t: Transcript }): JSX.Element {
  useCell(p.o.info)
  const s = p.t.session, idle = p.t.status.type === "idle"
  const [source, setSource] = useState<Source>("session")
  const [wanted, setSplit] = useState(load("split") === "on"), narrow = useMedia("(max-width: 640px)"), split = wanted && !narrow
  const [diffs, setDiffs] = useState<FileDiff[] | undefined>(undefined), [failed, setFailed] = useState("")
  const [again, setAgain] = useState(0)
  useEffect(() => {
    if (source === "steps") return
    let on = true
    setFailed("")
    const path = source === "session" ? sessionPath(s.id, "/diff") : at("/vcs/diff?context=3&mode=" + source, s.directory)
    get<FileDiff[]>(path).then((d) => { if (on) setDiffs(d) }, (e: unknown) => { if (on) { setDiffs([]); setFailed(e instanceof Error ? e.message : "") } })
    return () => { on = false }
  }, [source, s.id, s.time.updated, idle, again, p.t.diff])
  const move = (path: "undo" | "redo") => (): void => {
    post<Moved>(lathePath(s.id, "/" + path), {}).then((m) => { told(m, path === "undo" ? "Undone" : "Redone"); setAgain(again + 1) }, complain)
  }
  return (
    <div class="changes">
      <div class="tools">
        <div class="segments" role="group" aria-label="Source">
          {sources.map(([id, name]) => <button type="button" aria-pressed={source === id} onClick={() => { setDiffs(undefined); setSource(id) }}>{name}</button>)}
        </div>
        <span class="grow" />
        <label class="wide-only check"><input type="checkbox" checked={split} onChange={(e) => { setSplit(e.currentTarget.checked); store("split", e.currentTarget.checked ? "on" : "") }} /> Side by side</label>
        {may("full") && <>
          <button type="button" disabled={!idle} onClick={move("undo")} title="Undo the last exchange with its files">Undo</button>
          <button type="button" disabled={!idle || !s.revert} onClick={move("redo")}>Redo</button>
        </>}
      </div>
      {s.revert && <p class="note" role="status">The last changes are undone, in the files too. Redo brings them back until the next prompt.</p>}
      {source === "steps" ? <StepsList t={p.t} idle={idle} again={again} moved={() => setAgain(again + 1)} /> : <Files diffs={diffs} failed={failed} dir={s.directory} split={split} />}
    </div>
  )
}

function told(m: Moved, word: string): void {
  const kept = m.files.filter((f) => f.action === "conflict").length, done = m.files.length - kept
  say(`${word}: ${done} ${done === 1 ? "file" : "files"}${kept ? `; ${kept} left alone because they have other changes` : ""}.`, kept > 0)
}

function Files(p: { diffs: FileDiff[] | undefined; failed: string; dir: string; split: boolean }): JSX.Element {
  if (!p.diffs) return <p class="empty"><Spinner /> Loading…</p>
  if (p.failed) return <p class="empty">{p.failed}</p>
  if (p.diffs.length === 0) return <p class="empty">No changes.</p>
  const sum = p.diffs.reduce((n, d) => [n[0]! + d.additions, n[1]! + d.deletions], [0, 0])
  return (
    <div class="files-of">
      <p class="muted">{p.diffs.length} {p.diffs.length === 1 ? "file" : "files"} <Counts added={sum[0]!} removed={sum[1]!} /></p>
      {p.diffs.map((d, i) => <OneFile key={d.file ?? i} d={d} dir={p.dir} split={p.split} start={i < 8 && d.additions + d.deletions < 400} />)}
    </div>
  )
}

function OneFile(p: { d: FileDiff; dir: string; split: boolean; start: boolean }): JSX.Element {
  const [on, setOn] = useState(p.start)
  const file = visible(inside(p.d.file ?? "", p.dir)), folder = file.slice(0, file.length - base(file).length)
  return (
    <section class="file">
      <h2><button type="button" class="file-head" aria-expanded={on} onClick={() => setOn(!on)}>
        <span class={"status " + (p.d.status ?? "modified")} title={p.d.status}>{(p.d.status ?? "modified")[0]!.toUpperCase()}</span>
        <bdi><span class="muted">{folder}</span>{base(file)}</bdi><span class="grow" /><Counts added={p.d.additions} removed={p.d.deletions} />
      </button></h2>
      {on && (p.d.patch ? <Diff patch={p.d.patch} name={file} split={p.split} bare /> : <p class="muted">No text to compare.</p>)}
    </section>
  )
}

function StepsList(p: { t: Transcript; idle: boolean; again: number; moved: () => void }): JSX.Element {
  const s = p.t.session
  const [list, setList] = useState<Steps | undefined>(undefined)
  useEffect(() => { get<Steps>(lathePath(s.id, "/steps?limit=100")).then(setList, complain) }, [s.id, s.time.updated, p.idle, p.again])
  const rewind = (step: number): void => {
    post<Moved>(lathePath(s.id, "/rewind"), { step }).then((m) => { told(m, `Rewound to step ${step}`); p.moved() }, complain)
  }
  const earlier = (): void => {
    const first = list?.steps[0]?.step
    if (first) get<Steps>(lathePath(s.id, `/steps?limit=100&before=${first}`)).then((more) => setList({ ...list!, steps: [...more.steps, ...list!.steps] }), complain)
  }
  if (!list) return <p class="empty"><Spinner /> Loading…</p>
  if (list.steps.length === 0) return <p class="empty">No steps yet.</p>
  return (
    <ol class="steps">
      {list.steps[0]!.step > 1 && <li><button type="button" class="more" onClick={earlier}>Show earlier steps</button></li>}
      {list.steps.map((x) => (
        <li class={(x.undone ? "undone" : "") + (x.step === list.at ? " at" : "")}>
          <span class="no">{x.step}</span>
          <span class="step-body"><b dir="auto">{prose(x.prompt ?? x.text ?? x.tools.join(", ") ?? x.kind)}</b>
            <small class="muted">{ago(x.created)}{x.files.length > 0 && ` · ${x.files.length} ${x.files.length === 1 ? "file" : "files"}`}{x.commands.length > 0 && ` · ${x.commands.length} ${x.commands.length === 1 ? "command" : "commands"}`}{x.cost > 0 && " · " + money(x.cost)}{x.tokens > 0 && ` · ${count(x.tokens)} tokens`}</small></span>
          {may("full") && x.step !== list.at && <button type="button" class="small" disabled={!p.idle} onClick={() => rewind(x.step)}>{x.step > list.at ? "Redo to here" : "Rewind to here"}</button>}
        </li>
      ))}
    </ol>
  )
}
