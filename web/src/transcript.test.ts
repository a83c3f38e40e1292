import assert from "node:assert/strict"
import test from "node:test"
import { Parser } from "./feed"
import { Transcript } from "./transcript"
import type { Event, Part, Session, WithParts } from "./types"

// A generator with a seed, so that a failure can be repeated.
function random(seed: number): (n: number) => number {
  return (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 2 ** 32) * n)
  }
}

const session: Session = { id: "ses_1", projectID: "p", directory: "/p", title: "t", time: { created: 1, updated: 1 } }

// Server is the rows of a session and its stream: what is live, and what a client that was cut off gets.
class Server {
  messages: WithParts[] = []
  seq = 0
  private born = new Map<string, number>()
  private touched = new Map<string, number>()
  private gone: { seq: number; born: number; event: Event }[] = []
  private text = new Map<string, string>() // of open parts, which their rows do not hold yet
  constructor(private rnd: (n: number) => number) {}

  private commit(id: string): void { this.seq++; if (!this.born.has(id)) this.born.set(id, this.seq); this.touched.set(id, this.seq) }
  private now(p: Part): Part { return this.text.has(p.id) ? { ...p, text: this.text.get(p.id)! } : p }

  // step does something, and returns the live events.
  step(): Event[] {
    const open = [...this.text.keys()], all = this.messages.flatMap((m) => m.parts)
    switch (this.messages.length === 0 ? 0 : this.rnd(8)) {
      case 0: {
        const m = { id: "msg_" + this.seq, sessionID: session.id, role: "assistant" as const, time: { created: 100 + this.rnd(3) + this.seq } }
        this.messages.push({ info: m, parts: [] })
        this.commit(m.id)
        return [{ type: "message.updated", properties: { sessionID: session.id, info: m } }]
      }
      case 1: case 2: {
        const m = this.messages[this.rnd(this.messages.length)]!
        const p: Part = { id: "prt_" + this.seq, sessionID: session.id, messageID: m.info.id, type: "text", text: "", time: { start: 1 } }
        m.parts.push(p)
        this.text.set(p.id, "")
        this.commit(p.id)
        return [{ type: "message.part.updated", properties: { sessionID: session.id, part: p } }]
      }
      case 3: case 4: case 5: {
        const id = open[this.rnd(open.length)], p = all.find((x) => x.id === id)
        if (!p) return []
        const have = this.text.get(p.id)!, delta = ["a", "é", "😀", "word ", "\n"][this.rnd(5)]!
        this.text.set(p.id, have + delta)
        return [{ type: "message.part.delta", properties: { sessionID: session.id, messageID: p.messageID, partID: p.id, field: "text", delta, offset: have.length } }]
      }
      case 6: {
        const id = open[this.rnd(open.length)], p = all.find((x) => x.id === id)
        if (!p) return []
        p.text = this.text.get(p.id)!
        p.time = { start: 1, end: 2 }
        this.text.delete(p.id)
        this.commit(p.id)
        return [{ type: "message.part.updated", properties: { sessionID: session.id, part: { ...p } } }]
      }
      default: {
        const m = this.messages[this.rnd(this.messages.length)]!
        if (this.rnd(3) > 0 && m.parts.length > 0) {
          const [p] = m.parts.splice(this.rnd(m.parts.length), 1)
          this.text.delete(p!.id)
          this.commit(p!.id)
          const event = { type: "message.part.removed", properties: { sessionID: session.id, messageID: m.info.id, partID: p!.id } }
          this.gone.push({ seq: this.seq, born: this.born.get(p!.id)!, event })
          return [event]
        }
        this.messages.splice(this.messages.indexOf(m), 1)
        for (const p of m.parts) this.text.delete(p.id)
        this.commit(m.info.id)
        const event = { type: "message.removed", properties: { sessionID: session.id, messageID: m.info.id } }
        this.gone.push({ seq: this.seq, born: this.born.get(m.info.id)!, event })
        return [event]
      }
    }
  }

  // since is what a client gets that has seen all up to n: the present state of what changed, then open texts so far.
  since(n: number): Event[] {
    const out: { at: number; event: Event }[] = this.gone.filter((g) => g.seq > n).map((g) => ({ at: g.seq, event: g.event }))
    for (const m of this.messages) {
      const at = (id: string): number => this.born.get(id)! > n ? this.born.get(id)! : this.touched.get(id)!
      if (this.touched.get(m.info.id)! > n) out.push({ at: at(m.info.id), event: { type: "message.updated", properties: { sessionID: session.id, info: m.info } } })
      for (const p of m.parts) if (this.touched.get(p.id)! > n || this.text.has(p.id)) out.push({ at: at(p.id), event: { type: "message.part.updated", properties: { sessionID: session.id, part: this.now(p) } } })
    }
    return out.sort((a, b) => a.at - b.at).map((x) => x.event)
  }

  state(): unknown {
    const sorted = [...this.messages].sort((a, b) => a.info.time.created - b.info.time.created || (a.info.id < b.info.id ? -1 : 1))
    return sorted.map((m) => [m.info.id, m.parts.map((p) => [p.id, this.now(p).text])])
  }
}

const state = (t: Transcript): unknown => t.messages.map((m) => [m.info.id, m.parts.map((p) => [p.part.id, p.text])])

test("a stream that is dropped at any event leads to the same state", () => {
  for (let seed = 1; seed <= 60; seed++) {
    for (let drop = 0; drop < 30; drop += 1 + seed % 3) {
      const rnd = random(seed), server = new Server(rnd), t = new Transcript(session)
      let seen = 0
      const again: Event[] = []
      for (let i = 0; i < 60; i++) {
        const live = server.step()
        if (i >= drop && i < drop + 7) continue // cut off
        if (i === drop + 7) for (const e of server.since(seen)) { t.apply(e); again.push(e) }
        else for (const e of live) t.apply(e)
        if (i === drop + 9) for (const e of server.since(seen)) t.apply(e) // the same once more, as after a second cut
        seen = i < drop ? server.seq : seen
      }
      assert.deepEqual(state(t), server.state(), `seed ${seed}, drop ${drop}`)
      assert.equal(t.stale, false, `seed ${seed}, drop ${drop}`)
    }
  }
})

test("deltas that come again are skipped, and a hole is noticed", () => {
  const t = new Transcript(session)
  const part = (text: string, end?: number): Event => ({ type: "message.part.updated", properties: { sessionID: "ses_1", part: { id: "prt_1", sessionID: "ses_1", messageID: "msg_1", type: "text", text, time: end ? { start: 1, end } : { start: 1 } } } })
  const delta = (delta: string, offset?: number): Event => ({ type: "message.part.delta", properties: { sessionID: "ses_1", messageID: "msg_1", partID: "prt_1", field: "text", delta, offset } })
  t.apply({ type: "message.updated", properties: { sessionID: "ses_1", info: { id: "msg_1", sessionID: "ses_1", role: "assistant", time: { created: 1 } } } })
  t.apply(part("He"))
  for (const e of [delta("llo 😀", 2), delta("llo 😀", 2), delta("o 😀!", 4), delta("", 9)]) t.apply(e)
  assert.equal(t.messages[0]!.parts[0]!.text, "Hello 😀!")
  assert.equal(t.stale, false)
  t.apply(delta("x", 50))
  assert.equal(t.stale, true)
  t.apply(part("Hello 😀! Done.", 2))
  t.apply(delta(" late", 9))
  assert.equal(t.messages[0]!.parts[0]!.text, "Hello 😀! Done.")
})

test("events of other sessions, deletions and what is outside of the window change nothing", () => {
  const t = new Transcript(session, [{ info: { id: "msg_5", sessionID: "ses_1", role: "user", time: { created: 500 } }, parts: [] }])
  t.hasOlder = true
  const message = (id: string, created: number, sessionID = "ses_1"): Event => ({ type: "message.updated", properties: { sessionID, info: { id, sessionID, role: "user", time: { created } } } })
  assert.equal(t.apply(message("msg_9", 900, "ses_2")), false)
  t.apply(message("msg_1", 100)) // older than all that is loaded: a page will bring it
  assert.deepEqual(t.messages.map((m) => m.info.id), ["msg_5"])
  t.detached = true
  t.apply(message("msg_9", 900))
  assert.deepEqual(t.messages.map((m) => m.info.id), ["msg_5"])
  t.detached = false
  t.apply(message("msg_9", 900))
  assert.deepEqual(t.messages.map((m) => m.info.id), ["msg_5", "msg_9"])
  t.apply({ type: "session.deleted", properties: { sessionID: "ses_1", info: session } })
  t.apply(message("msg_10", 1000))
  assert.equal(t.messages.length, 0)
  assert.equal(t.deleted, true)
})

test("the parser reads a stream cut anywhere", () => {
  const text = 'data: {"a":1}\n\nid: 5.x\ndata: {"b":"é😀"}\n\n: comment\n\ndata: one\ndata: two\n\n'
  for (let cut = 0; cut <= text.length; cut++) {
    const got: [string, string | undefined][] = [], p = new Parser()
    for (const chunk of [text.slice(0, cut), text.slice(cut)]) p.push(chunk, (data, id) => got.push([data, id]))
    assert.deepEqual(got, [['{"a":1}', undefined], ['{"b":"é😀"}', "5.x"], ["one\ntwo", undefined]])
  }
})
