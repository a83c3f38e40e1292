// The rows of a session: what a list draws of its messages.
import type { ComponentChild, JSX } from "preact"
import type { Row } from "./list"
import { Foot, isShown, PartRow, type Place } from "./parts"
import type { MessageView, Transcript } from "./transcript"

// rowsOf makes the rows of a list. An answer of many steps is one piece for the reader: only its end has a foot. The caller
// draws prompts, and what stands for messages that are not here.
export function rowsOf(t: Transcript, place: Place, older: () => ComponentChild, prompt: (m: MessageView) => ComponentChild): Row[] {
  const out: Row[] = []
  if (!t.hasOlder) out.push({ key: "top", guess: 40, draw: () => <div class="rule"><span>{new Date(t.session.time.created).toLocaleString()}</span></div> })
  else out.push({ key: "more", guess: 40, draw: older })
  let asked = 0
  for (let i = 0; i < t.messages.length; i++) {
    const m = t.messages[i]!
    if (t.session.revert && m.info.id === t.session.revert.messageID) break
    if (m.info.role === "user") {
      asked = m.info.time.created
      out.push({ key: m.info.id, guess: 80, draw: () => prompt(m) })
    } else addAnswer(out, m, t.messages[i + 1], asked, place)
  }
  return out
}

function addAnswer(out: Row[], m: MessageView, next: MessageView | undefined, asked: number, place: Place): void {
  for (const v of m.parts) {
    if (isShown(v.part)) out.push({ key: v.part.id, guess: v.part.type === "tool" ? 44 : 90, draw: () => <PartRow view={v} user={false} place={place} /> })
  }
  const last = !next || next.info.role === "user"
  if (m.info.error || last && m.info.time.completed) {
    const took = asked && m.info.time.completed ? m.info.time.completed - asked : 0
    out.push({ key: m.info.id + "/foot", guess: 36, draw: () => <Foot view={m} took={took} /> })
  }
}

// UserBody is a prompt, with what lathe added to it unless only the user's own words are wanted.
export function UserBody(p: { m: MessageView; place: Place; ownOnly?: boolean }): JSX.Element {
  const shown = p.m.parts.filter((v) => isShown(v.part)), own = shown.filter((v) => !v.part.synthetic)
  return (
    <div class="user-side">
      {own.length > 0 && <div class="user-body">{own.map((v) => <PartRow key={v.part.id} view={v} user place={p.place} />)}</div>}
      {!p.ownOnly && shown.filter((v) => v.part.synthetic).map((v) => <PartRow key={v.part.id} view={v} user place={p.place} />)}
    </div>
  )
}
