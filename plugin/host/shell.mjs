// The shell template that plugins get as $: `await $`ls ${dir}`.text()`. It has the face of Bun's and runs
// bash, or sh where there is none. What is put in is quoted; {raw: "…"} and lists are understood.

import { spawn } from "node:child_process"

export function quote(value) {
  if (Array.isArray(value)) return value.map(quote).join(" ")
  if (value !== null && typeof value === "object" && typeof value.raw === "string") return value.raw
  const text = String(value)
  if (/^[A-Za-z0-9_\/:.,@%+=-]+$/.test(text)) return text
  return `'${text.replaceAll("'", `'\\''`)}'`
}

class Output {
  constructor(stdout, stderr, exitCode) {
    Object.assign(this, { stdout, stderr, exitCode })
  }
  text(encoding = "utf8") {
    return this.stdout.toString(encoding)
  }
  json() {
    return JSON.parse(this.text())
  }
  bytes() {
    return new Uint8Array(this.stdout)
  }
  arrayBuffer() {
    return this.bytes().buffer
  }
  blob() {
    return new Blob([this.stdout])
  }
}

export class ShellError extends Error {
  constructor(output) {
    super(`Failed with exit code ${output.exitCode}`)
    this.name = "ShellError"
    Object.assign(this, { stdout: output.stdout, stderr: output.stderr, exitCode: output.exitCode, info: output })
  }
  text(encoding) {
    return this.info.text(encoding)
  }
  json() {
    return this.info.json()
  }
}

// Command starts when it is first waited for.
class Command {
  #script
  #options
  #running
  constructor(script, options) {
    this.#script = script
    this.#options = { ...options }
  }
  #set(name, value) {
    this.#options[name] = value
    return this
  }
  cwd(dir) {
    return this.#set("cwd", dir)
  }
  env(env) {
    return this.#set("env", env)
  }
  quiet() {
    return this.#set("quiet", true)
  }
  nothrow() {
    return this.#set("throws", false)
  }
  throws(should) {
    return this.#set("throws", should)
  }
  run() {
    this.#running ??= start(this.#script, this.#options)
    return this.#running
  }
  then(done, failed) {
    return this.run().then(done, failed)
  }
  catch(failed) {
    return this.run().catch(failed)
  }
  finally(always) {
    return this.run().finally(always)
  }
  async text(encoding) {
    return (await this.quiet().run()).text(encoding)
  }
  async json() {
    return (await this.quiet().run()).json()
  }
  async arrayBuffer() {
    return (await this.quiet().run()).arrayBuffer()
  }
  async blob() {
    return (await this.quiet().run()).blob()
  }
  async *lines() {
    yield* (await this.text()).split("\n") // with an empty one behind the last line break, as Bun has it
  }
  get [Symbol.toStringTag]() {
    return "ShellPromise"
  }
}

function start(script, { cwd, env, quiet, throws }) {
  const launch = (shell) =>
    new Promise((resolve, reject) => {
      const child = spawn(shell, ["-c", script], { cwd, env: env ?? process.env, stdio: ["ignore", "pipe", "pipe"] })
      const out = []
      const err = []
      child.stdout.on("data", (b) => (out.push(b), quiet || process.stderr.write(b)))
      child.stderr.on("data", (b) => (err.push(b), quiet || process.stderr.write(b)))
      child.on("error", reject)
      child.on("close", (code, signal) => resolve(new Output(Buffer.concat(out), Buffer.concat(err), code ?? (signal ? 128 : 1))))
    })
  const ended = launch("bash").catch((error) => {
    if (error.code === "ENOENT" && error.path === "bash") return launch("sh")
    throw error
  })
  return ended.then((output) => {
    if (output.exitCode !== 0 && throws !== false) throw new ShellError(output)
    return output
  })
}

export function makeShell(defaults = {}) {
  const shell = (strings, ...values) => {
    let script = strings.raw[0]
    values.forEach((value, i) => (script += quote(value) + strings.raw[i + 1]))
    return new Command(script, defaults)
  }
  const change = (name) => (value) => {
    defaults[name] = value
    return shell
  }
  return Object.assign(shell, {
    cwd: change("cwd"),
    env: change("env"),
    throws: change("throws"),
    nothrow: () => change("throws")(false),
    escape: quote,
    braces(pattern) {
      const found = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(pattern)
      if (!found) return [pattern]
      return found[2].split(",").flatMap((word) => shell.braces(found[1] + word + found[3]))
    },
    ShellError,
  })
}
