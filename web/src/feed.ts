// The event stream: it resumes where it was cut off, and says when that is not possible.
import type { Event } from "./types"

export interface FeedEvents {
  event(e: Event): void
  connected(): void
  lost(): void
  resync(): void // events were missed: everything must be read again
  denied(): void
}

// Parser splits a stream of server-sent events into their id and data. Chunks may end anywhere.
export class Parser {
  private rest = ""
  push(chunk: string, out: (data: string, id: string | undefined) => void): void {
    this.rest += chunk
    let from = 0
    for (;;) {
      const end = this.rest.indexOf("\n\n", from)
      if (end < 0) break
      let id: string | undefined
      const data: string[] = []
      for (const line of this.rest.slice(from, end).split("\n")) {
        if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5))
        else if (line.startsWith("id:")) id = line.slice(3).trim()
      }
      if (data.length > 0) out(data.join("\n"), id)
      from = end + 2
    }
    if (from > 0) this.rest = this.rest.slice(from)
  }
}

// Source is where the stream comes from, and the statuses with which the server says that it will never come.
export interface Source { path: string; credentials: RequestCredentials; refused: number[] }

const quiet = 25_000 // without a heartbeat, after which a connection counts as lost

export class Feed {
  cursor = ""
  private stop = new AbortController()
  private attempt = 0
  private wake: (() => void) | undefined
  private closed = false

  constructor(private readonly to: FeedEvents, private readonly from: Source = { path: "/global/event", credentials: "same-origin", refused: [401, 403] }) {}

  start(): void {
    void this.run()
    const now = (): void => { this.attempt = 0; this.wake?.() }
    addEventListener("online", now)
    document.addEventListener("visibilitychange", () => { if (!document.hidden) now() })
  }

  close(): void { this.closed = true; this.stop.abort(); this.wake?.() }
  // drop cuts the connection, which resumes at once.
  drop(): void { this.stop.abort() }

  private async run(): Promise<void> {
    while (!this.closed) {
      this.stop = new AbortController()
      const ok = await this.connect().catch(() => false)
      if (this.closed) return
      this.to.lost()
      if (ok) this.attempt = 0
      const wait = Math.min(15_000, 250 * 2 ** this.attempt++) * (0.75 + Math.random() / 2)
      await new Promise<void>((done) => {
        const timer = setTimeout(done, wait)
        this.wake = () => { clearTimeout(timer); done() }
      })
      this.wake = undefined
    }
  }

  // connect reads until the connection ends; true means that events came.
  private async connect(): Promise<boolean> {
    const query = new URLSearchParams({ offsets: "true" })
    if (this.cursor) query.set("after", this.cursor)
    let timer = setTimeout(() => this.stop.abort(), quiet)
    const alive = (): void => { clearTimeout(timer); timer = setTimeout(() => this.stop.abort(), quiet) }
    let got = false
    try {
      const res = await fetch(this.from.path + "?" + query, { signal: this.stop.signal, cache: "no-store", credentials: this.from.credentials, headers: { "X-Lathe-Page": "1" } })
      if (this.from.refused.includes(res.status)) { this.close(); this.to.denied(); return false }
      if (res.status === 400 && this.cursor) { this.cursor = ""; this.to.resync(); return true }
      if (!res.ok || !res.body) return false
      const reader = res.body.pipeThrough(new TextDecoderStream()).getReader()
      const parser = new Parser()
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return got
        alive()
        parser.push(value, (data, id) => {
          got = true
          this.take(data)
          if (id) this.cursor = id
        })
      }
    } finally {
      clearTimeout(timer)
    }
  }

  private take(data: string): void {
    let raw: any
    try { raw = JSON.parse(data) } catch { return }
    const e = raw?.payload ?? raw // the stream of all directories wraps its events
    if (!e || typeof e.type !== "string") return
    if (e.type === "server.connected") this.to.connected()
    else if (e.type === "server.resync") this.to.resync()
    else if (e.type !== "server.heartbeat") this.to.event({ type: e.type, properties: e.properties ?? {}, directory: raw.directory })
  }
}
