// A day in an editor, driven by the official SDK: node acp-day.mjs PROJECT LATHE. It prints one line for each step.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [project, lathe] = process.argv.slice(2);

function check(ok, what, seen) {
  if (!ok) {
    console.log("FAILED " + what + " " + JSON.stringify(seen));
    process.exit(1);
  }
  console.log("ok " + what);
}

// open starts the agent and connects to it.
async function open(state) {
  const child = spawn(lathe, ["acp"], { stdio: ["pipe", "pipe", "inherit"] });
  const app = acp
    .client({ name: "day" })
    .onNotification(acp.methods.client.session.update, ({ params }) => void state.updates.push(params.update))
    .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
      state.asked.push(params);
      return { outcome: { outcome: "selected", optionId: state.option } };
    })
    .onRequest(acp.methods.client.elicitation.create, ({ params }) => {
      state.forms.push(params);
      return { action: "accept", content: { question1: "SQLite" } };
    })
    .onRequest(acp.methods.client.fs.readTextFile, ({ params }) => {
      if (!(params.path in state.buffers)) throw acp.RequestError.invalidParams();
      return { content: state.buffers[params.path] };
    })
    .onRequest(acp.methods.client.fs.writeTextFile, ({ params }) => {
      state.buffers[params.path] = params.content;
      writeFileSync(params.path, params.content);
      return {};
    });
  const connection = app.connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  const hello = await connection.agent.request(acp.methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, elicitation: { form: {} }, session: { notices: {}, compaction: {} } },
  });
  return { child, hello, ask: (method, params) => connection.agent.request(method, params), tell: (method, params) => connection.agent.notify(method, params) };
}

const m = acp.methods.agent;
const fresh = () => ({ updates: [], asked: [], forms: [], option: "once", buffers: {} });
const text = (state, kind) => state.updates.filter((u) => u.sessionUpdate === kind).map((u) => u.content.text).join("");
const last = (state, name) => state.updates.filter((u) => (u.sessionUpdate === "tool_call" || u.sessionUpdate === "tool_call_update") && u.name === name).at(-1);
const say = (sessionId, words) => ({ sessionId, prompt: [{ type: "text", text: words }] });

let state = fresh();
let a = await open(state);
check(a.hello.protocolVersion === 1 && a.hello.agentCapabilities.loadSession, "initialize", a.hello);

const s = await a.ask(m.session.new, { cwd: project, mcpServers: [] });
check(s.sessionId && s.modes.currentModeId === "build", "new", s);

let r = await a.ask(m.session.prompt, say(s.sessionId, "hello"));
check(r.stopReason === "end_turn" && text(state, "agent_message_chunk") === "Good morning.", "prompt", [r, state.updates]);

const file = join(project, "a.txt");
writeFileSync(file, "saved\n");
state.buffers[file] = "unsaved\n";
r = await a.ask(m.session.prompt, say(s.sessionId, "edit it"));
const edit = last(state, "edit");
check(edit?.status === "completed" && edit.content[0].type === "diff" && edit.content[0].oldText === "unsaved\n" && edit.content[0].newText === "edited\n", "edit with a diff", edit);
check(readFileSync(file, "utf8") === "edited\n" && state.buffers[file] === "edited\n", "unsaved buffer", state.buffers);
const asked = state.asked[0];
check(asked?.toolCall.content[0].type === "diff" && asked.options.length === 4, "permission with a diff", state.asked);

r = await a.ask(m.session.prompt, say(s.sessionId, "ask me"));
check(state.forms.length === 1 && last(state, "question").status === "completed", "question", state.forms);
check(state.updates.some((u) => u.sessionUpdate === "plan" && u.entries.length === 2 && u.entries[0].status === "in_progress"), "plan", state.updates);

const running = a.ask(m.session.prompt, say(s.sessionId, "take your time"));
while (last(state, "bash")?.status !== "in_progress") await new Promise((f) => setTimeout(f, 10));
await a.tell(m.session.cancel, { sessionId: s.sessionId });
r = await running;
check(r.stopReason === "cancelled", "cancel", r);

await a.ask(m.session.setMode, { sessionId: s.sessionId, modeId: "plan" });
check(state.updates.some((u) => u.sessionUpdate === "current_mode_update" && u.currentModeId === "plan"), "mode", state.updates.at(-1));
await a.ask(m.session.setMode, { sessionId: s.sessionId, modeId: "build" });

// The agent is killed in the middle of an answer.
const lost = a.ask(m.session.prompt, say(s.sessionId, "think long")).catch(() => "lost");
while (!text(state, "agent_message_chunk").includes("I begin")) await new Promise((f) => setTimeout(f, 10));
await new Promise((f) => setTimeout(f, 1500)); // so that a checkpoint has the text
a.child.kill("SIGKILL");
check((await lost) === "lost", "kill -9", "");

state = fresh();
a = await open(state);
await a.ask(m.session.load, { sessionId: s.sessionId, cwd: project, mcpServers: [] });
const prompts = state.updates.filter((u) => u.sessionUpdate === "user_message_chunk").map((u) => u.content.text);
check(prompts.join("|") === "hello|edit it|ask me|take your time|think long", "load", prompts);
const words = text(state, "agent_message_chunk");
check(words.startsWith("Good morning.") && words.includes("I begin") && words.indexOf("I begin") === words.lastIndexOf("I begin"), "no gap and no double", words);
r = await a.ask(m.session.prompt, say(s.sessionId, "still there?"));
check(r.stopReason === "end_turn" && text(state, "agent_message_chunk").endsWith("Here."), "the next turn", r);

const list = await a.ask(m.session.list, { cwd: project });
check(list.sessions.some((one) => one.sessionId === s.sessionId), "list", list);
await a.ask(m.session.close, { sessionId: s.sessionId });
await a.ask(m.session.resume, { sessionId: s.sessionId, cwd: project });
await a.ask(m.session.delete, { sessionId: s.sessionId });
check(!(await a.ask(m.session.list, { cwd: project })).sessions.some((one) => one.sessionId === s.sessionId), "delete", "");

a.child.stdin.end();
const code = await new Promise((f) => a.child.on("exit", f));
check(code === 0, "quit", code);
