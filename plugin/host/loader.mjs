// Module hooks for Node, in a thread of their own: TypeScript, imports without an extension, "bun", and the
// packages that a plugin may expect without bringing them.

import fs from "node:fs"
import module, { createRequire } from "node:module"
import path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { need } from "./support.mjs"

let support = {}

export function initialize(data) {
  support = data
}

// folder is where a package is that was installed for the host.
function folder(name) {
  if (!support[name]?.path) throw need(name)
  return path.join(support[name].path, "package.json")
}

const own = { bun: "./bun.mjs", "@opencode-ai/plugin": "./package.mjs", "@opencode-ai/plugin/tool": "./package.mjs" }
const missing = new Set(["ERR_MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED", "ERR_UNSUPPORTED_DIR_IMPORT", "MODULE_NOT_FOUND"])
const here = (file) => new URL(file, import.meta.url).href

export async function resolve(specifier, context, next) {
  if (specifier === "bun") return { url: here(own.bun), format: "module", shortCircuit: true }
  try {
    return await next(specifier, context)
  } catch (error) {
    if (!missing.has(error.code)) throw error
    if (own[specifier]) return { url: here(own[specifier]), format: "module", shortCircuit: true }
    const name = /^(zod|@opencode-ai\/sdk)(\/|$)/.exec(specifier)?.[1]
    if (name) return next(specifier, { ...context, parentURL: pathToFileURL(folder(name)).href })
    const other = guess(specifier, context.parentURL)
    if (other) return next(other, context)
    throw error
  }
}

// guess finds the file of an import that leaves its extension out, or names the one of the built file.
function guess(specifier, parent) {
  if (!/^(\.{1,2}\/|\/|file:)/.test(specifier)) return undefined
  const base = new URL(specifier, parent)
  const plain = base.href.replace(/\.[cm]?js$/, "")
  return [".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.js", "/index.mjs"]
    .flatMap((end) => [base.href + end, plain + end])
    .find((url) => fs.statSync(fileURLToPath(url), { throwIfNoEntry: false })?.isFile())
}

export async function load(url, context, next) {
  if (!url.startsWith("file:")) return next(url, context)
  const file = fileURLToPath(url)
  if (/\.[cm]?tsx?$/.test(file)) {
    return { format: "module", source: strip(fs.readFileSync(file, "utf8"), file), shortCircuit: true }
  }
  // A file beside no package.json is taken for what it looks like.
  if (file.endsWith(".js") && !file.includes("node_modules") && context.format !== "module") {
    const source = fs.readFileSync(file, "utf8")
    if (/^\s*(import|export)\b/m.test(source)) return { format: "module", source, shortCircuit: true }
  }
  return next(url, context)
}

function strip(source, file) {
  if (module.stripTypeScriptTypes && !file.endsWith("x")) return module.stripTypeScriptTypes(source, { mode: "transform", sourceUrl: file })
  const { transform } = createRequire(folder("sucrase"))("sucrase")
  const transforms = file.endsWith("x") ? ["typescript", "jsx"] : ["typescript"]
  return transform(source, { transforms, filePath: file, preserveDynamicImport: true, disableESTransforms: true }).code
}
