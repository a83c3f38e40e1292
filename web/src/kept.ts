// Small texts that this browser keeps across reloads: drafts, the theme. A browser may have no room, or forbid it.

export function load(key: string): string { try { return localStorage.getItem(key) ?? "" } catch { return "" } }

// keep keeps a text, or drops it if it is empty; false means that it lasts only until the page is closed.
export function keep(key: string, text: string): boolean {
  try { text ? localStorage.setItem(key, text) : localStorage.removeItem(key); return true } catch { return false }
}
