// Finds zod, and makes JSON Schema of what tools say about their arguments.

import { createRequire } from "node:module"
import path from "node:path"
import { need } from "./support.mjs"

let found

// use names the folder in which zod was installed for the host.
export function use(dir) {
  found ??= load(path.join(dir, "package.json"))
}

// zod is the host's own, or nothing.
export const zod = () => found

const load = (file) => {
  try {
    return createRequire(file)("zod")
  } catch {
    return undefined
  }
}

const isZod = (value) => typeof value?.safeParse === "function"
const isNew = (value) => value?._zod !== undefined

// schemaOf is the JSON Schema of the arguments of a tool: a map of zod types, of JSON Schemas, or a whole one.
export function schemaOf(args, file) {
  if (args === undefined || args === null) return { type: "object", properties: {} }
  if (isZod(args)) return convert(args, file)
  if (args.type === "object" && typeof args.properties === "object" && !isZod(args.properties)) return args
  const schema = { type: "object", properties: {}, required: [] }
  for (const [name, value] of Object.entries(args)) {
    schema.properties[name] = isZod(value) ? convert(value, file) : value
    const optional = isZod(value) ? value.safeParse(undefined).success : value?.optional === true
    if (!optional) schema.required.push(name)
  }
  if (schema.required.length === 0) delete schema.required
  return schema
}

function convert(type, file) {
  if (!isNew(type)) return old(type)
  const z = load(file) ?? found
  const options = { io: "input", unrepresentable: "any" }
  const schema = typeof z?.toJSONSchema === "function" ? z.toJSONSchema(type, options) : type.toJSONSchema?.(options)
  if (!schema) throw need("zod")
  delete schema.$schema
  delete schema["~standard"]
  return schema
}

// old converts types of zod 3, which cannot do it itself.
function old(type) {
  const def = type._def ?? {}
  const out = describe(def)
  return type.description ? { ...out, description: type.description } : out
}

function describe(def) {
  switch (def.typeName) {
    case "ZodString":
      return { type: "string" }
    case "ZodNumber":
      return { type: def.checks?.some((c) => c.kind === "int") ? "integer" : "number" }
    case "ZodBoolean":
      return { type: "boolean" }
    case "ZodArray":
      return { type: "array", items: old(def.type) }
    case "ZodObject":
      return schemaOf(typeof def.shape === "function" ? def.shape() : def.shape)
    case "ZodRecord":
      return { type: "object", additionalProperties: old(def.valueType) }
    case "ZodEnum":
      return { type: "string", enum: def.values }
    case "ZodNativeEnum":
      return { enum: Object.values(def.values) }
    case "ZodLiteral":
      return { const: def.value }
    case "ZodUnion":
    case "ZodDiscriminatedUnion":
      return { anyOf: [...(def.options.values?.() ?? def.options)].map(old) }
    case "ZodNullable":
      return { anyOf: [old(def.innerType), { type: "null" }] }
    case "ZodDefault":
      return { ...old(def.innerType), default: def.defaultValue() }
    case "ZodOptional":
    case "ZodReadonly":
    case "ZodCatch":
      return old(def.innerType)
    case "ZodEffects":
      return old(def.schema)
    default:
      return {}
  }
}

// check holds arguments against the types of a tool, with their defaults; JSON Schemas were checked before.
export function check(args, input) {
  if (args === undefined || args === null) return input
  if (isZod(args)) return unwrap("", args.safeParse(input))
  const typed = Object.entries(args).filter(([, value]) => isZod(value))
  if (typed.length === 0) return input
  const out = {}
  for (const [name, type] of Object.entries(args)) {
    const value = isZod(type) ? unwrap(name, type.safeParse(input?.[name])) : input?.[name]
    if (value !== undefined) out[name] = value
  }
  return out
}

function unwrap(name, result) {
  if (result.success) return result.data
  const issues = result.error?.issues ?? []
  const text = issues.map((i) => [[name, ...(i.path ?? [])].filter((p) => p !== "").join("."), i.message].filter(Boolean).join(": "))
  throw new Error(`the arguments do not fit: ${text.join("; ") || result.error}`)
}
