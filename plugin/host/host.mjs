// The JavaScript host: runs the plugins and custom tools of a directory and speaks with lathe about them.
// docs/plugins.md has the protocol; what only this host knows are the method load, and that a message names
// the plugin it is for by number. Start reading at methods.
//
// It is started with the numbers of the files for the protocol: node host.mjs <out> <in>. Standard output
// is then not among them, so whatever plugins and their children print there does no harm.

import fs from "node:fs"
import module from "node:module"
import net from "node:net"
import path from "node:path"
import { pathToFileURL } from "node:url"
import { chunk, makeClient, takeFetch } from "./client.mjs"
import { entryOf, offer } from "./resolve.mjs"
import { connect, Encoded, Failure } from "./rpc.mjs"
import { makeShell } from "./shell.mjs"
import { needed } from "./support.mjs"
import { check, schemaOf, use } from "./zod.mjs"

const onBun = process.versions.bun !== undefined
const outFile = Number(process.argv[2] ?? 1)
const inFile = Number(process.argv[3] ?? 0)
const nonsense = -32010 // the code of an error that is the plugin's fault, and not what it wanted to say
const missing = -32011 // the code of an error that names a package which lathe may install for the host
const backlogMost = 2000 // events that wait for one plugin

const plugins = new Map() // by number: { hooks: [], tools: Map, backlog }
let here // what initialize told

// Files of the protocol

const exit = process.exit.bind(process)
const write = writer(outFile)

function writer(file) {
  if (outFile === 1) {
    const real = process.stdout.write.bind(process.stdout)
    process.stdout.write = (...args) => process.stderr.write(...args)
    return real
  }
  if (!onBun) {
    const socket = new net.Socket({ fd: file, readable: false, writable: true })
    socket.on("error", () => exit(0))
    return (text) => socket.write(text)
  }
  return (text) => {
    for (let rest = Buffer.from(text); rest.length > 0; ) {
      try {
        rest = rest.subarray(fs.writeSync(file, rest))
      } catch (error) {
        if (error.code !== "EAGAIN") exit(0)
      }
    }
  }
}

const input = inFile === 0 ? process.stdin : onBun ? fs.createReadStream("", { fd: inFile }) : new net.Socket({ fd: inFile, readable: true, writable: false })

// What plugins do outside of any call must not take the others with it.
process.exit = (code) => {
  throw new Error(`a plugin called process.exit(${code ?? ""}), which would have ended all of them`)
}
process.on("uncaughtException", (error) => complain("a plugin threw outside of any call", error))
process.on("unhandledRejection", (error) => complain("a plugin left a promise to fail", error))

function complain(what, error) {
  console.error(what, error)
  rpc.notify("log", { level: "error", message: `${what}: ${error?.stack ?? error}` })
}

// Loading

// hookModules makes imports work that plugins expect to.
async function hookModules() {
  if (here.support.zod?.path) use(here.support.zod.path)
  for (const { path: dir } of Object.values(here.support)) if (dir) offer(dir)
  if (onBun) return hookBun()
  globalThis.Bun ??= (await import("./bun.mjs")).default
  module.register("./loader.mjs", { parentURL: import.meta.url, data: here.support })
}

// hookBun gives Bun, which has TypeScript and what is imported from "bun", the stand-in for the plugin package.
async function hookBun() {
  const own = await import("./package.mjs")
  globalThis.Bun.plugin({
    name: "lathe",
    setup(build) {
      for (const name of ["@opencode-ai/plugin", "@opencode-ai/plugin/tool"]) build.module(name, () => ({ exports: own, loader: "object" }))
    },
  })
}

// summary says what a plugin has.
function summary(plugin) {
  const names = new Set()
  let auth, provider
  for (const hooks of plugin.hooks) {
    for (const [name, value] of Object.entries(hooks)) {
      if (name === "auth") auth = value?.provider
      else if (name === "provider") provider = value?.id
      else if (name !== "tool" && name !== "dispose" && value) names.add(name)
    }
  }
  const tools = [...plugin.tools].map(([id, { tool, schema }]) => ({ id, description: String(tool.description ?? ""), schema }))
  return { hooks: [...names], tools, auth, provider }
}

function addTool(plugin, id, tool, file) {
  if (typeof tool?.execute !== "function") throw new Error(`the tool ${id} has no function execute`)
  plugin.tools.set(id, { tool, schema: schemaOf(tool.args, file) })
}

// serversOf finds the functions of a module that are plugins.
function serversOf(loaded) {
  const main = loaded.default
  if (typeof main?.server === "function") return [main.server.bind(main)]
  if (typeof loaded.server === "function" && loaded.id !== undefined) return [loaded.server]
  const found = new Set(Object.values(loaded).filter((value) => typeof value === "function"))
  if (found.size === 0) throw new Error("it exports no function, and so no plugin")
  return [...found]
}

async function loadPlugin(plugin, file, options) {
  const loaded = await import(pathToFileURL(file).href)
  const client = await makeClient({ rpc, serverUrl: here.serverUrl, directory: here.directory, path: file })
  const context = {
    client,
    project: here.project,
    directory: here.directory,
    worktree: here.worktree,
    serverUrl: here.serverUrl,
    $: onBun ? globalThis.Bun.$ : makeShell({ cwd: here.directory }),
    experimental_workspace: { register: (type) => complain("experimental_workspace.register is not supported", type) },
  }
  for (const server of serversOf(loaded)) {
    const hooks = await server(context, options)
    if (hooks === null || typeof hooks !== "object") continue
    plugin.hooks.push(hooks)
    for (const [id, tool] of Object.entries(hooks.tool ?? {})) addTool(plugin, id, tool, file)
  }
}

// explained makes of an error that says what is missing one that has it installed, if that was not tried.
function explained(error) {
  const name = needed(error)
  if (!name) return error
  const reason = here.support[name]?.error
  if (reason) return new Error(`it needs ${name}, which could not be installed: ${reason}`)
  return new Failure(missing, `it needs ${name}`, { package: name })
}

async function loadTools(plugin, file) {
  const base = path.basename(file, path.extname(file))
  const loaded = await import(pathToFileURL(file).href)
  for (const [name, tool] of Object.entries(loaded)) {
    if (typeof tool?.execute === "function") addTool(plugin, name === "default" ? base : `${base}_${name}`, tool, file)
  }
  if (plugin.tools.size === 0) throw new Error("none of its exports is a tool: a tool is an object with a function execute")
}

// Calls

function of(number) {
  const plugin = plugins.get(number)
  if (!plugin) throw new Failure(-32602, `there is no plugin ${number}`)
  return plugin
}

// encode makes JSON of an output; one that cannot be any is the plugin's fault.
function encode(output) {
  try {
    return JSON.stringify(output) ?? "null"
  } catch (error) {
    throw new Failure(nonsense, `its output cannot be JSON: ${error.message.split("\n")[0]}`)
  }
}

// runHook lets the functions of one plugin change the output, and tells it only if they did.
async function runHook({ plugin, name, input: about, output }) {
  const before = encode(output)
  for (const hooks of of(plugin).hooks) {
    if (typeof hooks[name] !== "function") continue
    if (name === "config") await hooks.config(output)
    else await hooks[name](about ?? {}, output)
  }
  const after = encode(output)
  return new Encoded(after === before ? `{"output":null}` : `{"output":${after}}`)
}

// hear gives events to each plugin, in order and one after the other.
function hear({ events }) {
  for (const plugin of plugins.values()) {
    for (const hooks of plugin.hooks) {
      if (typeof hooks.event !== "function") continue
      for (const event of events) {
        if (event.type === "message.part.delta" && !hooks["event.part.delta"]) continue
        if (plugin.backlog >= backlogMost) break // it cannot keep up
        plugin.backlog++
        plugin.heard = plugin.heard
          .then(() => hooks.event({ event }))
          .catch((error) => complain("a plugin failed to hear an event", error))
          .finally(() => plugin.backlog--)
      }
    }
  }
}

async function runTool({ plugin, id, args, context }, abort) {
  const entry = of(plugin).tools.get(id)
  if (!entry) throw new Failure(-32602, `unknown tool: ${id}`)
  const { call, ...about } = context
  const result = await entry.tool.execute(check(entry.tool.args, args), {
    ...about,
    abort,
    metadata: (shown) => rpc.notify("progress", { call, title: shown?.title, metadata: shown?.metadata }),
    ask: (wish) => rpc.request("ask", { call, ...wish }, abort).then(() => undefined),
  })
  if (typeof result === "string") return result
  if (typeof result?.output === "string") return new Encoded(encode(result))
  throw new Failure(nonsense, "its result is neither a text nor an object with an output")
}

async function disposeAll() {
  for (const plugin of plugins.values()) for (const hooks of plugin.hooks) await hooks.dispose?.()
}

const methods = {
  async initialize(params) {
    const [major] = process.versions.node.split(".").map(Number)
    if (!onBun && major < 20) throw new Error(`JavaScript plugins need bun, or Node.js 20 or newer; this is ${process.version}`)
    here = { support: {}, ...params, serverUrl: new URL(params.serverUrl || "http://127.0.0.1:4096") }
    takeFetch(rpc, here.serverUrl)
    await hookModules()
    return {}
  },
  async load({ plugin: number, kind, path: at, options }) {
    const plugin = { hooks: [], tools: new Map(), backlog: 0, heard: Promise.resolve() }
    const file = fs.statSync(at).isDirectory() ? entryOf(at) : at
    try {
      if (kind === "tools") await loadTools(plugin, file)
      else await loadPlugin(plugin, file, options)
    } catch (error) {
      throw explained(error)
    }
    plugins.set(number, plugin)
    return summary(plugin)
  },
  hook: runHook,
  event: hear,
  "tool.execute": runTool,
  "fetch.chunk": chunk,
  dispose: disposeAll,
  ping: () => null,
}

const rpc = connect({ input, write, methods, onEnd: () => exit(0) })
