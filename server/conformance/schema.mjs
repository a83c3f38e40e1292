// Holds every answer against the reference's description of its route. What differs on purpose
// stands in docs/http-differences.md and is left out here by its line in `differs`.
import { readFileSync, appendFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { join } from "node:path"
import Ajv from "ajv/dist/2020.js"

const doc = JSON.parse(gunzipSync(readFileSync(join(import.meta.dirname, "opencode-openapi.json.gz"))))
// The document has the shapes of the lists of the next API, but not their routes; these stand as in
// the types of the SDK.
for (const [name, shape] of Object.entries({
  agent: "AgentV2Info", command: "CommandV2Info", model: "ModelV2Info", provider: "ProviderV2Info",
  skill: "SkillV2Info", reference: "ReferenceInfo", integration: "IntegrationInfo",
})) {
  const at = (schema) => ({ $ref: "#/components/schemas/" + schema })
  const schema = {
    type: "object", required: ["location", "data"], additionalProperties: false,
    properties: { location: at("LocationInfo"), data: { type: "array", items: at(shape) } },
  }
  doc.paths["/api/" + name] = { get: { responses: { 200: { content: { "application/json": { schema } } } } } }
}
const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: false })
ajv.addSchema(doc, "doc")

const routes = Object.entries(doc.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, op]) => ({
    method: method.toUpperCase(), path, op,
    fits: new RegExp("^" + path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+") + "$"),
    plain: !path.includes("{"),
  })),
).sort((a, b) => b.plain - a.plain)

const compiled = new Map()

// validator is the check of a route's answer with a status; undefined if the document has none.
function validator(route, status) {
  const key = route.method + " " + route.path + " " + status
  if (!compiled.has(key)) {
    const r = route.op.responses?.[status], media = r?.content?.["application/json"]
    const pointer = (s) => s.replace(/~/g, "~0").replace(/\//g, "~1")
    compiled.set(key, media
      ? ajv.compile({ $ref: `doc#/paths/${pointer(encodeURI(route.path))}/${route.method.toLowerCase()}/responses/${status}/content/application~1json/schema` })
      : undefined)
  }
  return compiled.get(key)
}

let events
export function checkEvent(e) {
  events ??= ajv.compile({ $ref: "doc#/components/schemas/Event" })
  return events(e) ? undefined : ajv.errorsText(events.errors)
}

const log = process.env.LATHE_CONFORMANCE_LOG

// checked is a fetch that looks at what it brings.
export function checked(test) {
  return async (request) => {
    request.timeout = false
    const answer = await fetch(request)
    const url = new URL(request.url), type = answer.headers.get("content-type") ?? ""
    const route = routes.find((r) => r.method === request.method && r.fits.test(decodeURI(url.pathname)))
    const entry = { test, method: request.method, path: url.pathname, route: route?.path, status: answer.status }
    if (route && type.includes("json")) {
      const text = await answer.clone().text()
      const validate = validator(route, answer.status)
      if (validate) {
        entry.checked = true
        if (!validate(JSON.parse(text))) entry.wrong = ajv.errorsText(validate.errors) + " in " + text.slice(0, 400)
      }
    }
    if (log) appendFileSync(log, JSON.stringify(entry) + "\n")
    if (entry.wrong) throw new Error(`${entry.method} ${entry.route} ${entry.status}: ${entry.wrong}`)
    return answer
  }
}
