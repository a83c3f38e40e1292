// A server with a scripted model and a project of its own, and the two clients of the SDK on it.
// Every answer that comes over HTTP is held against the schema of its route (schema.mjs).
import { spawn } from "node:child_process"
import { mkdtempSync, mkdirSync, writeFileSync, symlinkSync, rmSync, realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { createServer } from "node:net"
import { join, dirname, delimiter } from "node:path"
import { createOpencodeServer, createOpencodeClient } from "@opencode-ai/sdk"
import { createOpencodeClient as createV2 } from "@opencode-ai/sdk/v2"
import { checked } from "./schema.mjs"

const lathe = process.env.LATHE_BIN

// begin starts everything; the test's own after hook ends it.
export async function begin(t, script = 'text "Hello."\nfinish stop\n', files = {}) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "lathe-conformance-")))
  const dir = join(top, "project"), bin = join(top, "bin")
  for (const d of [dir, bin, join(top, "home"), join(top, "data")]) mkdirSync(d)
  symlinkSync(lathe, join(bin, "opencode"))
  write(dir, { "notes.txt": "one\ntwo\n", ...files })
  await run("git", ["init", "-q"], dir)
  await run("git", ["add", "-A"], dir)
  await run("git", ["-c", "user.name=dev", "-c", "user.email=dev@localhost", "commit", "-qm", "first"], dir)
  const model = await scripted(top, script)
  const before = { ...process.env }
  Object.assign(process.env, {
    PATH: bin + delimiter + before.PATH, HOME: join(top, "home"), LATHE_DATA: join(top, "data"), LATHE_NO_AUTH: "1",
    XDG_CONFIG_HOME: join(top, "home", ".config"), XDG_STATE_HOME: join(top, "home", ".state"), XDG_CACHE_HOME: join(top, "home", ".cache"),
  })
  const server = await createOpencodeServer({ port: await freePort(), timeout: 20000, config: model.settings })
  Object.assign(process.env, before)
  const fetch = checked(t.name)
  const w = {
    t, top, dir, url: server.url, model,
    v1: createOpencodeClient({ baseUrl: server.url, directory: dir, fetch }),
    v2: createV2({ baseUrl: server.url, directory: dir, fetch }),
    fetch: (path, options) => fetch(new Request(server.url + path, options)),
    write: (f) => write(dir, f),
  }
  t.after(async () => {
    for (const stop of w.stops ?? []) await stop()
    server.close()
    model.stop()
    await remove(top)
  })
  return w
}

// remove waits for the server, which writes until it has ended.
async function remove(top) {
  const until = Date.now() + 30_000
  for (;;) {
    try {
      return rmSync(top, { recursive: true, force: true })
    } catch (e) {
      if (Date.now() > until) throw e
      await new Promise((r) => setTimeout(r, 50))
    }
  }
}

function write(dir, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
}

export function run(program, args, cwd) {
  return new Promise((resolve, reject) => {
    const p = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" } })
    let out = ""
    p.stdout.on("data", (d) => (out += d))
    p.stderr.on("data", (d) => (out += d))
    p.on("error", reject)
    p.on("close", (code) => (code === 0 ? resolve(out) : reject(new Error(`${program} ${args.join(" ")}: ${code}\n${out}`))))
  })
}

// freePort is one that nobody listens on: a port that was used before has connections of old.
function freePort() {
  return new Promise((resolve, reject) => {
    const s = createServer()
    s.on("error", reject)
    s.listen(0, "127.0.0.1", () => {
      const { port } = s.address()
      s.close(() => resolve(port))
    })
  })
}

// scripted starts the model that says what the script tells it to.
async function scripted(top, script) {
  const file = join(top, "model.script")
  writeFileSync(file, script)
  const p = spawn(lathe, ["debug", "model", file], { stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, LATHE_DATA: join(top, "model") } })
  let out = ""
  for await (const chunk of p.stdout) {
    out += chunk
    try {
      const settings = JSON.parse(out)
      return { settings, stop: () => p.kill("SIGINT") }
    } catch {}
  }
  throw new Error("the scripted model did not start: " + out)
}

// listen gathers the events of a stream until one fits.
export async function listen(w, client = w.v1) {
  const stop = new AbortController()
  const { stream } = await (client === w.v1 ? client.event.subscribe({ signal: stop.signal }) : client.event.subscribe({}, { signal: stop.signal }))
  const seen = [], waiting = []
  ;(async () => {
    try {
      for await (const e of stream) {
        seen.push(e)
        for (const it of waiting.splice(0)) it(e)
      }
    } catch {}
  })()
  w.stops = [...(w.stops ?? []), () => stop.abort()]
  return {
    seen,
    types: () => seen.map((e) => e.type),
    until: async (fits, what = "an event") => {
      const deadline = Date.now() + 20000
      for (let at = 0; ; ) {
        for (; at < seen.length; at++) if (fits(seen[at])) return seen[at]
        if (Date.now() > deadline) throw new Error(`waited for ${what}; seen: ${seen.map((e) => e.type).join(" ")}`)
        await Promise.race([new Promise((r) => waiting.push(r)), new Promise((r) => setTimeout(r, 1000))])
      }
    },
    stop: () => stop.abort(),
  }
}

// ok is the data of an answer that must be one.
export function ok(answer) {
  if (answer.error !== undefined) throw new Error("the server answered " + answer.response?.status + ": " + JSON.stringify(answer.error))
  return answer.data
}
