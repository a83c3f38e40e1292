// Texts as people read them.

// Characters that reorder or hide what follows: in a command or a path they would show something else than what runs.
const hidden = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u061c\u00ad\u{e0000}-\u{e007f}]/gu
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
const escape = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*\u001b\\|[@-Z\\-_])/g

// visible shows hidden characters by their number.
export const visible = (s: string): string =>
  s.replace(hidden, (c) => "⟨U+" + c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0") + "⟩").replace(control, "�")

// output is what a program printed: without escape sequences, and with lines that were overwritten as they ended.
export function output(s: string): string {
  s = s.replace(escape, "").replaceAll("\r\n", "\n")
  if (s.includes("\r")) s = s.split("\n").map((l) => l.slice(l.lastIndexOf("\r", l.length - 2) + 1)).join("\n")
  return visible(s)
}

// prose keeps what languages need (joiners, marks of direction), and drops what overrides the direction.
export const prose = (s: string): string => s.replace(/[\u202a-\u202e\u2066-\u2069]/g, "").replace(control, "")

export function ago(ms: number, now = Date.now()): string {
  const s = Math.max(0, (now - ms) / 1000) // a clock that is behind shows no future
  if (s < 60) return "now"
  if (s < 3600) return Math.floor(s / 60) + " min"
  if (s < 86400) return Math.floor(s / 3600) + " h"
  if (s < 7 * 86400) return Math.floor(s / 86400) + " d"
  return new Date(ms).toLocaleDateString(undefined, { month: "short", day: "numeric", year: s > 300 * 86400 ? "numeric" : undefined })
}

export function duration(ms: number): string {
  if (ms < 0) ms = 0
  if (ms < 1000) return Math.round(ms) + " ms"
  if (ms < 10_000) return (ms / 1000).toFixed(1) + " s"
  if (ms < 60_000) return Math.round(ms / 1000) + " s"
  const m = Math.floor(ms / 60_000)
  return m < 60 ? `${m} min ${Math.round((ms % 60_000) / 1000)} s` : `${Math.floor(m / 60)} h ${m % 60} min`
}

export function money(d: number): string {
  if (!d) return "$0.00"
  return "$" + (Math.abs(d) >= 0.1 ? d.toFixed(2) : d.toPrecision(2).replace(/e.*/, ""))
}

export function count(n: number): string {
  return n < 1000 ? String(n) : n < 1e6 ? (n / 1e3).toFixed(n < 1e4 ? 1 : 0) + "k" : n < 1e9 ? (n / 1e6).toFixed(n < 1e7 ? 1 : 0) + "M" : (n / 1e9).toFixed(1) + "B"
}

export function bytes(n: number): string {
  return n < 1000 ? n + " B" : n < 1e6 ? (n / 1e3).toFixed(0) + " kB" : (n / 1e6).toFixed(1) + " MB"
}

export const base = (path: string): string => path.replace(/[/\\]+$/, "").replace(/^.*[/\\]/, "") || path

// inside shortens a path below a directory.
export const inside = (path: string, dir: string): string => dir && path.startsWith(dir + "/") ? path.slice(dir.length + 1) : path

export const untitled = (title: string): boolean => /^(New|Child) session - \d{4}-\d\d-\d\dT/.test(title)
export const titleOf = (title: string): string => untitled(title) || !title ? "New session" : prose(title)

export const str = (v: unknown): string => typeof v === "string" ? v : ""
export const num = (v: unknown): number => typeof v === "number" && isFinite(v) ? v : 0

// directionOf is the direction of a text, by its first letter. What has parts with directions of their own needs it.
export function directionOf(s: string): "rtl" | "ltr" {
  return /^[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(/\p{L}/u.exec(s)?.[0] ?? "") ? "rtl" : "ltr"
}
