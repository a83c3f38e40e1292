// JSON-RPC 2.0 with one message a line, over a stream to read from and a function that writes.

export class Failure extends Error {
  constructor(code, message, data) {
    super(message)
    Object.assign(this, { code, data })
  }
}

// connect answers requests with methods[name](params, signal), hears notifications with the same
// methods, and returns what asks the other side. onEnd is called when the other side is gone.
export function connect({ input, write, methods, onEnd }) {
  let last = 0
  const waiting = new Map() // our requests
  const working = new Map() // theirs, each with what cancels it

  const send = (message) => write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n")

  // request asks; an AbortSignal takes the question back.
  function request(method, params, signal) {
    const id = ++last
    return new Promise((resolve, reject) => {
      const abort = () => {
        if (!waiting.delete(id)) return
        send({ method: "$/cancelRequest", params: { id } })
        reject(signal.reason ?? new Error("aborted"))
      }
      waiting.set(id, { resolve, reject, done: () => signal?.removeEventListener("abort", abort) })
      if (signal?.aborted) return abort()
      signal?.addEventListener("abort", abort, { once: true })
      send({ id, method, params })
    })
  }

  const notify = (method, params) => send({ method, params })

  // fail answers with an error. The id stands first, where a reader that cuts messages still finds it.
  function fail(id, error) {
    const message = error instanceof Error ? error.message || error.name : typeof error === "string" ? error : safeText(error)
    const code = Number.isInteger(error?.code) && error instanceof Failure ? error.code : 1
    send({ id, error: { code, message, data: error instanceof Failure ? error.data : undefined } })
  }

  async function answer({ id, method, params }) {
    const cancel = new AbortController()
    working.set(id, cancel)
    try {
      const handler = methods[method]
      if (!handler) throw new Failure(-32601, `unknown method: ${method}`)
      const result = await handler(params ?? {}, cancel.signal)
      if (result instanceof Encoded) write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result.text}}\n`)
      else send({ id, result: result ?? null })
    } catch (error) {
      fail(id, error)
    } finally {
      working.delete(id)
    }
  }

  function take(line) {
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return // not ours
    }
    if (message.method === "$/cancelRequest") return working.get(message.params?.id)?.abort(new Error("canceled"))
    if (message.method !== undefined && message.id !== undefined) return void answer(message)
    if (message.method !== undefined) {
      try {
        methods[message.method]?.(message.params ?? {})
      } catch (error) {
        console.error(error)
      }
      return
    }
    const call = waiting.get(message.id)
    if (!call) return
    waiting.delete(message.id)
    call.done()
    if (message.error) call.reject(new Failure(message.error.code, message.error.message))
    else call.resolve(message.result)
  }

  let pieces = []
  input.setEncoding("utf8")
  input.on("data", (text) => {
    let from = 0
    for (;;) {
      const at = text.indexOf("\n", from)
      if (at < 0) break
      pieces.push(text.slice(from, at))
      const line = pieces.length === 1 ? pieces[0] : pieces.join("")
      pieces = []
      from = at + 1
      if (line !== "") take(line)
    }
    if (from < text.length) pieces.push(text.slice(from))
  })
  input.on("end", onEnd)
  input.on("error", onEnd)
  return { request, notify }
}

// Encoded is a result that is JSON already.
export class Encoded {
  constructor(text) {
    this.text = text
  }
}

function safeText(value) {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}
