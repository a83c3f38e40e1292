// Where the page is, in the fragment of its address: the server sees none of it, and the shell works offline.
import { Cell } from "./cell"

export interface Route { screen: "sessions" | "session" | "changes" | "terminal" | "usage" | "settings" | "new"; session: string; query: URLSearchParams }

function read(): Route {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?")
  const [a, b, c] = path!.split("/")
  const q = new URLSearchParams(query ?? "")
  if (a === "s" && b) return { screen: c === "changes" || c === "terminal" ? c : "session", session: b, query: q }
  if (a === "usage" || a === "settings" || a === "new") return { screen: a, session: "", query: q }
  return { screen: "sessions", session: "", query: q }
}

export const route = new Cell<Route>(read())
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#pair=")) location.reload() // the link was opened where the page was open already
  else route.value = read()
})

export const href = (session: string, part = ""): string => "#/s/" + encodeURIComponent(session) + (part && "/" + part)
export const go = (to: string): void => { location.hash = to }

// pairing is the one-use token of a link, which is taken out of the address at once so that no history keeps it.
export function pairing(): string {
  const m = /^#pair=([\w.~-]+)$/.exec(location.hash)
  if (!m) return ""
  history.replaceState(null, "", location.pathname)
  return m[1]!
}
