// Shows a shared session and follows it. Everything that was said is put in as text, never as HTML.
"use strict";

const base = location.pathname.replace(/\/$/, "");
const messages = new Map(); // id -> {info, parts: Map, box}
const list = document.getElementById("messages");
const state = document.getElementById("state");

function element(tag, name, text) {
  const e = document.createElement(tag);
  if (name) e.className = name;
  if (text !== undefined) e.textContent = text;
  return e;
}

function held(id, info) {
  let m = messages.get(id);
  if (!m) {
    m = { info, parts: new Map(), box: element("article") };
    m.box.hidden = true; // until something of it is shown
    messages.set(id, m);
    list.append(m.box);
  }
  if (info) {
    m.info = info;
    m.box.className = info.role;
  }
  return m;
}

function fill(box, part) {
  box.replaceChildren();
  box.className = "";
  if (part.type === "text" && !part.synthetic && part.text.trim()) {
    box.className = "text";
    box.textContent = part.text;
  } else if (part.type === "reasoning" && part.text.trim()) {
    box.className = "reasoning";
    box.textContent = part.text;
  } else if (part.type === "file") {
    box.className = "text";
    box.textContent = "[" + (part.filename || part.mime) + "]";
  } else if (part.type === "tool") {
    box.className = "tool";
    const s = part.state;
    const more = element("details");
    more.append(element("summary", s.status === "error" ? "error" : "", part.tool + " " + (s.title || "") + " (" + s.status + ")"));
    more.append(element("pre", "", s.output || s.error || JSON.stringify(s.input, null, 2)));
    box.append(more);
  }
}

// A message of which nothing is shown, such as a note of the program to the model, is not there.
function show(m) {
  m.box.hidden = ![...m.parts.values()].some((p) => p.box.className !== "");
}

function setPart(part) {
  const m = held(part.messageID);
  let p = m.parts.get(part.id);
  if (!p) {
    p = { box: element("div") };
    m.parts.set(part.id, p);
    m.box.append(p.box);
  }
  p.part = part;
  fill(p.box, part);
  show(m);
}

function remove(map, id) {
  const e = map.get(id);
  if (e) e.box.remove();
  map.delete(id);
}

const handlers = {
  "message.updated": (p) => held(p.info.id, p.info),
  "message.removed": (p) => remove(messages, p.messageID),
  "message.part.updated": (p) => setPart(p.part),
  "message.part.removed": (p) => {
    const m = held(p.messageID);
    remove(m.parts, p.partID);
    show(m);
  },
  "message.part.delta": (p) => {
    const m = messages.get(p.messageID);
    const held = m && m.parts.get(p.partID);
    if (!held || p.field !== "text") return;
    held.part.text += p.delta;
    fill(held.box, held.part);
    show(m);
  },
  "session.status": (p) => { state.textContent = p.status.type === "idle" ? "" : "working …"; },
  "server.resync": () => location.reload(),
};

function follow(cursor) {
  const source = new EventSource(base + "/event?after=" + encodeURIComponent(cursor));
  source.onmessage = (e) => {
    const event = JSON.parse(e.data);
    const handle = handlers[event.type];
    if (handle) handle(event.properties);
  };
}

async function begin() {
  const answer = await fetch(base + "/data");
  if (!answer.ok) {
    state.textContent = "This session is no longer shared.";
    return;
  }
  const data = await answer.json();
  document.title = data.title;
  document.getElementById("title").textContent = data.title;
  for (const m of data.messages) {
    held(m.info.id, m.info);
    m.parts.forEach(setPart);
  }
  follow(data.cursor);
}

begin();
