// Markdown to elements. Texts come from models, so nothing here makes markup of a string: HTML is shown as text, links go to
// the web and mail only, and images become links, since loading one would tell its server who reads.
import type { ComponentChildren, JSX } from "preact"
import { memo } from "./memo"
import { Code } from "./code"
import { directionOf, prose } from "./text"

// split cuts a text into blocks, each with its lines. While a text streams in, only its last block changes.
export function split(text: string): string[] {
  const out: string[] = []
  let block: string[] = [], fence = "", list = false
  const end = (): void => { if (block.length > 0) out.push(block.join("\n")); block = []; list = false }
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence) {
      block.push(line)
      if (mark && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) { fence = ""; if (!list) end() }
    } else if (line.trim() === "") {
      if (list) block.push(line)
      else end()
    } else {
      const item = /^ {0,3}([-*+]|\d{1,9}[.)])\s/.test(line)
      if (list && !item && !/^\s/.test(line) && block[block.length - 1]!.trim() === "") end()
      if (mark && !list) { end(); fence = mark }
      else if (mark && /^\s/.test(line)) fence = mark
      else if (mark) { end(); fence = mark }
      else if (item && !list && !/^ {0,3}([-*_])( *\1){2,} *$/.test(line)) { end(); list = true }
      else if (!list && /^#{1,6}\s/.test(line)) { end(); out.push(line); continue }
      block.push(line)
    }
  }
  end()
  return out
}

const Block = memo((p: { raw: string }): JSX.Element => <>{block(p.raw)}</>)

const longest = 300_000

export function Markdown(p: { text: string }): JSX.Element {
  if (p.text.length > longest) return <pre class="plain" dir="auto">{prose(p.text.slice(0, longest))}{"\n… "}{p.text.length - longest} more characters</pre>
  return <div class="md">{split(prose(p.text)).map((raw, i) => <Block key={i} raw={raw} />)}</div>
}

function block(raw: string, depth = 0): ComponentChildren {
  const lines = raw.split("\n"), first = lines[0]!
  const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(first)
  if (fence) {
    const closed = lines.length > 1 && lines[lines.length - 1]!.trim().startsWith(fence[1]!)
    return <Code code={lines.slice(1, closed ? -1 : undefined).join("\n")} language={fence[2]!} />
  }
  const head = /^(#{1,6})\s+(.*?)\s*#*$/.exec(first)
  if (head && lines.length === 1) {
    const H = ("h" + Math.min(6, head[1]!.length + 2)) as "h3"
    return <H dir="auto">{inline(head[2]!)}</H>
  }
  if (/^ {0,3}([-*_])( *\1){2,} *$/.test(raw)) return <hr />
  if (depth < 6 && /^ {0,3}([-*+]|\d{1,9}[.)])\s/.test(first)) return list(lines, depth)
  if (depth < 6 && first.startsWith(">")) return <blockquote dir={directionOf(first)}>{split(lines.map((l) => l.replace(/^> ?/, "")).join("\n")).map((b) => block(b, depth + 1))}</blockquote>
  if (lines.length > 1 && first.includes("|") && /^ *\|?[ :|-]*-[ :|-]*$/.test(lines[1]!)) return table(lines)
  if (/^( {4}|\t)/.test(first) && lines.every((l) => /^( {4}|\t|$)/.test(l))) return <Code code={lines.map((l) => l.replace(/^( {4}|\t)/, "")).join("\n")} language="" />
  return paragraph(lines)
}

function paragraph(lines: string[]): JSX.Element {
  const out: ComponentChildren[] = []
  lines.forEach((l, i) => {
    out.push(...inline(l.replace(/( {2,}|\\)$/, "")))
    if (i < lines.length - 1) out.push(/( {2,}|\\)$/.test(l) ? <br /> : "\n")
  })
  return <p dir="auto">{out}</p>
}

function list(lines: string[], depth: number): JSX.Element {
  const ordered = /^ *\d/.test(lines[0]!), items: string[][] = []
  const indent = /^ */.exec(lines[0]!)![0].length
  for (const l of lines) {
    const m = /^( *)([-*+]|\d{1,9}[.)])(\s+)(.*)$/.exec(l)
    if (m && m[1]!.length <= indent + 1) items.push([m[4]!])
    else if (items.length > 0) items[items.length - 1]!.push(l.replace(new RegExp(`^ {0,${indent + 4}}`), (s) => s.length > indent + 3 && ordered ? s.slice(indent + 3) : s.slice(Math.min(s.length, indent + (ordered ? 3 : 2)))))
  }
  const body = items.map((item) => {
    const task = /^\[([ xX])\]\s+/.exec(item[0]!)
    if (task) item[0] = item[0]!.slice(task[0].length)
    const blocks = split(nest(item))
    return (
      <li class={task ? "task" : undefined}>
        {task && <span class={"tick" + (task[1] === " " ? "" : " on")} role="img" aria-label={task[1] === " " ? "open" : "done"} />}
        {blocks.map((b, i) => i === 0 && !/^( {0,3}([-*+]|\d+[.)])\s|[>#`~|])/.test(b) ? paragraph(b.split("\n")).props.children : block(b, depth + 1))}
      </li>
    )
  })
  const start = /^ *(\d+)/.exec(lines[0]!)?.[1], dir = directionOf(lines[0]!.replace(/\[[xX]\]/, ""))
  return ordered ? <ol start={Number(start)} dir={dir}>{body}</ol> : <ul dir={dir}>{body}</ul>
}

// nest separates a nested list from the text of its item.
function nest(item: string[]): string { return item.map((l, i) => i > 0 && /^([-*+]|\d+[.)])\s/.test(l) && !/^\s*([-*+]|\d+[.)])\s/.test(item[i - 1]!) ? "\n" + l : l).join("\n") }

function table(lines: string[]): JSX.Element {
  const cells = (l: string): string[] => l.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((c) => c.trim().replaceAll("\\|", "|"))
  const align = cells(lines[1]!).map((c) => c.endsWith(":") ? (c.startsWith(":") ? "center" : "end") : undefined)
  const of = (i: number): string | undefined => align[i] && "align-" + align[i]
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Table">
      <table dir={directionOf(lines[0]!)}>
        <thead><tr>{cells(lines[0]!).map((c, i) => <th dir="auto" class={of(i)}>{inline(c)}</th>)}</tr></thead>
        <tbody>{lines.slice(2, 1002).map((l) => <tr>{cells(l).map((c, i) => <td dir="auto" class={of(i)}>{inline(c)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  )
}

// safeLink is a link that may be followed: to the web or mail.
export function safeLink(url: string): string | undefined {
  try {
    const u = new URL(url)
    return u.protocol === "https:" || u.protocol === "http:" || u.protocol === "mailto:" ? u.href : undefined
  } catch { return undefined }
}

const link = (url: string, text: ComponentChildren): ComponentChildren => {
  const href = safeLink(url)
  return href ? <a href={href} target="_blank" rel="noopener noreferrer nofollow">{text}</a> : <span title={url.slice(0, 200)}>{text}</span>
}

const reach = 2000 // characters in which what opens must close: texts of models come in any shape, and reading must stay quick

// inline reads what is inside a line, in one pass. Nested emphasis goes a few levels deep.
export function inline(s: string, depth = 0): ComponentChildren[] {
  if (depth > 5 || s.length > 50_000) return [s]
  const out: ComponentChildren[] = []
  let plain = ""
  for (let i = 0; i < s.length;) {
    const got = special(s, i, depth)
    if (!got) { plain += s[i++]; continue }
    if (typeof got[1] === "string") plain += got[1]
    else {
      if (plain) out.push(plain)
      plain = ""
      out.push(got[1])
    }
    i = got[0]
  }
  if (plain) out.push(plain)
  return out
}

// special reads what begins at a place, and returns where it ends and what it is.
function special(s: string, i: number, depth: number): [number, ComponentChildren] | undefined {
  switch (s[i]) {
    case "\\": return /[!-/:-@[-`{-~]/.test(s[i + 1] ?? "") ? [i + 2, s[i + 1]] : undefined
    case "`": return codeAt(s, i)
    case "!": return s[i + 1] === "[" ? linkAt(s, i + 1, depth) : undefined
    case "[": return linkAt(s, i, depth)
    case "<": {
      const m = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/.exec(s.slice(i, i + reach))
      return m ? [i + m[0].length, link(m[1]!, m[1])] : undefined
    }
    case "h": {
      if (!s.startsWith("http", i) || /\w/.test(s[i - 1] ?? "")) return undefined
      const m = /^https?:\/\/[^\s<>"'`]+/.exec(s.slice(i, i + reach))
      if (!m) return undefined
      let url = m[0].replace(/[.,;:!?*_~]+$/, "")
      if (url.endsWith(")") && !url.includes("(")) url = url.slice(0, -1)
      return [i + url.length, link(url, url)]
    }
    case "*": case "_": case "~": return emphasisAt(s, i, depth)
    default: return undefined
  }
}

function codeAt(s: string, i: number): [number, ComponentChildren] {
  let n = 1
  while (s[i + n] === "`") n++
  const mark = s.slice(i, i + n), part = s.slice(i + n, i + n + reach)
  for (let at = part.indexOf(mark); at >= 0; at = part.indexOf(mark, at)) {
    let m = n
    while (part[at + m] === "`") m++
    if (m === n) return [i + n + at + n, <code>{part.slice(0, at).replace(/^ (.*) $/, "$1")}</code>]
    at += m
  }
  return [i + n, mark]
}

function linkAt(s: string, i: number, depth: number): [number, ComponentChildren] | undefined {
  let open = 0, j = i
  for (const end = Math.min(s.length, i + 500); j < end; j++) {
    if (s[j] === "\\") j++
    else if (s[j] === "[") open++
    else if (s[j] === "]" && --open === 0) break
  }
  if (open !== 0 || s[j + 1] !== "(") return undefined
  const m = /^\(\s{0,9}<?([^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)?)>?(?:\s{1,9}(?:"[^"]*"|'[^']*'))?\s{0,9}\)/.exec(s.slice(j + 1, j + reach))
  if (!m) return undefined
  const text = s.slice(i + 1, j)
  return [j + 1 + m[0].length, link(m[1]!, text ? inline(text, depth + 1) : m[1])]
}

function emphasisAt(s: string, i: number, depth: number): [number, ComponentChildren] | undefined {
  const c = s[i]!
  let n = 1
  while (s[i + n] === c) n++
  if (n > 3 || c === "~" && n !== 2 || /\s/.test(s[i + n] ?? " ") || c === "_" && /\w/.test(s[i - 1] ?? "")) return [i + n, s.slice(i, i + n)]
  const size = n === 1 ? 1 : 2, mark = c.repeat(size), part = s.slice(i + size, i + size + reach)
  for (let at = part.indexOf(mark, 1); at >= 0; at = part.indexOf(mark, at + 1)) {
    if (/[\s\\]/.test(part[at - 1]!) || c === "_" && /\w/.test(part[at + size] ?? "")) continue
    if (size === 1 && (part[at + 1] === c || part[at - 1] === c)) { at++; continue }
    if (size === 2 && part[at + 2] === c) at++
    const inner = inline(part.slice(0, at), depth + 1)
    return [i + size + at + size, c === "~" ? <del>{inner}</del> : size === 2 ? <strong>{inner}</strong> : <em>{inner}</em>]
  }
  return [i + n, s.slice(i, i + n)]
}
