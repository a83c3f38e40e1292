// Sessions that were opened in this browser stay readable without a connection: the newest messages of the last few. A
// device that the server refuses loses them. A browser without room, or without a database, shows them only online.
import type { Part, Session, Todo, WithParts } from "./types"

export interface Seen { id: string; at: number; session: Session; messages: WithParts[]; todos: Todo[]; older: boolean }

const most = 20 // sessions
const room = 500_000 // characters of a session

// weigh returns the characters in a value, and stops early if they are more than a limit: a part can have megabytes.
export function weigh(v: unknown, limit: number): number {
  if (typeof v === "string") return v.length
  if (typeof v !== "object" || v === null) return 8
  let n = 8
  for (const k in v) {
    n += weigh((v as Record<string, unknown>)[k], limit - n)
    if (n > limit) break
  }
  return n
}

// newest returns the last messages that fit in the room. Of a text that would fill much of it, the beginning stays; other
// parts of that size are left out.
export function newest(all: WithParts[], limit = room): WithParts[] {
  const out: WithParts[] = [], largest = limit / 5
  let left = limit
  for (let i = all.length - 1; i >= 0; i--) {
    const parts: Part[] = []
    for (const p of all[i]!.parts) {
      if (weigh(p, largest) <= largest) parts.push(p)
      else if (p.text) parts.push({ ...p, text: p.text.slice(0, largest / 2) + "…" })
    }
    const m = { info: all[i]!.info, parts }
    left -= weigh(m, left)
    if (left < 0) break
    out.push(m)
  }
  return out.reverse()
}

let held: Promise<IDBDatabase> | undefined

function database(): Promise<IDBDatabase> {
  return held ??= new Promise((done, fail) => {
    const r = indexedDB.open("seen", 1)
    r.onupgradeneeded = () => { r.result.createObjectStore("sessions", { keyPath: "id" }).createIndex("at", "at") }
    r.onsuccess = () => { done(r.result) }
    r.onerror = r.onblocked = () => { fail(r.error) }
  })
}

// work runs a transaction, and returns what a request in it found; undefined if the browser cannot.
async function work<T>(mode: IDBTransactionMode, f: (s: IDBObjectStore) => IDBRequest<T> | void): Promise<T | undefined> {
  try {
    const t = (await database()).transaction("sessions", mode)
    const r = f(t.objectStore("sessions"))
    return await new Promise((done, fail) => { t.oncomplete = () => { done(r?.result) }; t.onabort = t.onerror = () => { fail(t.error) } })
  } catch {
    return undefined
  }
}

export const find = (id: string): Promise<Seen | undefined> => work<Seen>("readonly", (s) => s.get(id))
export const drop = (id: string): Promise<unknown> => work("readwrite", (s) => { s.delete(id) })
export const clear = (): Promise<unknown> => work("readwrite", (s) => { s.clear() })

// save stores a session, and drops the ones that were opened longest ago.
export function save(seen: Seen): Promise<unknown> {
  return work("readwrite", (s) => {
    s.put(seen)
    const count = s.count()
    count.onsuccess = () => {
      let over = count.result - most
      if (over <= 0) return
      s.index("at").openKeyCursor().onsuccess = (e) => {
        const c = (e.target as IDBRequest<IDBCursor | null>).result
        if (!c || over-- <= 0) return
        s.delete(c.primaryKey)
        c.continue()
      }
    }
  })
}
