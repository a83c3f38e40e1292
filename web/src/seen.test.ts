import assert from "node:assert/strict"
import test from "node:test"
import { newest, weigh } from "./seen"
import type { WithParts } from "./types"

const message = (id: string, ...parts: object[]): WithParts => ({ info: { id } as WithParts["info"], parts: parts as WithParts["parts"] })

test("weighing a value ends at the limit", () => {
  assert.equal(weigh({ a: "abc", b: ["de"] }, 1000), 8 + 3 + 8 + 2)
  let read = 0
  const endless = new Proxy({}, { ownKeys: () => [...Array(1000).keys()].map(String), getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }), get: () => { read++; return "x".repeat(100) } })
  assert.ok(weigh(endless, 500) > 500)
  assert.ok(read < 10, `${read} members were read`)
})

test("the newest messages are stored, as many as there is room for", () => {
  const all = [...Array(50).keys()].map((i) => message("m" + i, { type: "text", text: "x".repeat(100) }))
  const some = newest(all, 1000)
  assert.ok(some.length > 3 && some.length < 10)
  assert.deepEqual(some, all.slice(-some.length))
  assert.deepEqual(newest(all), all)
})

test("what would fill the room is cut", () => {
  const all = [message("a", { type: "text", text: "before" }), message("b", { type: "tool", state: { output: "y".repeat(2e6) } }, { type: "text", text: "z".repeat(2e6) }, { type: "text", text: "after" })]
  const some = newest(all)
  assert.deepEqual(some.map((m) => m.parts.length), [1, 2])
  assert.equal(some[1]!.parts[1]!.text, "after")
  assert.ok(some[1]!.parts[0]!.text!.length < 100_000)
  assert.equal(all[1]!.parts[1]!.text!.length, 2e6)
})
