// Icons are lines on a grid of 24.
import type { JSX } from "preact"

export const Svg = (p: { d: string }): JSX.Element => <svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d={p.d} /></svg>
