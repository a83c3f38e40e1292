// Cells are values that components watch.
import { useEffect, useReducer } from "preact/hooks"

export class Cell<T> {
  private readonly watchers = new Set<() => void>()
  constructor(private held: T) {}
  get value(): T { return this.held }
  set value(v: T) {
    if (v === this.held) return
    this.held = v
    this.touch()
  }
  // touch tells the watchers that something inside the value has changed.
  touch(): void { for (const f of [...this.watchers]) f() }
  watch(f: () => void): () => void {
    this.watchers.add(f)
    return () => { this.watchers.delete(f) }
  }
}

// useCell draws the component again whenever the cell changes.
export function useCell<T>(c: Cell<T>): T {
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  useEffect(() => c.watch(() => redraw(undefined as never)), [c])
  return c.value
}

// useWatch draws the component again whenever a set of watchers is called.
export function useWatch(watchers: Set<() => void>): void {
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  useEffect(() => {
    const f = (): void => redraw(undefined as never)
    watchers.add(f)
    return () => { watchers.delete(f) }
  }, [watchers])
}

// useMedia tells whether a media query holds, and draws the component again when that changes.
export function useMedia(query: string): boolean {
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  useEffect(() => {
    const m = matchMedia(query), f = (): void => redraw(undefined as never)
    m.addEventListener("change", f)
    return () => { m.removeEventListener("change", f) }
  }, [query])
  return matchMedia(query).matches
}
