import assert from "node:assert/strict"
import test from "node:test"
import { newID, position } from "./api"
import { parseDiff, sideBySide } from "./diff"
import { highlight } from "./highlight"
import { inline, Markdown, safeLink, split } from "./markdown"
import { ago, directionOf, money, output, prose, visible } from "./text"

test("hidden characters show in commands, and overrides are gone from prose", () => {
  assert.equal(visible("rm \u202etxt.exe\u200b"), "rm ⟨U+202E⟩txt.exe⟨U+200B⟩")
  assert.equal(prose("a\u202eb\u0000c עברית"), "abc עברית")
  assert.equal(output("\u001b[31mred\u001b[0m 10%\r100%\n\u001b]0;title\u0007ok\r\n"), "100%\nok\n")
})

test("the direction of a text is that of its first letter", () => {
  for (const rtl of ["- مرحبا and more", "1. שלום", "| أ | b |"]) assert.equal(directionOf(rtl), "rtl", rtl)
  for (const ltr of ["- Hello שלום", "", "12", "> é", "日本 שלום"]) assert.equal(directionOf(ltr), "ltr", ltr)
})

test("links go to the web and to mail only", () => {
  for (const bad of ["javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:x", "//evil.example", "/session", "java\nscript:x"]) assert.equal(safeLink(bad), undefined, bad)
  assert.equal(safeLink("https://go.dev/a b"), "https://go.dev/a%20b")
  assert.equal(safeLink("mailto:a@example.com"), "mailto:a@example.com")
})

// walk visits every element that Markdown makes.
function walk(v: any, f: (type: string, props: Record<string, unknown>) => void): void {
  if (Array.isArray(v)) return v.forEach((x) => walk(x, f))
  if (!v || typeof v !== "object") return
  if (typeof v.type === "string") f(v.type, v.props)
  walk(v.props?.children, f)
}

test("no text becomes markup", () => {
  const bad = "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) ![y](https://evil.example/p.png) <https://go.dev> **b** `c` [a](https://go.dev \"t\")"
  const seen: string[] = []
  walk(inline(bad), (type, props) => {
    seen.push(type)
    assert.ok(!("dangerouslySetInnerHTML" in props))
    assert.ok(!Object.keys(props).some((k) => /^on/i.test(k)))
    if (type === "a") assert.match(String(props["href"]), /^https:/)
  })
  assert.deepEqual(seen.sort(), ["a", "a", "a", "code", "span", "strong"])
  assert.ok(Markdown({ text: bad }))
})

test("a text that streams in changes only its last block", () => {
  const text = "# Title\n\nA paragraph\nof two lines.\n\n- one\n- two\n\n  more of two\n\n```go\nfunc a() {\n\n}\n```\nafter\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\nEnd."
  const whole = split(text)
  assert.deepEqual(whole.length, 8)
  assert.equal(whole[3], "```go\nfunc a() {\n\n}\n```")
  for (let n = 1; n < text.length; n++) {
    const part = split(text.slice(0, n))
    assert.deepEqual(part.slice(0, -2), whole.slice(0, Math.max(0, part.length - 2)), String(n))
  }
})

test("hostile texts take no time", () => {
  const began = performance.now()
  for (const s of ["*".repeat(8000), "**a".repeat(3000), "[".repeat(8000), "`".repeat(7999), "[a](".repeat(2000), "_a_".repeat(3000), "<https://".repeat(900), "~~a ".repeat(2000)]) inline(s)
  split("- ".repeat(200_000)); split("\n".repeat(200_000)); split("> ".repeat(100_000))
  assert.ok(performance.now() - began < 20_000)
})

test("tokens joined are the code", () => {
  const codes = ["package a\n// c\nfunc F(x int) string { return `a\"b` + \"\\\"\" }", "const a = /* x */ 'y' // z\n`t${1}`", "# c\ndef f(a): return \"\"\"x\"\"\"", "select 'a''b' -- c", "\"unclosed\n'", "echo \"a $b\" # c", "{\"a\": [1.5e3, true]}"]
  for (const code of codes) for (const language of ["go", "ts", "py", "sql", "sh", "json", "rust", "css", "none", ""]) {
    assert.equal(highlight(code, language).map((t) => t.text).join(""), code)
  }
  assert.deepEqual(highlight("func F() // x", "go").map((t) => t.kind), ["k", "", "f", "", "c"])
})

test("diffs have numbers, sides and marks", () => {
  const [f] = parseDiff("Index: a.go\n===\n--- a.go\n+++ a.go\n@@ -1,3 +1,3 @@ func a()\n one\n-return old(x)\n+return new(x)\n three\n\\ No newline at end of file\n", "a.go")
  assert.equal(f!.name, "a.go")
  assert.deepEqual([f!.added, f!.removed], [1, 1])
  const lines = f!.hunks[0]!.lines
  assert.deepEqual(lines.map((l) => [l.kind, l.old, l.now]), [[" ", 1, 1], ["-", 2, 0], ["+", 0, 2], [" ", 3, 3]])
  assert.deepEqual(lines[1]!.marks, [[7, 10]])
  assert.deepEqual(sideBySide(lines).map((r) => [r.left?.text, r.right?.text]), [["one", "one"], ["return old(x)", "return new(x)"], ["three", "three"]])
  assert.deepEqual(parseDiff("no diff at all"), [])
})

test("IDs and cursors are as the server makes them", () => {
  assert.match(newID("msg"), /^msg_[0-9a-f]{12}[0-9A-Za-z]{14}$/)
  assert.equal(position(5, "msg_1"), Buffer.from('{"id":"msg_1","time":5}').toString("base64url"))
})

test("times and sums read well", () => {
  assert.equal(ago(2000, 1000), "now") // the clock of the server is ahead
  assert.equal(ago(0, 90_000), "1 min")
  assert.deepEqual([money(0), money(1.234), money(0.0036)], ["$0.00", "$1.23", "$0.0036"])
})
