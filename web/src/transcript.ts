// A session folded from what was read of it and the events since: live ones, resumed ones and repeated ones alike. It is the
// twin of Transcript in the Go package lathe, and has the same rules. It does no I/O and knows no screen.
import type { Event, FileDiff, Message, Part, Session, Status, Todo, WithParts } from "./types"

export class PartView {
  grown: string | null = null // the text with the deltas since the part was sent whole
  rev = 0
  readonly watchers = new Set<() => void>()
  constructor(public part: Part) {}
  get text(): string { return this.grown ?? this.part.text ?? "" }
  get ended(): boolean {
    const p = this.part
    return p.type === "text" || p.type === "reasoning" ? (p.type === "text" ? p.time !== undefined && !!p.time.end : !!p.time?.end) : true
  }
}

export class MessageView {
  parts: PartView[] = []
  rev = 0
  readonly watchers = new Set<() => void>()
  constructor(public info: Message) {}
}

const before = (a: Message, b: Message): boolean => a.time.created !== b.time.created ? a.time.created < b.time.created : a.id < b.id

export class Transcript {
  status: Status = { type: "idle" }
  todos: Todo[] = []
  diff: FileDiff[] = []
  messages: MessageView[] = []
  deleted = false
  stale = false // a delta did not fit: something was missed, and the session must be read again
  structure = 0 // rises when messages or parts come and go
  changed = new Set<PartView | MessageView>() // since the screen last looked
  detached = false // the newest messages are not here, so that new ones are not either
  private byId = new Map<string, MessageView>()
  private orphans = new Map<string, PartView[]>()

  constructor(public session: Session, history: WithParts[] = []) {
    for (const m of history) this.read(m)
  }

  // apply takes an event in, and reports whether it was about this session.
  apply(e: Event): boolean {
    const p = e.properties
    const id = p.sessionID ?? p.info?.sessionID ?? p.part?.sessionID ?? (e.type.startsWith("session.") ? p.info?.id : undefined)
    if (id !== this.session.id) return false
    if (this.deleted && e.type !== "session.created") return true
    switch (e.type) {
      case "message.part.delta": this.delta(p); break
      case "message.part.updated": this.part(p.part); break
      case "message.part.removed": this.removePart(p.messageID, p.partID); break
      case "message.updated": this.message(p.info); break
      case "message.removed": this.removeMessage(p.messageID); break
      case "session.created": this.session = p.info; this.deleted = false; break
      case "session.updated": this.session = p.info; break
      case "session.deleted":
        this.session = p.info ?? this.session
        this.messages = []; this.byId.clear(); this.orphans.clear(); this.todos = []; this.diff = []
        this.status = { type: "idle" }; this.deleted = true; this.structure++
        break
      case "session.status": this.status = p.status; break
      case "todo.updated": this.todos = p.todos; break
      case "session.diff": this.diff = p.diff; break
    }
    return true
  }

  find(id: string): MessageView | undefined { return this.byId.get(id) }
  get oldest(): Message | undefined { return this.messages[0]?.info }
  get newest(): Message | undefined { return this.messages[this.messages.length - 1]?.info }

  // include takes messages that were read from the store. What is here already is newer and stays.
  include(read: WithParts[]): void {
    for (const m of read) {
      if (!this.byId.has(m.info.id)) this.read(m)
    }
  }

  // refresh takes messages that were just read, and are newer than what is here.
  refresh(read: WithParts[]): void {
    for (const m of read) {
      const held = this.byId.get(m.info.id)
      if (held) { held.parts = []; this.structure++ }
      this.read(m)
    }
  }

  // forget drops messages that are far from the screen; the store has them.
  forget(from: number, to: number): void {
    for (const m of this.messages.splice(from, to - from)) this.byId.delete(m.info.id)
    this.structure++
  }

  private read(m: WithParts): void {
    this.message(m.info, true)
    for (const p of m.parts) this.part(p)
  }

  private message(m: Message, read = false): void {
    const held = this.byId.get(m.id)
    if (held && held.info.time.created === m.time.created) {
      if (!held.info.error !== !m.error || !held.info.time.completed !== !m.time.completed) this.structure++ // it has a foot then
      held.info = m; held.rev++; this.changed.add(held)
      return
    }
    if (!held && !read && this.outside(m)) return
    const view = held ?? new MessageView(m)
    if (held) this.messages.splice(this.messages.indexOf(held), 1)
    else {
      view.parts = this.orphans.get(m.id) ?? []
      this.orphans.delete(m.id)
    }
    view.info = m
    let i = this.messages.length
    while (i > 0 && before(m, this.messages[i - 1]!.info)) i--
    this.messages.splice(i, 0, view)
    this.byId.set(m.id, view)
    view.rev++; this.structure++
  }

  // outside tells a message that is not within what is loaded: older than all of it, or newer while the newest are not here.
  private outside(m: Message): boolean {
    const first = this.messages[0], last = this.messages[this.messages.length - 1]
    if (this.hasOlder && first && before(m, first.info)) return true
    return this.detached && !!last && before(last.info, m)
  }
  hasOlder = false

  private removeMessage(id: string): void {
    this.orphans.delete(id)
    const held = this.byId.get(id)
    if (!held) return
    this.messages.splice(this.messages.indexOf(held), 1)
    this.byId.delete(id)
    this.structure++
  }

  private partsOf(message: string): PartView[] | undefined { return this.byId.get(message)?.parts ?? this.orphans.get(message) }

  private part(p: Part): void {
    let parts = this.partsOf(p.messageID)
    if (!parts) {
      if (this.detached) return
      parts = []
      this.orphans.set(p.messageID, parts)
    }
    const held = last(parts, p.id)
    if (held) {
      if (held.part.type !== p.type) this.structure++
      held.part = p; held.grown = null; held.rev++; this.changed.add(held)
    } else {
      const made = new PartView(p)
      parts.push(made)
      this.structure++
    }
  }

  private removePart(message: string, id: string): void {
    const parts = this.partsOf(message)
    const i = parts?.findIndex((v) => v.part.id === id) ?? -1
    if (parts && i >= 0) { parts.splice(i, 1); this.structure++ }
  }

  // delta extends a part that has not ended. With an offset, in UTF-16 units as in JavaScript, what is here already is
  // skipped and a hole is noticed.
  private delta(d: Record<string, any>): void {
    const held = last(this.partsOf(d.messageID) ?? [], d.partID)
    if (!held) {
      if (!this.detached && !this.hasOlder) this.stale = true
      return
    }
    if (d.field !== "text" || held.ended) return
    const have = held.text
    let text: string = d.delta
    if (typeof d.offset === "number") {
      if (d.offset > have.length) { this.stale = true; return }
      text = text.slice(have.length - d.offset)
    }
    if (text === "") return
    held.grown = have + text
    held.rev++
    this.changed.add(held)
  }

  // snapshot is what is here, as a server would send it.
  snapshot(): WithParts[] {
    return this.messages.map((m) => ({ info: m.info, parts: m.parts.map((v) => v.grown === null ? v.part : { ...v.part, text: v.grown }) }))
  }

  // flush tells the watchers what has changed; it returns true if rows must be laid out again.
  flush(): void {
    const all = [...this.changed]
    this.changed.clear()
    for (const v of all) for (const f of v.watchers) f()
  }
}

function last(parts: PartView[], id: string): PartView | undefined {
  for (let i = parts.length - 1; i >= 0; i--) if (parts[i]!.part.id === id) return parts[i]
  return undefined
}
