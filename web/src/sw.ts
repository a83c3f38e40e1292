// The service worker keeps the shell, so that the page opens without a connection. It never keeps answers of the API. A new
// version is fetched whole before it takes over, and files have hashed names, so that old and new never mix.
declare const SHELL: string[]
declare const VERSION: string
declare const self: ServiceWorkerGlobalScope

const name = "shell-" + VERSION

self.addEventListener("install", (e) => {
  e.waitUntil(caches.open(name).then((c) => c.addAll(SHELL.map((u) => new Request(u, { cache: "reload", headers: u === "/" ? { Accept: "text/html" } : {} })))).then(() => self.skipWaiting()))
})

self.addEventListener("activate", (e) => {
  e.waitUntil(caches.keys().then((all) => Promise.all(all.filter((n) => n.startsWith("shell-") && n !== name).map((n) => caches.delete(n)))).then(() => self.clients.claim()))
})

self.addEventListener("fetch", (e) => {
  const u = new URL(e.request.url)
  if (e.request.method !== "GET" || u.origin !== location.origin) return
  if (e.request.mode === "navigate" && u.pathname === "/") {
    e.respondWith(open(e.request))
  } else if (u.pathname.startsWith("/assets/") || SHELL.includes(u.pathname)) {
    e.respondWith(caches.match(e.request, { cacheName: name, ignoreVary: true }).then((r) => r ?? fetch(e.request)))
  }
})

// open takes the page from the network, so that a new version shows at once. The shell stands in when the server does not
// answer in time, or a proxy answers for it that it is down.
async function open(r: Request): Promise<Response> {
  const network = fetch(r), shell = await caches.match("/", { cacheName: name, ignoreVary: true })
  if (!shell) return network
  const late = new Promise<undefined>((done) => { setTimeout(done, 3000) })
  const res = await Promise.race([network.catch(() => undefined), late])
  return res && res.status < 500 ? res : shell
}

// Push is what the server sends: see note in server/push.
interface Push { kind?: string; session?: string; project?: string; ask?: string; actions?: boolean; title?: string; text?: string }

self.addEventListener("push", (e) => {
  let p: Push = {}
  try { p = e.data?.json() ?? {} } catch { /* an unreadable message still wakes */ }
  const words: Record<string, string> = { needs: "A session needs you", done: "A turn is done", failed: "A turn has failed", budget: "A budget is used up" }
  e.waitUntil(self.registration.showNotification(words[p.kind ?? ""] ?? "lathe", {
    body: [p.title ?? p.project, p.text].filter(Boolean).join("\n"), tag: p.session ?? "lathe", icon: "/icon-192.png", badge: "/icon-192.png", data: p,
    actions: p.actions && p.ask ? [{ action: "once", title: "Allow once" }, { action: "reject", title: "Reject" }] : [],
  } as NotificationOptions))
})

self.addEventListener("notificationclick", (e) => {
  const p: Push = e.notification.data ?? {}
  e.notification.close()
  const path = /^ses_\w+$/.test(p.session ?? "") ? "/#/s/" + p.session : "/"
  if ((e.action === "once" || e.action === "reject") && /^per_\w+$/.test(p.ask ?? "")) {
    e.waitUntil(call("POST", `/permission/${p.ask}/reply`, { reply: e.action }).catch(() => show(path))) // it waits there still
    return
  }
  e.waitUntil(show(path))
})

// A browser that replaces its subscription tells the server the new one.
self.addEventListener("pushsubscriptionchange", (e) => {
  (e as ExtendableEvent).waitUntil((async () => {
    const { key, kinds } = await (await call("GET", "/lathe/push")).json() as { key: string; kinds: string[] }
    if (kinds.length === 0) return
    const s = await self.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })
    const { endpoint, keys } = s.toJSON()
    await call("PUT", "/lathe/push", { endpoint, keys, kinds })
  })())
})

async function call(method: string, path: string, body?: unknown): Promise<Response> {
  const r = await fetch(path, { method, headers: { "Content-Type": "application/json", "X-Lathe-Page": "1" }, ...(body ? { body: JSON.stringify(body) } : {}) })
  if (!r.ok) throw new Error(String(r.status))
  return r
}

// show opens a page, in a tab that is there if the browser lets it.
async function show(path: string): Promise<void> {
  const c = (await self.clients.matchAll({ type: "window" }))[0]
  if (!c) return void (await self.clients.openWindow(path))
  await c.focus()
  await c.navigate(path).catch(() => self.clients.openWindow(path))
}

export {}
