// Requests to the server. A failed one is an ApiError whose message can be shown.

export class ApiError extends Error {
  constructor(message: string, readonly status: number) { super(message) }
}

let onDenied: () => void = () => {}
export const whenDenied = (f: () => void): void => { onDenied = f }

export interface Reply<T> { body: T; headers: Headers }

export async function send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Reply<T>> {
  const init: RequestInit = { method, headers: { Accept: "application/json", "X-Lathe-Page": "1" }, cache: "no-store", credentials: "same-origin" }
  if (signal) init.signal = signal
  if (body !== undefined) {
    init.body = JSON.stringify(body)
    ;(init.headers as Record<string, string>)["Content-Type"] = "application/json"
  }
  let res: Response
  try {
    res = await fetch(path, init)
  } catch (e) {
    if (signal?.aborted) throw e
    throw new ApiError("The server does not answer. Check that lathe serve is running and that you are connected.", 0)
  }
  if (res.status === 401) { onDenied(); throw new ApiError("This device is not signed in.", 401) }
  const text = await res.text()
  let value: any
  try { value = text === "" ? undefined : JSON.parse(text) } catch { value = undefined }
  if (!res.ok) throw new ApiError(reason(value) || `The server answered ${res.status}.`, res.status)
  return { body: value as T, headers: res.headers }
}

function reason(v: any): string {
  return typeof v?.data?.message === "string" ? v.data.message : typeof v?.message === "string" ? v.message : typeof v?.error === "string" ? v.error : ""
}

export const get = async <T>(path: string, signal?: AbortSignal): Promise<T> => (await send<T>("GET", path, undefined, signal)).body
export const post = async <T>(path: string, body: unknown = {}): Promise<T> => (await send<T>("POST", path, body)).body

// at adds the directory that a request is about.
export const at = (path: string, directory: string): string => path + (path.includes("?") ? "&" : "?") + "directory=" + encodeURIComponent(directory)

export const sessionPath = (id: string, rest = ""): string => "/session/" + encodeURIComponent(id) + rest
export const lathePath = (id: string, rest = ""): string => "/lathe/session/" + encodeURIComponent(id) + rest

// position is a place in a history, as the server's own cursors are.
export function position(time: number, id: string): string {
  return btoa(JSON.stringify({ id, time })).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
let counter = 0

// newID makes the ID of a message, so that a prompt that is sent twice is stored once.
export function newID(prefix: string, now = Date.now()): string {
  const low = (BigInt(now) * 4096n + BigInt(counter++ % 4096)) & 0xffffffffffffn
  const random = crypto.getRandomValues(new Uint8Array(14))
  return prefix + "_" + low.toString(16).padStart(12, "0") + [...random].map((b) => digits[b % 62]).join("")
}
