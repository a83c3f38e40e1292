// Every operation of the SDK's first client, in the order in which a program would use it.
import test from "node:test"
import assert from "node:assert/strict"
import { begin, listen, ok, run } from "./world.mjs"
import { Validator } from "@seriousme/openapi-schema-validator"
import { checkEvent } from "./schema.mjs"

const say = (text) => ({ parts: [{ type: "text", text }] })
const texts = (m) => m.parts.filter((p) => p.type === "text").map((p) => p.text)

test("a prompt is answered, and told in order", async (t) => {
  const w = await begin(t, 'text "Hel" "lo."\nfinish stop\n')
  const events = await listen(w)
  await events.until((e) => e.type === "server.connected")
  const s = ok(await w.v1.session.create({ body: { title: "A talk" } }))
  assert.match(s.id, /^ses_/)
  assert.equal(s.title, "A talk")
  assert.equal(s.directory, w.dir)
  const m = ok(await w.v1.session.prompt({ path: { id: s.id }, body: say("hi") }))
  assert.equal(m.info.role, "assistant")
  assert.equal(m.info.finish, "stop")
  assert.deepEqual(texts(m), ["Hello."])
  assert.deepEqual(m.parts.map((p) => p.type), ["step-start", "text", "step-finish"])
  await events.until((e) => e.type === "session.idle")
  for (const e of events.seen) assert.equal(checkEvent(e), undefined, JSON.stringify(e))
  const order = events.types()
  const at = (type, from = 0) => {
    const i = order.indexOf(type, from)
    assert.ok(i >= 0, type + " in " + order.join(" "))
    return i
  }
  assert.equal(order[0], "server.connected")
  const user = at("message.updated", at("session.created"))
  const part = at("message.part.updated", user)
  const busy = at("session.status", part)
  const delta = at("message.part.delta", busy)
  const idle = at("session.idle", delta)
  assert.equal(events.seen[idle - 1].properties.status.type, "idle")
  const said = events.seen.filter((e) => e.type === "message.part.delta").map((e) => e.properties.delta).join("")
  assert.equal(said, "Hello.")
  const list = ok(await w.v1.session.messages({ path: { id: s.id } }))
  assert.deepEqual(list.map((x) => x.info.role), ["user", "assistant"])
  assert.deepEqual(ok(await w.v1.session.message({ path: { id: s.id, messageID: m.info.id } })), m)
})

test("sessions are listed, changed, forked and removed", async (t) => {
  const w = await begin(t, 'text "One."\nfinish stop\n')
  const a = ok(await w.v1.session.create({ body: { title: "A" } }))
  const child = ok(await w.v1.session.create({ body: { parentID: a.id } }))
  assert.match(child.title, /^Child session - /)
  const b = ok(await w.v1.session.create({}))
  assert.match(b.title, /^New session - /)
  assert.deepEqual(ok(await w.v1.session.list()).map((s) => s.id).sort(), [a.id, child.id, b.id].sort())
  assert.deepEqual(ok(await w.v1.session.children({ path: { id: a.id } })).map((s) => s.id), [child.id])
  assert.equal(ok(await w.v1.session.update({ path: { id: a.id }, body: { title: "Another" } })).title, "Another")
  assert.equal(ok(await w.v1.session.get({ path: { id: a.id } })).title, "Another")
  assert.deepEqual(ok(await w.v1.session.status()), {})
  assert.deepEqual(ok(await w.v1.session.todo({ path: { id: a.id } })), [])
  assert.deepEqual(ok(await w.v1.session.diff({ path: { id: a.id } })), [])
  const m = ok(await w.v1.session.prompt({ path: { id: a.id }, body: say("one") }))
  const whole = ok(await w.v1.session.fork({ path: { id: a.id }, body: {} }))
  assert.equal(ok(await w.v1.session.messages({ path: { id: whole.id } })).length, 2)
  const before = ok(await w.v1.session.fork({ path: { id: a.id }, body: { messageID: m.info.id } }))
  assert.equal(ok(await w.v1.session.messages({ path: { id: before.id } })).length, 1)
  assert.equal(ok(await w.v1.session.delete({ path: { id: a.id } })), true)
  const gone = await w.v1.session.get({ path: { id: child.id } })
  assert.equal(gone.response.status, 404)
})

test("a call asks for permission, and is undone and redone", async (t) => {
  const w = await begin(t, [
    'call read {"filePath":"notes.txt"}', "finish tool-calls", "--", // or it is not overwritten
    'call write {"filePath":"notes.txt","content":"three\\n"}', "finish tool-calls", "--", 'text "Written."', "finish stop",
  ].join("\n"), { "lathe.json": '{"permission":{"edit":"ask"}}' })
  const events = await listen(w)
  const s = ok(await w.v1.session.create({}))
  const answer = w.v1.session.prompt({ path: { id: s.id }, body: say("write") })
  const asked = await events.until((e) => e.type === "permission.asked")
  assert.equal(asked.properties.permission, "edit")
  ok(await w.v1.postSessionIdPermissionsPermissionId({ path: { id: s.id, permissionID: asked.properties.id }, body: { response: "once" } }))
  const m = ok(await answer)
  assert.deepEqual(texts(m), ["Written."])
  const all = ok(await w.v1.session.messages({ path: { id: s.id } }))
  const call = all.flatMap((x) => x.parts).find((p) => p.tool === "write")
  assert.equal(call.state.status, "completed")
  const patch = all.flatMap((x) => x.parts).find((p) => p.type === "patch")
  assert.deepEqual(patch.files, [w.dir + "/notes.txt"])
  await events.until((e) => e.type === "session.diff" && e.properties.diff.length === 1)
  const diff = ok(await w.v1.session.diff({ path: { id: s.id }, query: { messageID: all[0].info.id } }))
  assert.deepEqual(diff.map((d) => [d.file, d.additions, d.deletions, d.status]), [["notes.txt", 1, 2, "modified"]])
  const undone = ok(await w.v1.session.revert({ path: { id: s.id }, body: { messageID: all[0].info.id } }))
  assert.equal(undone.revert.messageID, all[0].info.id)
  assert.equal(ok(await w.v1.file.read({ query: { path: "notes.txt" } })).content, "one\ntwo")
  const redone = ok(await w.v1.session.unrevert({ path: { id: s.id } }))
  assert.equal(redone.revert, undefined)
  assert.equal(ok(await w.v1.file.read({ query: { path: "notes.txt" } })).content, "three")
})

test("a prompt that is not waited for, and an abort", async (t) => {
  const w = await begin(t, 'text "Now"\nstall\n')
  const events = await listen(w)
  const s = ok(await w.v1.session.create({}))
  const sent = await w.v1.session.promptAsync({ path: { id: s.id }, body: say("go on for ever") })
  assert.equal(sent.response.status, 204)
  await events.until((e) => e.type === "message.part.delta")
  assert.equal(ok(await w.v1.session.status())[s.id].type, "busy")
  assert.equal(ok(await w.v1.session.abort({ path: { id: s.id } })), true)
  await events.until((e) => e.type === "session.idle")
  const last = ok(await w.v1.session.messages({ path: { id: s.id } })).at(-1)
  assert.equal(last.info.error.name, "MessageAbortedError")
  assert.deepEqual(ok(await w.v1.session.status()), {})
})

test("a command of the user's", async (t) => {
  const w = await begin(t)
  const s = ok(await w.v1.session.create({}))
  const m = ok(await w.v1.session.shell({ path: { id: s.id }, body: { agent: "build", command: "echo hi there" } }))
  const list = ok(await w.v1.session.messages({ path: { id: s.id } }))
  const call = list.flatMap((x) => x.parts).find((p) => p.type === "tool")
  assert.equal(call.tool, "bash")
  assert.match(call.state.output, /hi there/)
  assert.ok(m)
})

test("a session is shared and unshared", async (t) => {
  const w = await begin(t)
  const s = ok(await w.v1.session.create({ body: { title: "For <all> to see" } }))
  ok(await w.v1.session.prompt({ path: { id: s.id }, body: say("hi") }))
  const shared = ok(await w.v1.session.share({ path: { id: s.id } }))
  assert.match(shared.share.url, /^https?:\/\//)
  const page = await fetch(shared.share.url)
  assert.equal(page.status, 200)
  assert.match(page.headers.get("content-type"), /^text\/html/)
  const data = await (await fetch(shared.share.url + "/data")).json()
  assert.ok(JSON.stringify(data).includes("For <all> to see"))
  ok(await w.v1.session.unshare({ path: { id: s.id } }))
  assert.equal((await fetch(shared.share.url)).status, 404)
})

test("settings, models, agents and what else there is", async (t) => {
  const w = await begin(t)
  const config = ok(await w.v1.config.get())
  assert.equal(config.model, "script/script")
  const providers = ok(await w.v1.config.providers())
  assert.ok(providers.providers.some((p) => p.id === "script"))
  const all = ok(await w.v1.provider.list())
  assert.ok(all.connected.includes("script"))
  assert.equal(typeof ok(await w.v1.provider.auth()), "object")
  const agents = ok(await w.v1.app.agents())
  assert.equal(agents[0].name, "build")
  assert.ok(Array.isArray(ok(await w.v1.command.list())))
  assert.ok(ok(await w.v1.tool.ids()).includes("bash"))
  assert.ok(ok(await w.v1.tool.list({ query: { provider: "script", model: "script" } })).some((x) => x.id === "read"))
  assert.deepEqual(ok(await w.v1.mcp.status()), {})
  assert.deepEqual(ok(await w.v1.lsp.status()), [])
  assert.ok(Array.isArray(ok(await w.v1.formatter.status())))
  const path = ok(await w.v1.path.get())
  assert.equal(path.directory, w.dir)
  assert.equal(ok(await w.v1.project.current()).worktree, w.dir)
  assert.ok(ok(await w.v1.project.list()).some((p) => p.worktree === w.dir))
  assert.match(ok(await w.v1.vcs.get()).branch, /\w/)
  assert.equal(ok(await w.v1.app.log({ body: { service: "test", level: "info", message: "hello" } })), true)
  assert.equal(ok(await w.v1.auth.set({ path: { id: "openrouter" }, body: { type: "api", key: "sk-none" } })), true)
  assert.equal(ok(await w.v1.config.update({ body: { ...config, username: "dev" } })).username, "dev")
  assert.equal(ok(await w.v1.instance.dispose()), true)
  assert.equal(ok(await w.v1.config.get()).username, "dev")
})

test("MCP servers are added, used, switched off and on; here lathe is one itself", async (t) => {
  const w = await begin(t, `call own_sessions {"limit":5}
finish tool-calls
--
text "Seen."
finish stop
`)
  assert.deepEqual(ok(await w.v1.mcp.status()), {})
  const config = { type: "local", command: [process.env.LATHE_BIN, "mcp", "serve", "-C", w.dir] }
  assert.deepEqual(ok(await w.v1.mcp.add({ body: { name: "own", config } })), { own: { status: "connected" } })
  assert.ok(ok(await w.v1.tool.ids()).includes("own_sessions"))
  const s = ok(await w.v1.session.create({ body: { title: "With a server" } }))
  ok(await w.v1.session.prompt({ path: { id: s.id }, body: { parts: [{ type: "text", text: "look" }] } }))
  const messages = ok(await w.v1.session.messages({ path: { id: s.id } }))
  const call = messages.flatMap((m) => m.parts).find((p) => p.type === "tool")
  assert.equal(call.tool, "own_sessions")
  assert.equal(call.state.status, "completed", call.state.error)
  assert.match(call.state.output, /No sessions/) // a server that a client adds is confined, and our own data hidden from it
  assert.equal(ok(await w.v1.mcp.disconnect({ path: { name: "own" } })), true)
  assert.deepEqual(ok(await w.v2.mcp.status()), { own: { status: "disabled" } })
  assert.equal(ok(await w.v1.mcp.connect({ path: { name: "own" } })), true)
  assert.deepEqual(ok(await w.v1.mcp.status()), { own: { status: "connected" } })
  assert.equal((await w.v1.mcp.connect({ path: { name: "other" } })).response.status, 404)
  assert.equal((await w.v1.mcp.auth.start({ path: { name: "own" } })).response.status, 400)
})

test("files are found and read, and nothing outside", async (t) => {
  const w = await begin(t, undefined, { "src/deep/code.go": "package deep\n\nfunc Needle() {}\n", "pic.png": Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0]) })
  const hits = ok(await w.v1.find.text({ query: { pattern: "Needle" } }))
  assert.equal(hits[0].path.text, "src/deep/code.go")
  assert.equal(hits[0].line_number, 3)
  assert.equal(hits[0].submatches[0].match.text, "Needle")
  assert.ok(ok(await w.v1.find.files({ query: { query: "code" } })).includes("src/deep/code.go"))
  assert.deepEqual(ok(await w.v1.find.symbols({ query: { query: "x" } })), [])
  const list = ok(await w.v1.file.list({ query: { path: "" } }))
  assert.ok(list.findIndex((f) => f.name === "src") < list.findIndex((f) => f.name === "notes.txt"))
  assert.equal(ok(await w.v1.file.read({ query: { path: "notes.txt" } })).content, "one\ntwo")
  const pic = ok(await w.v1.file.read({ query: { path: "pic.png" } }))
  assert.equal(pic.encoding, "base64")
  for (const path of ["../../etc/passwd", "/etc/passwd", "src/../../../etc/passwd"]) {
    const r = await w.v1.file.read({ query: { path } })
    assert.ok(!JSON.stringify(r.data ?? "").includes("root:"), path)
  }
  assert.deepEqual(ok(await w.v1.file.status()), [])
})

test("a terminal", async (t) => {
  const w = await begin(t)
  const pty = ok(await w.v1.pty.create({ body: { command: "/bin/sh", title: "Mine" } }))
  assert.equal(pty.status, "running")
  assert.equal(pty.title, "Mine")
  const socket = new WebSocket(w.url.replace("http", "ws") + `/pty/${pty.id}/connect?directory=` + encodeURIComponent(w.dir))
  let out = ""
  socket.binaryType = "arraybuffer"
  socket.onmessage = (e) => { if (typeof e.data === "string") out += e.data }
  await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject })
  socket.send("echo $((20+22))\n")
  for (let i = 0; i < 200 && !out.includes("42"); i++) await new Promise((r) => setTimeout(r, 25))
  assert.match(out, /42/)
  assert.equal(ok(await w.v1.pty.update({ path: { id: pty.id }, body: { title: "Yours", size: { rows: 30, cols: 90 } } })).title, "Yours")
  assert.deepEqual(ok(await w.v1.pty.list()).map((p) => p.id), [pty.id])
  const closed = new Promise((r) => { socket.onclose = r })
  assert.equal(ok(await w.v1.pty.remove({ path: { id: pty.id } })), true)
  await closed
  assert.equal((await w.v1.pty.get({ path: { id: pty.id } })).response.status, 404)
})

test("a terminal program is driven", async (t) => {
  const w = await begin(t)
  const events = await listen(w)
  await events.until((e) => e.type === "server.connected")
  assert.equal(ok(await w.v1.tui.appendPrompt({ body: { text: "hello" } })), true)
  for (const op of ["openHelp", "openSessions", "openThemes", "openModels", "submitPrompt", "clearPrompt"]) assert.equal(ok(await w.v1.tui[op]()), true)
  assert.equal(ok(await w.v1.tui.executeCommand({ body: { command: "agent_cycle" } })), true)
  assert.equal(ok(await w.v1.tui.showToast({ body: { message: "done", variant: "success" } })), true)
  await events.until((e) => e.type === "tui.toast.show")
  const commands = events.seen.filter((e) => e.type === "tui.command.execute").map((e) => e.properties.command)
  assert.ok(commands.includes("prompt.submit") && commands.includes("agent.cycle"), commands.join())
  assert.equal(events.seen.find((e) => e.type === "tui.prompt.append").properties.text, "hello")
  const next = w.v1.tui.control.next()
  next.catch(() => {}) // it waits until the server ends, which is after the test
  assert.ok(next)
})

test("the second client speaks as well", async (t) => {
  const w = await begin(t, [
    'call question {"questions":[{"question":"Which?","header":"Pick","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}]}]}',
    "finish tool-calls", "--", 'text "B then."', "finish stop", "--", 'text "More."', "finish stop",
  ].join("\n"))
  const events = await listen(w, w.v2)
  const s = ok(await w.v2.session.create({ title: "Two" }))
  const answer = w.v2.session.prompt({ sessionID: s.id, parts: [{ type: "text", text: "ask me" }] })
  const asked = await events.until((e) => e.type === "question.asked")
  assert.equal(ok(await w.v2.question.list())[0].id, asked.properties.id)
  assert.equal(ok(await w.v2.question.reply({ requestID: asked.properties.id, answers: [["B"]] })), true)
  const m = ok(await answer)
  assert.deepEqual(texts(m), ["B then."])
  assert.deepEqual(ok(await w.v2.permission.list()), [])
  const first = ok(await w.v2.session.messages({ sessionID: s.id, limit: 2 }))
  assert.equal(first.length, 2)
  ok(await w.v2.session.prompt({ sessionID: s.id, parts: [{ type: "text", text: "more" }] }))
  const mine = ok(await w.v2.session.messages({ sessionID: s.id }))
  assert.equal(mine.length, 5)
  const part = mine.at(-1).parts.find((p) => p.type === "text")
  ok(await w.v2.part.update({ sessionID: s.id, messageID: mine.at(-1).info.id, partID: part.id, part: { ...part, text: "Edited." } }))
  assert.equal(ok(await w.v2.session.message({ sessionID: s.id, messageID: mine.at(-1).info.id })).parts.find((p) => p.id === part.id).text, "Edited.")
  assert.equal(ok(await w.v2.part.delete({ sessionID: s.id, messageID: mine.at(-1).info.id, partID: part.id })), true)
  assert.equal(ok(await w.v2.session.deleteMessage({ sessionID: s.id, messageID: mine.at(-1).info.id })), true)
  assert.equal(ok(await w.v2.global.health()).healthy, true)
  assert.ok(Array.isArray(ok(await w.v2.app.skills())))
  assert.ok(ok(await w.v2.app.agents()).some((a) => a.name === "build"))
  assert.ok(Array.isArray(ok(await w.v2.vcs.status())))
  assert.ok(Array.isArray(ok(await w.v2.vcs.diff({ mode: "git" }))))
  const project = ok(await w.v2.project.current())
  assert.equal(ok(await w.v2.project.update({ projectID: project.id, name: "Mine" })).name, "Mine")
  assert.ok(ok(await w.v2.project.directories({ projectID: project.id })).length >= 1)
  assert.ok(ok(await w.v2.pty.shells()).length >= 1)
  assert.ok(ok(await w.v2.experimental.session.list()).some((x) => x.id === s.id))
  assert.equal(typeof ok(await w.v2.experimental.capabilities.get()), "object")
  assert.equal((await w.v2.tui.selectSession({ sessionID: "ses_000000000000aaaaaaaaaaaaaa" })).response.status, 404)
  assert.equal(ok(await w.v2.tui.selectSession({ sessionID: s.id })), true)
})

test("what the terminal client of the reference asks at its start", async (t) => {
  const w = await begin(t)
  const at = "?location%5Bdirectory%5D=" + encodeURIComponent(w.dir)
  assert.equal((await (await w.fetch("/api/location" + at)).json()).directory, w.dir)
  const found = await (await w.fetch("/api/fs/find" + at + "&query=note&limit=20")).json()
  assert.ok(found.data.some((f) => f.path === "notes.txt" && f.type === "file"))
  for (const path of ["capabilities", "console", "resource", "workspace", "workspace/status"]) assert.equal((await w.fetch("/experimental/" + path)).status, 200, path)
})

test("the lists of the next API have what the classic ones have", async (t) => {
  const w = await begin(t, undefined, {
    ".opencode/command/greet.md": "---\ndescription: Greets\nmodel: script/script\nsubtask: true\n---\nGreet $1 politely.\n",
    ".opencode/skill/bake/SKILL.md": "---\nname: bake\ndescription: Bakes a cake\n---\nBake.\n",
    ".opencode/agent/poet.md": "---\ndescription: Rhymes\nmode: primary\nsteps: 4\ncolor: accent\ntemperature: 0.5\npermission:\n  edit: deny\n---\nRhyme.\n",
    "opencode.json": JSON.stringify({ references: { notes: { path: "./docs", description: "Notes" }, far: "https://example.com/x.git" } }),
    "docs/a.md": "a\n",
  })
  const location = { directory: w.dir }
  const list = async (name) => {
    const body = ok(await w.v2.v2[name].list({ location }))
    assert.equal(body.location.directory, w.dir, name)
    return body.data
  }
  const names = (all, key = "name") => all.map((x) => x[key]).sort()
  const agents = await list("agent")
  assert.deepEqual(names(agents, "id"), names(ok(await w.v1.app.agents())))
  const poet = agents.find((a) => a.id === "poet")
  assert.deepEqual([poet.mode, poet.description, poet.system, poet.steps, poet.color], ["primary", "Rhymes", "Rhyme.", 4, "accent"])
  assert.ok(poet.permissions.some((r) => r.action === "edit" && r.resource === "*" && r.effect === "deny"))
  const commands = await list("command")
  assert.deepEqual(names(commands), names(ok(await w.v1.command.list())))
  assert.deepEqual(commands.find((c) => c.name === "greet"), {
    name: "greet", description: "Greets", template: "Greet $1 politely.", model: { providerID: "script", id: "script" }, subtask: true,
  })
  const bake = (await list("skill")).find((s) => s.name === "bake")
  assert.deepEqual([bake.description, bake.slash, bake.location, bake.content.trim()], ["Bakes a cake", true, w.dir + "/.opencode/skill/bake/SKILL.md", "Bake."])
  ok(await w.v1.auth.set({ path: { id: "anthropic" }, body: { type: "api", key: "sk-never-shown" } }))
  const classic = ok(await w.v1.config.providers()).providers
  assert.deepEqual(names(await list("provider"), "id"), names(classic, "id"))
  const models = await list("model")
  assert.deepEqual(names(models, "id"), classic.flatMap((p) => Object.keys(p.models)).sort())
  assert.ok(models.some((m) => m.id === "script" && m.providerID === "script"))
  const big = models.filter((m) => m.providerID === "anthropic")
  assert.ok(big.some((m) => m.limit.context > 0 && m.cost[0].input > 0 && m.variants.length > 0), JSON.stringify(big))
  assert.ok(models.every((m, i) => i === 0 || models[i - 1].time.released >= m.time.released))
  const all = ok(await w.v1.provider.list()).all
  const integrations = await list("integration")
  assert.deepEqual(names(integrations, "id"), names(all, "id"))
  assert.ok(integrations.find((i) => i.id === "openai").methods.some((m) => m.type === "env" && m.names.includes("OPENAI_API_KEY")))
  assert.deepEqual(integrations.find((i) => i.id === "anthropic").connections[0], { type: "credential", id: "anthropic", label: "API key" })
  for (const data of [models, integrations, await list("provider")]) assert.ok(!JSON.stringify(data).includes("sk-never-shown"))
  assert.deepEqual(await list("reference"), [
    { name: "notes", path: w.dir + "/docs", description: "Notes", source: { type: "local", path: w.dir + "/docs", description: "Notes" } },
  ])
})

test("mistakes are answered in words", async (t) => {
  const w = await begin(t)
  const s = ok(await w.v1.session.create({}))
  for (const [method, path, body, statuses] of [
    ["GET", "/session/ses_000000000000aaaaaaaaaaaaaa", undefined, [404]],
    ["GET", "/session/nonsense", undefined, [400, 404, 500]],
    ["GET", `/session/${s.id}/message/msg_000000000000aaaaaaaaaaaaaa`, undefined, [404]],
    ["POST", `/session/${s.id}/message`, "{", [400, 500]],
    ["POST", `/session/${s.id}/message`, '{"parts":7}', [400]],
    ["POST", `/session/${s.id}/message`, '{"parts":[{"type":"text"}]}', [400]],
    ["POST", "/session", "[]", [400]],
    ["GET", `/session/${s.id}/message?before=nonsense&limit=1`, undefined, [400]],
    ["GET", `/session/${s.id}/message?before=e30`, undefined, [400]],
    ["POST", "/permission/per_000000000000aaaaaaaaaaaaaa/reply", '{"reply":"once"}', [404]],
    ["POST", "/question/que_000000000000aaaaaaaaaaaaaa/reply", '{"answers":[]}', [404]],
    ["GET", "/nowhere", undefined, [404]],
    ["DELETE", "/session", undefined, [404, 405]],
  ]) {
    const r = await fetch(w.url + path, { method, body, headers: body ? { "content-type": "application/json" } : {} })
    const text = await r.text()
    assert.ok(statuses.includes(r.status), `${method} ${path}: ${r.status} ${text}`)
    assert.ok(JSON.parse(text), `${method} ${path}`)
  }
  assert.equal(ok(await w.v1.session.abort({ path: { id: "ses_000000000000aaaaaaaaaaaaaa" } })), true)
})

test("commands run at the shell of git see what was done", async (t) => {
  const w = await begin(t, ['call write {"filePath":"made.txt","content":"x\\n"}', "finish tool-calls", "--", 'text "Made."', "finish stop"].join("\n"))
  const s = ok(await w.v1.session.create({}))
  const m = ok(await w.v1.session.prompt({ path: { id: s.id }, body: say("make it") }))
  assert.match(await run("git", ["status", "--short"], w.dir), /\?\? made\.txt/)
  ok(await w.v1.session.revert({ path: { id: s.id }, body: { messageID: m.info.parentID } }))
  assert.equal(await run("git", ["status", "--short"], w.dir), "")
})

test("slash commands run, and a conversation is summed up", async (t) => {
  const w = await begin(t, [
    'text "Good day, world."', "finish stop", "--",
    'text "Nothing of use."', "finish stop", "--", 'text "Nothing of use."', "finish stop", "--",
    'text "After it."', "finish stop",
  ].join("\n"), { ".opencode/command/greet.md": "---\ndescription: Greets\n---\nGreet $1 politely.\n" })
  const events = await listen(w)
  const names = ok(await w.v1.command.list()).map((c) => c.name)
  for (const name of ["greet", "init", "review"]) assert.ok(names.includes(name), names.join())
  const s = ok(await w.v1.session.create({}))
  const m = ok(await w.v1.session.command({ path: { id: s.id }, body: { command: "greet", arguments: "world" } }))
  assert.deepEqual(texts(m), ["Good day, world."])
  const executed = await events.until((e) => e.type === "command.executed")
  assert.deepEqual([executed.properties.name, executed.properties.arguments], ["greet", "world"])
  const said = ok(await w.v1.session.messages({ path: { id: s.id } }))
  assert.ok(texts(said[0]).includes("Greet world politely."))
  const bad = await w.v1.session.command({ path: { id: s.id }, body: { command: "nonsense", arguments: "" } })
  assert.ok(bad.response.status >= 400 && JSON.stringify(bad.error).includes("greet"), JSON.stringify(bad.error))
  assert.equal(ok(await w.v1.session.summarize({ path: { id: s.id }, body: { providerID: "script", modelID: "script" } })), true)
  await events.until((e) => e.type === "session.compacted")
  const list = ok(await w.v1.session.messages({ path: { id: s.id } }))
  assert.ok(list.some((x) => x.info.role === "assistant" && x.info.summary === true))
  assert.ok(list.some((x) => x.parts.some((p) => p.type === "compaction")))
  assert.deepEqual(texts(ok(await w.v1.session.prompt({ path: { id: s.id }, body: say("and now") }))), ["After it."])
  for (const e of events.seen) assert.equal(checkEvent(e), undefined, JSON.stringify(e))
})

test("a subagent works in a session of its own", async (t) => {
  const brief = "Look through the notes of this project and say how many lines the file has. Use the read tool, look at nothing else, change nothing at all, and answer with one short sentence that holds the number and the name of the file, please."
  const w = await begin(t, [
    `call task {"description":"count lines","prompt":${JSON.stringify(brief)},"subagent_type":"explore"}`, "finish tool-calls", "--",
    'text "Two lines in notes.txt."', "finish stop", "--", 'text "It has two lines."', "finish stop",
  ].join("\n"))
  const s = ok(await w.v1.session.create({}))
  const m = ok(await w.v1.session.prompt({ path: { id: s.id }, body: say("how long is it?") }))
  assert.deepEqual(texts(m), ["It has two lines."])
  const children = ok(await w.v1.session.children({ path: { id: s.id } }))
  assert.equal(children.length, 1)
  const call = ok(await w.v1.session.messages({ path: { id: s.id } })).flatMap((x) => x.parts).find((p) => p.type === "tool")
  assert.equal(call.state.metadata.sessionId, children[0].id)
  assert.match(call.state.output, /Two lines in notes\.txt\./)
})

test("the description of the API is valid, and names what it answers with", async (t) => {
  const w = await begin(t)
  const doc = await (await fetch(w.url + "/doc")).json()
  const found = await new Validator().validate(doc)
  assert.ok(found.valid, JSON.stringify(found.errors, null, 1))
  assert.match(doc.openapi, /^3\.1/)
  const unions = Object.values(doc.components.schemas).filter((s) => s.discriminator)
  assert.ok(unions.length >= 3, "unions with a discriminator: " + unions.length)
  for (const [path, methods] of Object.entries(doc.paths)) for (const [method, op] of Object.entries(methods)) assert.ok(op.operationId, method + " " + path)
})
