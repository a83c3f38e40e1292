// Unified diffs, read into lines with numbers and with marks on the words that changed.

export interface DiffLine { kind: " " | "+" | "-"; text: string; old: number; now: number; marks?: [number, number][] }
export interface Hunk { head: string; lines: DiffLine[] }
export interface DiffFile { name: string; hunks: Hunk[]; added: number; removed: number }

const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/

// parseDiff reads the patches of one or many files. Lines that belong to no hunk are left out.
export function parseDiff(patch: string, name = ""): DiffFile[] {
  const files: DiffFile[] = []
  let file: DiffFile | undefined, hunk: Hunk | undefined, old = 0, now = 0
  const begin = (n: string): DiffFile => { const f = { name: n, hunks: [], added: 0, removed: 0 }; files.push(f); return f }
  for (const line of patch.split("\n")) {
    const h = header.exec(line)
    if (h) {
      file ??= begin(name)
      old = Number(h[1]); now = Number(h[2])
      hunk = { head: h[3] ?? "", lines: [] }
      file.hunks.push(hunk)
    } else if (/^(Index: |diff --git )/.test(line)) {
      file = begin(line.startsWith("Index") ? line.slice(7) : line.replace(/^.* b\//, "")); hunk = undefined
    } else if (!hunk && line.startsWith("+++ ")) {
      const n = line.slice(4).split("\t")[0]!.replace(/^b\//, "")
      if (!file) file = begin(n)
      else if (n !== "/dev/null") file.name = n
    } else if (hunk && file && (line[0] === "+" || line[0] === "-" || line[0] === " ")) {
      const kind = line[0]
      hunk.lines.push({ kind, text: line.slice(1), old: kind === "+" ? 0 : old++, now: kind === "-" ? 0 : now++ })
      if (kind === "+") file.added++
      if (kind === "-") file.removed++
    }
  }
  for (const f of files) for (const h of f.hunks) mark(h.lines)
  return files
}

// mark finds, in a run of removed lines and the added ones after it, the words that differ.
function mark(lines: DiffLine[]): void {
  for (let i = 0; i < lines.length;) {
    if (lines[i]!.kind !== "-") { i++; continue }
    let a = i
    while (a < lines.length && lines[a]!.kind === "-") a++
    let b = a
    while (b < lines.length && lines[b]!.kind === "+") b++
    const pairs = Math.min(a - i, b - a)
    if (pairs <= 200) for (let k = 0; k < pairs; k++) words(lines[i + k]!, lines[a + k]!)
    i = b
  }
}

const limit = 160 // words of a line, beyond which comparing costs more than it shows

function words(a: DiffLine, b: DiffLine): void {
  const split = (s: string): string[] => s.match(/\w+|\s+|[^\w\s]/gu) ?? []
  const x = split(a.text), y = split(b.text)
  if (x.length > limit || y.length > limit || x.length === 0 || y.length === 0) return
  const w = y.length + 1, t = new Uint16Array((x.length + 1) * w)
  for (let i = x.length - 1; i >= 0; i--)
    for (let j = y.length - 1; j >= 0; j--)
      t[i * w + j] = x[i] === y[j] ? t[(i + 1) * w + j + 1]! + 1 : Math.max(t[(i + 1) * w + j]!, t[i * w + j + 1]!)
  if (t[0]! * 3 < Math.min(x.length, y.length)) return // another line rather than a changed one
  const from: [number, number][] = [], to: [number, number][] = []
  let i = 0, j = 0, p = 0, q = 0
  const put = (m: [number, number][], at: number, n: number): void => {
    const top = m[m.length - 1]
    if (top && top[1] === at) top[1] = at + n
    else m.push([at, at + n])
  }
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) { p += x[i++]!.length; q += y[j++]!.length }
    else if (j >= y.length || i < x.length && t[(i + 1) * w + j]! >= t[i * w + j + 1]!) { put(from, p, x[i]!.length); p += x[i++]!.length }
    else { put(to, q, y[j]!.length); q += y[j++]!.length }
  }
  a.marks = from
  b.marks = to
}

export interface Row { left?: DiffLine; right?: DiffLine }

// sideBySide puts removed lines left of the added ones that follow them.
export function sideBySide(lines: DiffLine[]): Row[] {
  const out: Row[] = []
  for (let i = 0; i < lines.length;) {
    const l = lines[i]!
    if (l.kind === " ") { out.push({ left: l, right: l }); i++; continue }
    let a = i
    while (a < lines.length && lines[a]!.kind === "-") a++
    let b = a
    while (b < lines.length && lines[b]!.kind === "+") b++
    for (let k = 0; k < Math.max(a - i, b - a); k++) {
      const row: Row = {}
      if (i + k < a) row.left = lines[i + k]!
      if (a + k < b) row.right = lines[a + k]!
      out.push(row)
    }
    i = b
  }
  return out
}
