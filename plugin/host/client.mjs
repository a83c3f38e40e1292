// The client that plugins get: the SDK's own where it is installed, else a stand-in with the same operations.
// Both speak through pipeFetch, which hands a request to lathe over the pipe, so that no socket is opened.

import { pathToFileURL } from "node:url"
import { entryOf, findPackage } from "./resolve.mjs"
import { operations } from "./operations.mjs"

const streams = new Map() // answers whose body is still coming

// pipeFetch is a fetch whose server is at the other end of the pipe.
export function pipeFetch(rpc) {
  return async (input, init) => {
    const request = new Request(input, init)
    const body = request.method === "GET" || request.method === "HEAD" ? "" : Buffer.from(await request.arrayBuffer())
    const text = body === "" || isText(body)
    const head = await rpc.request(
      "fetch",
      {
        method: request.method,
        url: request.url,
        headers: Object.fromEntries(request.headers),
        body: body === "" ? "" : text ? body.toString("utf8") : body.toString("base64"),
        encoding: text ? "" : "base64",
      },
      request.signal,
    )
    const empty = [101, 204, 205, 304].includes(head.status)
    const content = head.stream ? openStream(rpc, head.stream, request.signal) : Buffer.from(head.body ?? "", head.encoding || "utf8")
    return new Response(empty ? null : content, { status: head.status, headers: head.headers })
  }
}

// takeFetch sends what any code of a plugin asks of the server over the pipe too: the SDK reads streams with the
// fetch of everyone, and plugins make clients of their own.
export function takeFetch(rpc, serverUrl) {
  const usual = globalThis.fetch
  const pipe = pipeFetch(rpc)
  globalThis.fetch = (input, init) => {
    const url = URL.canParse(input?.url ?? input) ? new URL(input?.url ?? input) : undefined
    return url?.origin === serverUrl.origin ? pipe(input, init) : usual(input, init)
  }
}

const isText = (bytes) => Buffer.from(bytes.toString("utf8"), "utf8").equals(bytes)

function openStream(rpc, id, signal) {
  let cancel = () => {}
  const stream = new ReadableStream(
    {
      start(controller) {
        streams.set(id, { controller, wake: () => {} })
        cancel = () => {
          if (!streams.has(id)) return
          finish(id, signal.reason)
          rpc.notify("fetch.cancel", { stream: id })
        }
        signal?.addEventListener("abort", cancel, { once: true })
        early.get(id)?.forEach((piece) => piece())
        early.delete(id)
      },
      pull() {
        streams.get(id)?.wake()
      },
      cancel() {
        streams.get(id)?.wake()
        if (streams.delete(id)) rpc.notify("fetch.cancel", { stream: id })
      },
    },
    { highWaterMark: 4 },
  )
  return stream
}

const early = new Map() // pieces that came before their head was looked at

// chunk takes a piece of a stream, and answers when there is room for the next.
export function chunk({ stream: id, data, encoding, end }) {
  if (!streams.has(id)) {
    if (!early.has(id)) early.set(id, [])
    return new Promise((done) => early.get(id).push(() => done(chunk({ stream: id, data, encoding, end }))))
  }
  const open = streams.get(id)
  if (end) return finish(id)
  open.controller.enqueue(Buffer.from(data ?? "", encoding || "utf8"))
  if (open.controller.desiredSize > 0) return
  return new Promise((wake) => (open.wake = wake))
}

function finish(id, error) {
  const open = streams.get(id)
  streams.delete(id)
  open?.wake()
  try {
    if (error) open?.controller.error(error)
    else open?.controller.close()
  } catch {
    // it was closed by its reader
  }
}

// makeClient gives the plugin at a path its client.
export async function makeClient({ rpc, serverUrl, directory, path }) {
  const fetch = pipeFetch(rpc)
  const sdk = findPackage("@opencode-ai/sdk", path)
  if (sdk) {
    try {
      const { createOpencodeClient } = await import(pathToFileURL(entryOf(sdk)).href)
      return createOpencodeClient({ baseUrl: String(serverUrl), directory, fetch })
    } catch (error) {
      console.error("the SDK beside the plugin cannot be used; a stand-in is:", error)
    }
  }
  return standIn({ fetch, serverUrl, directory })
}

function standIn(context) {
  const root = {}
  for (const { name, method, path } of operations) {
    let at = root
    for (const part of name.slice(0, -1)) at = at[part] ??= {}
    at[name.at(-1)] = (options = {}) => (method === "STREAM" ? subscribe(context, path, options) : call(context, method, path, options))
  }
  return guard(root, "client")
}

// guard says by name what the stand-in does not have.
function guard(object, path) {
  for (const [name, value] of Object.entries(object)) if (typeof value === "object") object[name] = guard(value, `${path}.${name}`)
  return new Proxy(object, {
    get(target, name) {
      if (name in target || typeof name === "symbol" || name === "then" || name === "toJSON") return target[name]
      throw new Error(`${path}.${name} is not there: install @opencode-ai/sdk beside the plugin for the whole client`)
    },
  })
}

function address({ serverUrl, directory }, path, options) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
    const value = options.path?.[name]
    if (value === undefined) throw new Error(`the path ${path} needs ${name}`)
    return encodeURIComponent(value)
  })
  const url = new URL(filled, serverUrl)
  for (const [name, value] of Object.entries({ directory, ...options.query })) if (value !== undefined) url.searchParams.set(name, value)
  return url
}

async function call(context, method, path, options) {
  const headers = { ...options.headers }
  if (options.body !== undefined) headers["content-type"] = "application/json"
  const body = options.body === undefined ? undefined : JSON.stringify(options.body)
  const request = new Request(address(context, path, options), { method, headers, body, signal: options.signal })
  const response = await context.fetch(request)
  const text = response.status === 204 ? "" : await response.text()
  const value = response.headers.get("content-type")?.includes("json") && text !== "" ? JSON.parse(text) : text
  if (response.ok) return { data: value === "" ? {} : value, error: undefined, request, response }
  if (options.throwOnError) throw value
  return { data: undefined, error: value === "" ? {} : value, request, response }
}

async function subscribe(context, path, options) {
  const stream = async function* () {
    const response = await context.fetch(address(context, path, options), { headers: { accept: "text/event-stream" }, signal: options.signal })
    let rest = ""
    const decoder = new TextDecoder()
    for await (const piece of response.body) {
      rest += decoder.decode(piece, { stream: true }).replaceAll("\r\n", "\n")
      const blocks = rest.split("\n\n")
      rest = blocks.pop()
      for (const block of blocks) {
        const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart())
        if (data.length > 0) yield JSON.parse(data.join("\n"))
      }
    }
  }
  return { stream: stream() }
}
