import type { JSX } from "preact"
import { useState } from "preact/hooks"
import { type DiffFile, type DiffLine, parseDiff, sideBySide } from "./diff"
import { highlight, languageOf } from "./highlight"
import { memo } from "./memo"
import { visible } from "./text"

export function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement("textarea") // without a trusted certificate there is no clipboard
  area.value = text
  document.body.append(area)
  area.select()
  const ok = document.execCommand("copy")
  area.remove()
  return ok ? Promise.resolve() : Promise.reject(new Error("no clipboard"))
}

export function CopyButton(p: { text: () => string; label?: string }): JSX.Element {
  const [done, setDone] = useState(false)
  const go = (): void => { void copy(p.text()).then(() => { setDone(true); setTimeout(() => setDone(false), 1500) }, () => {}) }
  return <button type="button" class="ghost small copy" onClick={go} aria-label={p.label ?? "Copy"}>{done ? "Copied" : "Copy"}</button>
}

const Tokens = memo((p: { code: string; language: string }) => <>{highlight(p.code, p.language).map((t) => t.kind ? <span class={"t" + t.kind}>{t.text}</span> : t.text)}</>)

const shown = 100_000 // characters that are drawn before somebody asks for more

// Code shows a code block. What is too long is shown in pieces.
export function Code(p: { code: string; language: string }): JSX.Element {
  const [most, setMost] = useState(shown)
  const code = p.code.length > most ? p.code.slice(0, most) : p.code
  return (
    <figure class="code">
      <figcaption><span>{p.language || "text"}</span><CopyButton text={() => p.code} label="Copy code" /></figcaption>
      <pre tabIndex={0} dir="ltr"><code><Tokens code={visible(code)} language={p.language} /></code></pre>
      {code !== p.code && <More left={p.code.length - most} more={() => setMost(most * 5)} />}
    </figure>
  )
}

export function More(p: { left: number; more: () => void }): JSX.Element {
  return <button type="button" class="more" onClick={p.more}>Show more ({p.left.toLocaleString()} characters are left)</button>
}

// Output is what a command printed; its end is what matters until somebody asks for all.
export function Output(p: { text: string; tail?: number }): JSX.Element | null {
  const [all, setAll] = useState(false)
  const [most, setMost] = useState(shown)
  if (p.text === "") return null
  let text = p.text
  let cut = 0
  if (!all && p.tail) {
    let at = text.length
    for (let n = 0; n <= p.tail && at > 0; n++) at = text.lastIndexOf("\n", at - 1)
    at = Math.max(at, text.length - 4000)
    if (at > 0) { cut = at; text = text.slice(at + (text[at] === "\n" ? 1 : 0)) }
  } else if (text.length > most) text = text.slice(0, most)
  return (
    <>
      {cut > 0 && <button type="button" class="more" onClick={() => setAll(true)}>Show all output ({p.text.length.toLocaleString()} characters)</button>}
      <pre class="output" tabIndex={0} dir="ltr">{text}</pre>
      {all && p.text.length > most && <More left={p.text.length - most} more={() => setMost(most * 5)} />}
    </>
  )
}

// Text of a diff line with colors, and marks on the words that changed.
function Line(p: { line: DiffLine; language: string }): JSX.Element {
  const { text, marks } = p.line
  if (text.length > 2000) return <>{visible(text.slice(0, 2000))}…</>
  if (!marks || marks.length === 0) return <Tokens code={visible(text)} language={p.language} />
  const out: (JSX.Element | string)[] = []
  let at = 0
  for (const [a, b] of marks) {
    if (a > at) out.push(<Tokens code={visible(text.slice(at, a))} language={p.language} />)
    out.push(<mark>{visible(text.slice(a, b))}</mark>)
    at = b
  }
  if (at < text.length) out.push(<Tokens code={visible(text.slice(at))} language={p.language} />)
  return <>{out}</>
}

const sign = (k: string): string => k === "+" ? "added" : k === "-" ? "removed" : ""

const Signed = (p: { line: DiffLine; language: string }): JSX.Element => <><span class="sign" aria-label={sign(p.line.kind)}>{p.line.kind}</span><Line {...p} /></>

function Lines(p: { file: DiffFile; split: boolean; most: number }): JSX.Element {
  const language = languageOf(p.file.name)
  let left = p.most
  const kind = (l?: DiffLine): string => l ? (l.kind === "+" ? "add" : l.kind === "-" ? "del" : "") : "none"
  return (
    <table class={"diff" + (p.split ? " split" : "")} dir="ltr">
      <caption class="hidden-text">Changes in {visible(p.file.name)}</caption>
      {p.split && <colgroup><col class="no" /><col /><col class="no" /><col /></colgroup>}
      {p.file.hunks.map((h, n) => {
        const rows = p.split ? sideBySide(h.lines) : h.lines.map((l) => ({ left: l, right: undefined }))
        const show = rows.slice(0, Math.max(0, left))
        left -= show.length
        if (show.length === 0) return null
        return (
          <tbody>
            {(n > 0 || h.head) && <tr class="hunk"><td colSpan={p.split ? 4 : 3}>{visible(h.head) || "⋯"}</td></tr>}
            {show.map((r) => p.split
              ? <tr>
                  <td class="no">{r.left?.old || ""}</td><td class={"half " + kind(r.left)}>{r.left && <Signed line={r.left} language={language} />}</td>
                  <td class="no">{r.right?.now || ""}</td><td class={"half " + kind(r.right)}>{r.right && <Signed line={r.right} language={language} />}</td>
                </tr>
              : <tr class={kind(r.left)}>
                  <td class="no">{r.left!.old || ""}</td><td class="no">{r.left!.now || ""}</td>
                  <td><Signed line={r.left!} language={language} /></td>
                </tr>)}
          </tbody>
        )
      })}
    </table>
  )
}

// Diff shows the patch of a file or of many.
export const Diff = memo((p: { patch: string; name: string; split?: boolean; most?: number; bare?: boolean }): JSX.Element => {
  const [most, setMost] = useState(p.most ?? 400)
  const cut = p.patch.length > 2_000_000
  const files = parseDiffOnce(cut ? p.patch.slice(0, 2_000_000) : p.patch, p.name)
  const total = files.reduce((n, f) => n + f.hunks.reduce((m, h) => m + h.lines.length, 0), 0)
  return (
    <div class="diff-box">
      {files.map((f) => (
        <>
          {(!p.bare || files.length > 1) && <div class="diff-name"><bdi>{visible(f.name || p.name)}</bdi><Counts added={f.added} removed={f.removed} /></div>}
          <div class="scroll" tabIndex={0} role="region" aria-label={"Changes in " + visible(f.name || p.name)}><Lines file={f} split={!!p.split} most={most} /></div>
        </>
      ))}
      {total > most && <button type="button" class="more" onClick={() => setMost(most * 10)}>Show {total - most} more lines</button>}
    </div>
  )
})

let memoized: { patch: string; name: string; files: DiffFile[] } | undefined
function parseDiffOnce(patch: string, name: string): DiffFile[] {
  if (memoized?.patch !== patch || memoized.name !== name) memoized = { patch, name, files: parseDiff(patch, name) }
  return memoized.files
}

export const Counts = (p: { added: number; removed: number }): JSX.Element => (
  <span class="counts"><span class="plus">+{p.added}</span> <span class="minus">−{p.removed}</span></span>
)
