import { keep, load } from "./kept"

export type Theme = "system" | "light" | "dark"
export const theme = (): Theme => {
  const t = load("theme")
  return t === "light" || t === "dark" ? t : "system"
}
export function applyTheme(t: Theme = theme()): void {
  if (t === "system") { keep("theme", ""); delete document.documentElement.dataset["theme"] }
  else { keep("theme", t); document.documentElement.dataset["theme"] = t }
}
