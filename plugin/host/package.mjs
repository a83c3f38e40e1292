// Stands in for @opencode-ai/plugin where a plugin does not bring it: the function that custom tools are
// written with, and zod, which is looked for when it is first needed.

import { need } from "./support.mjs"
import { zod } from "./zod.mjs"

export function tool(definition) {
  return definition
}

Object.defineProperty(tool, "schema", {
  enumerable: true,
  get() {
    const z = zod()
    if (!z) throw need("zod")
    return z
  },
})
