import assert from "node:assert/strict"
import test from "node:test"
import { Screen, styleOf } from "./screen"

const lines = (s: Screen): string[] => s.lines.map((l) => l.map((c) => c.c).join("").trimEnd())

test("a screen shows what programs write, cut anywhere", () => {
  const text = "one\r\ntwo\u001b[31;1mred\u001b[0m\u001b[2;2HX\u001b]0;title\u0007\u001b[3;1H\u001b[7mz\u001b[m😀\u001b[4;1Hgone\u001b[2K"
  for (let cut = 0; cut <= text.length; cut++) {
    const s = new Screen(10, 4)
    s.write(text.slice(0, cut))
    s.write(text.slice(cut))
    assert.deepEqual(lines(s).slice(0, 2), ["one", "tXored"], String(cut))
    assert.equal(lines(s)[2]![0], "z")
    assert.equal(lines(s)[3], "")
    assert.deepEqual([styleOf(s.lines[1]![3]!.style).fg, styleOf(s.lines[1]![3]!.style).bold, styleOf(s.lines[2]![0]!.style).inverse], [1, true, true])
  }
})

test("lines scroll away and are kept, the other screen is another", () => {
  const s = new Screen(5, 2)
  s.write("a\r\nb\r\nc")
  assert.deepEqual([lines(s), s.back.length], [["b", "c"], 1])
  s.write("\u001b[?1049hvim\u001b[?1049l")
  assert.deepEqual([lines(s), s.back.length], [["b", "c"], 1])
  s.write("\u001b[6n")
  assert.equal(s.reply, "\u001b[2;2R")
})

test("a smaller screen keeps the line of the cursor, also below another screen", () => {
  const s = new Screen(5, 4)
  s.write("a\r\nb\r\nc\r\nd")
  s.write("\u001b[?1049hvim")
  s.resize(5, 2)
  s.write("\u001b[?1049l")
  assert.deepEqual([lines(s), s.y, s.back.length], [["c", "d"], 1, 2])
  s.write("\u001b[?1049hvim\u001bc$")
  assert.deepEqual([lines(s), s.back.length], [["$", ""], 0])
})

test("hostile output neither fails nor grows without end", () => {
  const s = new Screen(20, 5)
  let seed = 7
  const rnd = (n: number): number => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed % n }
  const bits = ["\u001b[", "9999", ";", "H", "m", "L", "M", "P", "@", "r", "J", "K", "S", "T", "A", "x", "\n", "\u001b", "]", "?1049", "h", "l", "38;5;", "48;2;", "\u001b7", "\u001b8", "\u001bM", "\u001bc", "X", "0"]
  for (let i = 0; i < 20_000; i++) {
    s.write(bits[rnd(bits.length)]!)
    if (i % 500 === 0) s.resize(5 + rnd(60), 2 + rnd(20))
    assert.ok(s.lines.length === s.rows && s.lines.every((l) => l.length === s.columns) && s.y >= 0 && s.y < s.rows, String(i))
  }
  assert.ok(s.back.length <= 2000)
})

test("wide characters take two cells, marks none, and nothing shows half of one", () => {
  const s = new Screen(6, 3), row = (y: number): string[] => s.lines[y]!.map((c) => c.c)
  s.write("a日e\u0301😀\u200d|")
  assert.deepEqual([row(0), row(1)[0], s.x], [["a", "日", "", "e\u0301", "😀\u200d", ""], "|", 1])
  s.write("\r12345本\u001b[6n") // it does not fit
  assert.deepEqual([lines(s)[1], row(2).slice(0, 2), s.reply], ["12345", ["本", ""], "\u001b[3;3R"])
  for (const [change, want] of [["\u001b[1;3Hx", "a xe\u0301😀\u200d"], ["\u001b[1;2Hx", "ax e\u0301😀\u200d"], ["\u001b[1;3H\u001b[K", "a"], ["\u001b[1;3H\u001b[P", "a e\u0301😀\u200d"], ["\u001b[1;1H\u001b[@", " a日e\u0301"]] as const) {
    const t = new Screen(6, 3)
    t.write("a日e\u0301😀\u200d" + change)
    assert.equal(lines(t)[0], want, JSON.stringify(change))
  }
  s.resize(5, 3)
  assert.equal(lines(s)[0], "a日e\u0301")
})
