// A small terminal: what shells, pagers and editors need of VT100 and xterm, on a grid of cells. It does no I/O.

// A cell has a character with the marks that belong to it. The second cell of a wide character is empty.
export interface Cell { c: string; style: number }
// A style is foreground (9 bits, 0 is the default), background (9 bits) and flags.
const bold = 1 << 18, dim = 1 << 19, under = 1 << 20, inverse = 1 << 21
export const styleOf = (s: number): { fg: number; bg: number; bold: boolean; dim: boolean; under: boolean; inverse: boolean } =>
  ({ fg: (s & 511) - 1, bg: ((s >> 9) & 511) - 1, bold: !!(s & bold), dim: !!(s & dim), under: !!(s & under), inverse: !!(s & inverse) })

const wide = /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation})/u
const mark = /^[\p{M}\u1160-\u11ff\u200b-\u200f\u2060]/u

const mostBack = 2000 // lines that scrolled away and are kept

export class Screen {
  lines: Cell[][] = []
  back: Cell[][] = []
  x = 0
  y = 0
  cursor = true
  bracketed = false
  application = false // cursor keys
  reply = "" // what the program asked for
  private style = 0
  private top = 0
  private bottom: number
  private saved = { x: 0, y: 0, style: 0 }
  private other: { lines: Cell[][]; x: number; y: number } | undefined
  private rest = ""

  constructor(public columns: number, public rows: number) {
    this.bottom = rows - 1
    this.lines = Array.from({ length: rows }, () => this.blank())
  }

  private blank(): Cell[] { return Array.from({ length: this.columns }, () => ({ c: " ", style: 0 })) }

  resize(columns: number, rows: number): void {
    this.columns = columns
    for (const l of [...this.lines, ...(this.other?.lines ?? [])]) {
      while (l.length < columns) l.push({ c: " ", style: 0 })
      this.part(l, columns)
      l.length = columns
    }
    while (this.lines.length > rows) {
      if (this.y < this.lines.length - 1) this.lines.pop()
      else { this.keep(this.lines.shift()!); this.y-- }
    }
    while (this.lines.length < rows) this.lines.push(this.blank())
    this.rows = rows
    this.top = 0
    this.bottom = rows - 1
    this.x = Math.min(this.x, columns - 1)
    this.y = Math.min(this.y, rows - 1)
  }

  write(text: string): void {
    text = this.rest + text
    this.rest = ""
    for (let i = 0; i < text.length;) {
      const c = text[i]!
      if (c === "\u001b") {
        const n = this.escape(text, i)
        if (n === 0) { this.rest = text.slice(i, i + 4096); return }
        i += n
      } else if (c < " ") { this.control(c); i++ }
      else {
        const point = String.fromCodePoint(text.codePointAt(i)!)
        this.put(point)
        i += point.length
      }
    }
  }

  private put(c: string): void {
    const here = this.lines[this.y]!
    if (c > "~" && mark.test(c)) { // it belongs to the character before it
      const before = here[this.x - (here[this.x - 1]?.c === "" ? 2 : 1)]
      if (before && before.c.length < 20) before.c += c
      return
    }
    const n = c > "~" && wide.test(c) ? 2 : 1
    if (this.x + n > this.columns) { this.x = 0; this.feed() }
    const l = this.lines[this.y]!
    this.part(l, this.x)
    this.part(l, this.x + n)
    l[this.x++] = { c, style: this.style }
    if (n === 2) l[this.x++] = { c: "", style: this.style }
  }

  // part leaves blanks of a wide character that is cut at a place.
  private part(l: Cell[], x: number): void {
    if (l[x]?.c !== "") return
    l[x]!.c = " "
    if (x > 0) l[x - 1]!.c = " "
  }

  private control(c: string): void {
    if (c === "\r") this.x = 0
    else if (c === "\n" || c === "\v" || c === "\f") this.feed()
    else if (c === "\b") this.x = Math.max(0, Math.min(this.x, this.columns - 1) - 1)
    else if (c === "\t") this.x = Math.min(this.columns - 1, (this.x & ~7) + 8)
  }

  private keep(l: Cell[]): void {
    if (this.other) return
    this.back.push(l)
    if (this.back.length > mostBack) this.back.splice(0, this.back.length - mostBack)
  }

  private feed(): void {
    if (this.y === this.bottom) this.scroll(1)
    else if (this.y < this.rows - 1) this.y++
  }

  private scroll(n: number): void {
    for (n = Math.max(-this.rows, Math.min(n, this.rows)); n > 0; n--) {
      const [l] = this.lines.splice(this.top, 1)
      if (this.top === 0) this.keep(l!)
      this.lines.splice(this.bottom, 0, this.blank())
    }
    for (; n < 0; n++) {
      this.lines.splice(this.bottom, 1)
      this.lines.splice(this.top, 0, this.blank())
    }
  }

  // escape reads a sequence and returns its length, 0 if more must come.
  private escape(s: string, i: number): number {
    const kind = s[i + 1]
    if (kind === undefined) return 0
    if (kind === "[") {
      const m = /^\u001b\[([<-?]?)([0-9;:]*)[ -/]*([@-~])/.exec(s.slice(i, i + 256))
      if (!m) return s.length - i < 200 ? 0 : 2
      this.sequence(m[1]!, m[2]!.split(/[;:]/).map((n) => Math.min(Number(n) || 0, 9999)), m[3]!)
      return m[0].length
    }
    if (kind === "]" || kind === "P" || kind === "_" || kind === "^") {
      const end = /\u0007|\u001b\\/.exec(s.slice(i + 2))
      return end ? 2 + end.index + end[0].length : s.length - i < 4000 ? 0 : 2
    }
    if (kind === "(" || kind === ")" || kind === "#") return s[i + 2] === undefined ? 0 : 3
    if (kind === "7") this.saved = { x: this.x, y: this.y, style: this.style }
    else if (kind === "8") ({ x: this.x, y: this.y, style: this.style } = this.saved)
    else if (kind === "D") this.feed()
    else if (kind === "E") { this.x = 0; this.feed() }
    else if (kind === "M") { if (this.y === this.top) this.scroll(-1); else if (this.y > 0) this.y-- }
    else if (kind === "c") { this.mode(1049, false); this.style = this.x = this.y = this.top = 0; this.bottom = this.rows - 1; this.back = []; this.cursor = true; this.application = this.bracketed = false; this.erase(0, 0, this.rows - 1, this.columns) }
    return 2
  }

  private erase(y0: number, x0: number, y1: number, x1: number): void {
    this.part(this.lines[y0]!, x0)
    this.part(this.lines[y1]!, x1)
    for (let y = y0; y <= y1; y++) for (let x = y === y0 ? x0 : 0; x < (y === y1 ? Math.min(x1, this.columns) : this.columns); x++) this.lines[y]![x] = { c: " ", style: this.style & (511 << 9) }
  }

  private sequence(mark: string, a: number[], end: string): void {
    const n = Math.max(1, a[0]!), x = Math.min(this.x, this.columns - 1), l = this.lines[this.y]!
    if (mark === "?") { if (end === "h" || end === "l") for (const p of a) this.mode(p, end === "h"); return }
    if (mark !== "") return
    const at = (nx: number, ny: number): void => { this.x = Math.max(0, Math.min(this.columns - 1, nx)); this.y = Math.max(0, Math.min(this.rows - 1, ny)) }
    const pad = (): Cell => ({ c: " ", style: 0 })
    switch (end) {
      case "A": at(x, this.y - n); break
      case "B": case "e": at(x, this.y + n); break
      case "C": case "a": at(x + n, this.y); break
      case "D": at(x - n, this.y); break
      case "E": at(0, this.y + n); break
      case "F": at(0, this.y - n); break
      case "G": case "`": at(n - 1, this.y); break
      case "d": at(x, n - 1); break
      case "H": case "f": at(Math.max(1, a[1] ?? 1) - 1, n - 1); break
      case "J": if (a[0] === 0) this.erase(this.y, x, this.rows - 1, this.columns); else if (a[0] === 1) this.erase(0, 0, this.y, x + 1); else this.erase(0, 0, this.rows - 1, this.columns); break
      case "K": this.erase(this.y, a[0] === 0 ? x : 0, this.y, a[0] === 1 ? x + 1 : this.columns); break
      case "X": this.erase(this.y, x, this.y, x + n); break
      case "P": this.part(l, x); this.part(l, x + n); l.splice(x, n); while (l.length < this.columns) l.push(pad()); break
      case "@": this.part(l, x); for (let i = 0; i < Math.min(n, this.columns); i++) l.splice(x, 0, pad()); this.part(l, this.columns); l.length = this.columns; break
      case "L": case "M": {
        if (this.y < this.top || this.y > this.bottom) break
        const top = this.top
        this.top = this.y
        this.scrollInside(end === "M" ? n : -n)
        this.top = top
        break
      }
      case "S": this.scroll(n); break
      case "T": this.scroll(-n); break
      case "r": this.top = n - 1; this.bottom = Math.min(a[1] || this.rows, this.rows) - 1; if (this.top >= this.bottom) { this.top = 0; this.bottom = this.rows - 1 } at(0, 0); break
      case "s": this.saved = { x: this.x, y: this.y, style: this.style }; break
      case "u": ({ x: this.x, y: this.y, style: this.style } = this.saved); break
      case "m": this.rendition(a); break
      case "n": if (a[0] === 6) this.reply += `\u001b[${this.y + 1};${x + 1}R`; break
      case "c": this.reply += "\u001b[?6c"; break
    }
  }

  private scrollInside(n: number): void {
    for (let i = 0; i < Math.min(Math.abs(n), this.rows); i++) {
      if (n > 0) { this.lines.splice(this.y, 1); this.lines.splice(this.bottom, 0, this.blank()) }
      else { this.lines.splice(this.bottom, 1); this.lines.splice(this.y, 0, this.blank()) }
    }
  }

  private mode(p: number, on: boolean): void {
    if (p === 25) this.cursor = on
    else if (p === 1) this.application = on
    else if (p === 2004) this.bracketed = on
    else if (p === 1049 || p === 47 || p === 1047) {
      if (on && !this.other) {
        this.other = { lines: this.lines, x: this.x, y: this.y }
        this.lines = Array.from({ length: this.rows }, () => this.blank())
      } else if (!on && this.other) {
        this.lines = this.other.lines
        this.x = this.other.x; this.y = this.other.y
        this.other = undefined
        this.resize(this.columns, this.rows) // it may have other sizes than when it was left
      }
    }
  }

  private rendition(a: number[]): void {
    for (let i = 0; i < a.length; i++) {
      const n = a[i]!
      const fg = (v: number): void => { this.style = this.style & ~511 | v }
      const bg = (v: number): void => { this.style = this.style & ~(511 << 9) | v << 9 }
      if (n === 0) this.style = 0
      else if (n === 1) this.style |= bold
      else if (n === 2) this.style |= dim
      else if (n === 4) this.style |= under
      else if (n === 7) this.style |= inverse
      else if (n === 22) this.style &= ~(bold | dim)
      else if (n === 24) this.style &= ~under
      else if (n === 27) this.style &= ~inverse
      else if (n >= 30 && n <= 37) fg(n - 29)
      else if (n === 39) fg(0)
      else if (n >= 40 && n <= 47) bg(n - 39)
      else if (n === 49) bg(0)
      else if (n >= 90 && n <= 97) fg(n - 81)
      else if (n >= 100 && n <= 107) bg(n - 91)
      else if (n === 38 || n === 48) {
        const set = n === 38 ? fg : bg
        if (a[i + 1] === 5) { set(1 + (a[i + 2]! & 255)); i += 2 }
        else if (a[i + 1] === 2) { const q = (v: number): number => Math.round((v & 255) / 51); set(17 + q(a[i + 2]!) * 36 + q(a[i + 3]!) * 6 + q(a[i + 4]!)); i += 4 }
      }
    }
  }
}
