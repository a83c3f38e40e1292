// A list that draws only the rows near the screen. Heights are measured as rows are drawn; the row at the top of the screen
// stays where it is when rows above it come, go or grow, and at the end the list follows what is new.
import { type ComponentChild, type JSX, options } from "preact"
import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks"
import { Svg } from "./icon"

export interface Row { key: string; guess: number; draw: () => ComponentChild }

interface Held {
  heights: Map<string, number>
  stick: boolean
  anchor: { key: string; offset: number } | undefined
  range: [number, number]
  all: boolean // every row is drawn, for a printer
  offsets: Float64Array
  rows: Row[]
  width: number
  ours: number // the scroll position that we set, Infinity if we set none
  size: string // of the content and the screen when that was
}

const ahead = 900 // pixels that are drawn beyond the screen

const sizeOf = (el: HTMLElement): string => el.scrollHeight + " " + el.clientHeight + " " + el.clientWidth

export interface ListControl { toEnd(): void; toStart(): void; toRow(key: string): void; page(n: number): void }

export function List(p: {
  rows: Row[]; label: string; follow: boolean; fromStart?: boolean; onTop?: (() => void) | undefined; onBottom?: (() => void) | undefined; onStick: (at: boolean) => void
  control: { current: ListControl | null }; children?: ComponentChild
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null), inner = useRef<HTMLDivElement>(null)
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  const ref = useRef<Held | null>(null)
  const h = (ref.current ??= { heights: new Map(), stick: !p.fromStart, anchor: undefined, range: [0, 0], all: false, offsets: new Float64Array(1), rows: [], width: 0, ours: Infinity, size: "" })
  h.rows = p.rows

  const measure = (): void => {
    const o = new Float64Array(p.rows.length + 1)
    for (let i = 0; i < p.rows.length; i++) o[i + 1] = o[i]! + (h.heights.get(p.rows[i]!.key) ?? p.rows[i]!.guess)
    h.offsets = o
  }
  const indexAt = (y: number): number => {
    let low = 0, high = h.rows.length
    while (low < high) {
      const mid = (low + high) >> 1
      if (h.offsets[mid + 1]! > y) high = mid
      else low = mid + 1
    }
    return low
  }
  measure()
  const view = box.current?.clientHeight ?? 800
  const total = h.offsets[p.rows.length]!
  let top = h.stick ? Math.max(0, total - view) : box.current?.scrollTop ?? 0
  if (!h.stick && h.anchor) {
    const i = p.rows.findIndex((r) => r.key === h.anchor!.key)
    if (i >= 0) top = h.offsets[i]! - h.anchor.offset
  }
  h.range = h.all ? [0, p.rows.length] : [indexAt(top - ahead), Math.min(p.rows.length, indexAt(top + view + ahead) + 1)]

  // place puts the screen where it was, after rows changed their heights.
  const place = (): void => {
    const el = box.current
    if (!el) return
    measure()
    let to = el.scrollTop
    if (h.stick) to = el.scrollHeight - el.clientHeight
    else if (h.anchor) {
      const i = h.rows.findIndex((r) => r.key === h.anchor!.key)
      if (i >= 0) to = h.offsets[i]! - h.anchor.offset
    }
    if (Math.abs(to - el.scrollTop) > 0.5) { el.scrollTop = to; h.ours = el.scrollTop }
    h.size = sizeOf(el)
  }
  const hold = (el: HTMLElement): void => {
    const i = indexAt(el.scrollTop)
    const r = h.rows[i]
    h.anchor = r && { key: r.key, offset: h.offsets[i]! - el.scrollTop }
  }
  // more asks for what comes before and after, while there are less than a few screens of it.
  const more = (el: HTMLElement): void => {
    if (el.scrollTop < 1500) p.onTop?.()
    if (el.scrollHeight - el.scrollTop - el.clientHeight < 1500) p.onBottom?.()
  }
  const onScroll = (): void => {
    const el = box.current
    if (!el) return // the event came after the screen was left
    if (h.stick && sizeOf(el) !== h.size) place() // another size moved it, not the reader
    else if (Math.abs(el.scrollTop - h.ours) > 1) {
      const was = h.stick
      h.stick = p.follow && el.scrollHeight - el.scrollTop - el.clientHeight < 40
      if (h.stick !== was) p.onStick(h.stick)
      hold(el)
    }
    h.ours = Infinity
    more(el)
    const from = indexAt(el.scrollTop - ahead / 2), to = indexAt(el.scrollTop + el.clientHeight + ahead / 2)
    if (from < h.range[0] || to >= h.range[1] && h.range[1] < h.rows.length) redraw(undefined as never)
  }

  useEffect(() => {
    const el = inner.current!
    const sizes = new ResizeObserver((entries) => {
      let changed = false
      for (const e of entries) {
        const key = (e.target as HTMLElement).dataset["key"]
        if (e.target === box.current) {
          document.documentElement.style.setProperty("--bar", box.current.offsetWidth - box.current.clientWidth + "px")
          if (box.current.clientWidth !== h.width) { h.width = box.current.clientWidth; h.heights.clear() }
          changed = true
        } else if (key !== undefined && e.target.isConnected) {
          const height = (e.target as HTMLElement).offsetHeight
          if (h.heights.get(key) !== height) { h.heights.set(key, height); changed = true }
        }
      }
      if (changed) { place(); redraw(undefined as never) }
    })
    const nodes = new MutationObserver((all) => {
      for (const m of all) {
        m.addedNodes.forEach((n) => { if (n instanceof HTMLElement) sizes.observe(n) })
        m.removedNodes.forEach((n) => { if (n instanceof HTMLElement) sizes.unobserve(n) })
      }
    })
    const print = (e: Event): void => {
      h.all = e.type === "beforeprint"
      const later = options.debounceRendering
      options.debounceRendering = (f) => f() // the browser takes what is there when this returns
      redraw(undefined as never)
      if (later) options.debounceRendering = later
      else delete options.debounceRendering
    }
    for (const name of ["beforeprint", "afterprint"]) addEventListener(name, print)
    h.width = box.current!.clientWidth
    sizes.observe(box.current!)
    for (const n of el.children) sizes.observe(n)
    nodes.observe(el, { childList: true })
    p.control.current = {
      toEnd() { h.stick = true; h.anchor = undefined; p.onStick(true); redraw(undefined as never); requestAnimationFrame(place) },
      toStart() { if (h.rows[0]) this.toRow(h.rows[0].key) },
      toRow(key) { h.stick = false; h.anchor = { key, offset: 0 }; p.onStick(false); redraw(undefined as never); requestAnimationFrame(place) },
      page(n) { box.current?.scrollBy({ top: n * box.current.clientHeight * 0.9, behavior: "auto" }) },
    }
    return () => {
      for (const name of ["beforeprint", "afterprint"]) removeEventListener(name, print)
      sizes.disconnect()
      nodes.disconnect()
      p.control.current = null
    }
  }, [])
  useLayoutEffect(() => {
    for (const n of inner.current!.children) {
      const key = (n as HTMLElement).dataset["key"]
      if (key !== undefined) h.heights.set(key, (n as HTMLElement).offsetHeight)
    }
    measure()
    const pad = inner.current!
    pad.style.paddingTop = h.offsets[h.range[0]]! + "px"
    pad.style.paddingBottom = h.offsets[h.rows.length]! - h.offsets[h.range[1]]! + "px"
    const el = box.current
    if (el && !h.stick && p.fromStart && p.follow && el.scrollHeight - el.clientHeight < 40) { h.stick = true; p.onStick(true) } // all of it is on the screen
    place()
    if (el) more(el)
  })

  return (
    <div class="list" ref={box} onScroll={onScroll} tabIndex={0} role="log" aria-live="off" aria-label={p.label}>
      <div class="rows" ref={inner}>
        {p.rows.slice(h.range[0], h.range[1]).map((r) => <div class="row" key={r.key} data-key={r.key}>{r.draw()}</div>)}
      </div>
      {p.children}
    </div>
  )
}

export const ToEnd = (p: { go: () => void }): JSX.Element => (
  <button type="button" class="to-end" onClick={p.go} aria-label="To the latest message">
    <Svg d="M12 4v16M5 13l7 7 7-7" />
  </button>
)
