// Where packages and their entries are.

import fs from "node:fs"
import path from "node:path"

const roots = [] // folders of packages that were installed for the host

// offer makes the folder of a package known to findPackage.
export const offer = (dir) => roots.push(dir)

// findPackage looks for a package beside a file, in the folders above it, and among the host's own.
export function findPackage(name, from) {
  for (let dir = from; ; dir = path.dirname(dir)) {
    const found = path.join(dir, "node_modules", name)
    if (fs.existsSync(path.join(found, "package.json"))) return found
    if (path.dirname(dir) === dir) break
  }
  return roots.find((dir) => dir.endsWith(path.join("node_modules", name)))
}

const conditions = ["import", "node", "default", "require"]

function pick(target) {
  if (typeof target === "string") return target
  if (Array.isArray(target)) return target.map(pick).find(Boolean)
  if (target === null || typeof target !== "object") return undefined
  for (const [name, value] of Object.entries(target)) {
    if (!conditions.includes(name)) continue
    const found = pick(value)
    if (found) return found
  }
  return undefined
}

// entryOf is the file of a package to import: what it has for servers, else its main one.
export function entryOf(dir) {
  const file = path.join(dir, "package.json")
  const about = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : {}
  const { exports } = about
  const subpaths = exports !== null && typeof exports === "object" && Object.keys(exports).some((key) => key.startsWith("."))
  const wanted = [subpaths ? pick(exports["./server"]) : undefined, subpaths ? pick(exports["."]) : pick(exports), about.module, about.main, "index.js", "index.mjs", "index.ts"]
  if (about.name === "@opencode-ai/sdk") wanted.shift() // whose server is another thing
  for (const name of wanted) {
    if (!name) continue
    for (const candidate of [name, `${name}.js`, `${name}/index.js`]) {
      const full = path.join(dir, candidate)
      if (fs.statSync(full, { throwIfNoEntry: false })?.isFile()) return full
    }
  }
  throw new Error(`${dir} has nothing to load: its package.json names neither exports nor main`)
}
