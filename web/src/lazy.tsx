// The terminal is loaded when somebody opens it.
import type { JSX } from "preact"
import { useEffect, useState } from "preact/hooks"
import { Spinner } from "./parts"

export function TerminalScreen(p: { directory: string }): JSX.Element {
  const [Loaded, set] = useState<{ f: (p: { directory: string }) => JSX.Element } | undefined>(undefined), [failed, setFailed] = useState(false)
  useEffect(() => { import("./terminal").then((m) => set({ f: m.Terminal }), () => setFailed(true)) }, [])
  if (failed) return <p class="empty">The terminal could not be loaded. Reload the page: the server may have a new version.</p>
  return Loaded ? <Loaded.f directory={p.directory} /> : <p class="empty"><Spinner /> Loading…</p>
}
