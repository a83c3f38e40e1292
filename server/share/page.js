// Follows a shared session: gets the page again when something changed, and puts in what the server rendered. The page
// is complete without it.
"use strict";

const base = location.pathname.replace(/\/$/, "");
const state = document.getElementById("state");
const shortest = 2000; // milliseconds between two requests
let main = document.querySelector("main");
let timer = null;
let pause = shortest;

// What the reader has opened stays open.
function opened(root) {
  return [...root.querySelectorAll("details")].map((d) => d.open);
}

async function refresh() {
  timer = null;
  const began = Date.now();
  const answer = await fetch(base, { credentials: "omit", cache: "no-store" }).catch(() => null);
  if (!answer) return;
  if (!answer.ok) {
    state.textContent = "This session is no longer shared.";
    return;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
  if (!fresh) return;
  const open = opened(main);
  fresh.querySelectorAll("details").forEach((d, i) => { d.open = open[i] === true; });
  main.replaceWith(fresh);
  main = fresh;
  pause = Math.max(shortest, 10 * (Date.now() - began)); // a long session is not asked for all the time
}

const source = new EventSource(base + "/event?after=" + encodeURIComponent(main.dataset.cursor));
source.onmessage = (e) => {
  const event = JSON.parse(e.data);
  if (event.type === "session.status") state.textContent = event.properties.status.type === "idle" ? "" : "Working …";
  if (/^(message|session|todo)\.|^server\.resync$/.test(event.type) && timer === null) timer = setTimeout(refresh, pause);
};
