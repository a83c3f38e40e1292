// What plugins import from "bun", and find as Bun, where the host runs on Node: the few things that plugins
// use. What is missing fails by its name.

import { spawn as spawnNode, spawnSync as spawnSyncNode } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { Readable } from "node:stream"
import { fileURLToPath, pathToFileURL as toURL } from "node:url"
import { inspect as inspectNode } from "node:util"
import { makeShell } from "./shell.mjs"

export const $ = makeShell()
export const env = process.env
export const argv = process.argv
export const version = "1.2.0"
export const main = ""
export const inspect = inspectNode
export const pathToFileURL = toURL
export { fileURLToPath }
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms instanceof Date ? ms - Date.now() : ms))
export const nanoseconds = () => Number(process.hrtime.bigint())
export const escapeHTML = (text) =>
  String(text).replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" })[c])

const nameOf = (file) => (file instanceof URL ? fileURLToPath(file) : String(file?.name ?? file))

class BunFile {
  constructor(name) {
    this.name = name
  }
  text() {
    return fs.promises.readFile(this.name, "utf8")
  }
  async json() {
    return JSON.parse(await this.text())
  }
  async bytes() {
    return new Uint8Array(await fs.promises.readFile(this.name))
  }
  async arrayBuffer() {
    return (await this.bytes()).buffer
  }
  stream() {
    return Readable.toWeb(fs.createReadStream(this.name))
  }
  exists() {
    return fs.promises.stat(this.name).then((s) => s.isFile(), () => false)
  }
  stat() {
    return fs.promises.stat(this.name)
  }
  write(data) {
    return write(this.name, data)
  }
  delete() {
    return fs.promises.unlink(this.name)
  }
  unlink() {
    return this.delete()
  }
  get size() {
    return fs.statSync(this.name, { throwIfNoEntry: false })?.size ?? 0
  }
  get lastModified() {
    return fs.statSync(this.name, { throwIfNoEntry: false })?.mtimeMs ?? 0
  }
}

export const file = (name) => new BunFile(nameOf(name))

export async function write(target, data) {
  const name = nameOf(target)
  if (data instanceof BunFile || data instanceof Blob || data instanceof Response) data = new Uint8Array(await data.arrayBuffer())
  if (data instanceof ArrayBuffer) data = new Uint8Array(data)
  await fs.promises.mkdir(path.dirname(name), { recursive: true })
  await fs.promises.writeFile(name, data)
  return typeof data === "string" ? Buffer.byteLength(data) : data.byteLength
}

export function which(name, options = {}) {
  for (const dir of (options.PATH ?? process.env.PATH ?? "").split(path.delimiter)) {
    const full = path.join(dir, name)
    try {
      fs.accessSync(full, fs.constants.X_OK)
      if (fs.statSync(full).isFile()) return full
    } catch {
      // the next
    }
  }
  return null
}

// pattern makes a regular expression of a glob.
function pattern(glob) {
  let out = ""
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i]
    if (glob.startsWith("**/", i)) (out += "(?:[^/]+/)*"), (i += 2)
    else if (glob.startsWith("**", i)) (out += ".*"), i++
    else if (c === "*") out += "[^/]*"
    else if (c === "?") out += "[^/]"
    else if (c === "{") out += "(?:"
    else if (c === "}") out += ")"
    else if (c === ",") out += out.lastIndexOf("(?:") > out.lastIndexOf(")") ? "|" : ","
    else out += c.replace(/[.+^$()|[\]\\]/, "\\$&")
  }
  return new RegExp(`^${out}$`, "s")
}

export class Glob {
  constructor(glob) {
    this.expression = pattern(glob)
    this.dots = /(^|\/)\./.test(glob)
  }
  match(name) {
    return this.expression.test(name)
  }
  *scanSync(options = {}) {
    const { cwd = process.cwd(), absolute = false, dot = this.dots, onlyFiles = true, followSymlinks = false } = typeof options === "string" ? { cwd: options } : options
    const seen = new Set()
    const walk = function* (dir, below) {
      if (followSymlinks) {
        const real = fs.realpathSync(dir)
        if (seen.has(real)) return
        seen.add(real)
      }
      for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
        if (entry.name.startsWith(".") && !dot) continue
        const full = path.join(dir, entry.name)
        const name = below + entry.name
        let folder = entry.isDirectory()
        if (followSymlinks && entry.isSymbolicLink()) folder = fs.statSync(full, { throwIfNoEntry: false })?.isDirectory() ?? false
        if ((!folder || !onlyFiles) && this.match(name)) yield absolute ? full : name
        if (folder) yield* walk(full, name + "/")
      }
    }.bind(this)
    yield* walk(cwd, "")
  }
  async *scan(options) {
    yield* this.scanSync(options)
  }
}

export function spawn(command, options = {}) {
  const { cmd = command, cwd, env: environment, stdin, stdout = "pipe", stderr = "inherit", onExit } = Array.isArray(command) ? options : command
  const mode = (m) => (m === "inherit" || m === "ignore" ? m : m === null ? "ignore" : "pipe")
  const child = spawnNode(cmd[0], cmd.slice(1), { cwd, env: environment ?? process.env, stdio: [mode(stdin ?? "ignore"), mode(stdout), mode(stderr)] })
  const exited = new Promise((done, failed) => {
    child.on("error", failed)
    child.on("close", (code, signal) => (onExit?.(child, code, signal), done(code ?? 128)))
  })
  exited.catch(() => {})
  return {
    pid: child.pid,
    exited,
    stdin: child.stdin,
    stdout: child.stdout && Readable.toWeb(child.stdout),
    stderr: child.stderr && Readable.toWeb(child.stderr),
    kill: (signal) => child.kill(signal),
    unref: () => child.unref(),
    get exitCode() {
      return child.exitCode
    },
    get killed() {
      return child.killed
    },
  }
}

export function spawnSync(command, options = {}) {
  const { cmd = command, cwd, env: environment } = Array.isArray(command) ? options : command
  const { status, stdout, stderr, pid } = spawnSyncNode(cmd[0], cmd.slice(1), { cwd, env: environment ?? process.env, stdio: ["ignore", "pipe", "pipe"] })
  return { exitCode: status ?? 128, success: status === 0, stdout, stderr, pid }
}

const Bun = {
  $, argv, env, escapeHTML, file, fileURLToPath, Glob, inspect, main, nanoseconds, pathToFileURL, sleep, spawn, spawnSync, version, which, write,
}
export default Bun
