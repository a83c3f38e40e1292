// Settings of this browser, and the devices of the server.
import type { ComponentChild, JSX } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { ApiError, get, post, send } from "./api"
import { useCell } from "./cell"
import { CopyButton } from "./code"
import { load, store } from "./composer"
import { focused } from "./focus"
import { Svg } from "./icon"
import { beep } from "./notice"
import { complain, may, me, say } from "./store"
import { ago, visible } from "./text"
import { applyTheme, theme, type Theme } from "./theme"
import type { Device, Right } from "./types"

export function Settings(): JSX.Element {
  const [look, setLook] = useState<Theme>(theme())
  const set = (t: Theme): void => { applyTheme(t); setLook(t) }
  return (
    <main class="screen" id="main">
      <header class="bar"><a class="icon back" href="#/" aria-label="All sessions"><Svg d="M15 5l-7 7 7 7" /></a><h1>Settings</h1></header>
      <div class="page">
        <section><h2>Appearance</h2>
          <div class="segments" role="group" aria-label="Theme">{(["system", "light", "dark"] as const).map((t) => <button type="button" aria-pressed={look === t} onClick={() => set(t)}>{t[0]!.toUpperCase() + t.slice(1)}</button>)}</div>
        </section>
        <Notifications />
        <Devices />
        <Server />
      </div>
    </main>
  )
}

const kinds: [string, string][] = [["needs", "A session needs you"], ["done", "A turn is done"], ["failed", "A turn has failed"], ["budget", "A budget is used up"]]

function Notifications(): JSX.Element {
  const [sound, setSound] = useState(load("sound") === "on")
  const [on, setOn] = useState(false), [chosen, setChosen] = useState<string[]>(["needs", "failed", "budget"]), [key, setKey] = useState("")
  const why = !isSecureContext ? "Notifications need a trusted certificate: see docs/web.md. Until then the page can play a sound."
    : !("PushManager" in window) ? "This browser has no push messages. On iPhone and iPad, add the page to the home screen first." : ""
  useEffect(() => {
    if (why) return
    get<{ key: string; kinds: string[] }>("/lathe/push").then(async (r) => {
      setKey(r.key)
      if (r.kinds.length > 0) setChosen(r.kinds)
      const s = await (await navigator.serviceWorker.ready).pushManager.getSubscription()
      setOn(!!s && r.kinds.length > 0)
    }).catch(() => {})
  }, [])
  const subscribe = async (list: string[]): Promise<void> => {
    if (await Notification.requestPermission() !== "granted") { say("Notifications are blocked in this browser's settings.", true); return }
    const worker = await navigator.serviceWorker.ready
    const s = await worker.pushManager.getSubscription() ?? await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })
    const { endpoint, keys } = s.toJSON()
    await send("PUT", "/lathe/push", { endpoint, keys, kinds: list })
    setOn(true)
  }
  const off = async (): Promise<void> => {
    const s = await (await navigator.serviceWorker.ready).pushManager.getSubscription()
    await send("DELETE", "/lathe/push")
    await s?.unsubscribe()
    setOn(false)
  }
  const toggle = (kind: string): void => {
    const list = chosen.includes(kind) ? chosen.filter((k) => k !== kind) : [...chosen, kind]
    setChosen(list)
    if (on) void subscribe(list).catch(complain)
  }
  return (
    <section><h2>Notifications</h2>
      <label class="check"><input type="checkbox" checked={sound} onChange={(e) => { store("sound", e.currentTarget.checked ? "on" : ""); setSound(e.currentTarget.checked); if (e.currentTarget.checked) beep() }} /> Play a sound when a request waits and the page is in the background</label>
      {why ? <p class="muted">{why}</p> : key && <>
        <label class="check"><input type="checkbox" checked={on} onChange={() => (on ? off() : subscribe(chosen)).catch(complain)} /> Push messages to this device. They hold no text of your sessions.</label>
        {on && <div class="indent">{kinds.map(([k, t]) => <label class="check"><input type="checkbox" checked={chosen.includes(k)} onChange={() => toggle(k)} /> {t}</label>)}</div>}
      </>}
    </section>
  )
}

interface Pairing { token: string; url: string; expires: number; qr?: string; fingerprint?: string }

const rights: Record<Right, string> = { read: "see sessions", answer: "see sessions, answer once, reject and stop", full: "do everything, like the password" }

function Devices(): JSX.Element | null {
  const own = useCell(me)
  const [list, setList] = useState<Device[] | undefined>(undefined), [pair, setPair] = useState<Pairing | undefined>(undefined)
  const [right, setRight] = useState<Right>("answer"), [name, setName] = useState("")
  const read = (): void => { get<Device[]>("/lathe/devices").then(setList, () => {}) }
  useEffect(read, [pair])
  if (!own) return null
  const start = (e: Event): void => { e.preventDefault(); post<Pairing>("/lathe/pair/new", { right, name: name.trim() }).then(setPair, complain) }
  const revoke = (d: Device): void => { if (confirm(d.id === own.id ? "Sign out this device? It forgets the sessions that it shows offline." : `Sign out ${d.name}?`)) send("DELETE", "/lathe/device/" + encodeURIComponent(d.id)).then(read, complain) }
  return (
    <section><h2>Devices</h2>
      {own.name && <p class="muted">This device is “{visible(own.name)}” and may {rights[own.right]}.</p>}
      <ul class="plain-list">
        {(list ?? []).map((d) => <li><span><b dir="auto">{visible(d.name)}</b>{d.id === own.id && " (this one)"}<br /><small class="muted">{d.right}{d.seen ? " · last seen " + ago(d.seen) : ""}</small></span><span class="grow" />
          {(may("full") || d.id === own.id) && <button type="button" class="danger small" onClick={() => revoke(d)}>Sign out</button>}</li>)}
      </ul>
      {may("full") && list && <form class="row-of" onSubmit={start}>
        <label>Name <input value={name} onInput={(e) => setName(e.currentTarget.value)} placeholder="Phone" /></label>
        <label>May <select value={right} onChange={(e) => setRight(e.currentTarget.value as Right)}>{Object.entries(rights).map(([r, t]) => <option value={r}>{r}: {t}</option>)}</select></label>
        <button type="submit" class="primary">Add a device</button>
      </form>}
      {pair && <Paired p={pair} done={() => setPair(undefined)} />}
    </section>
  )
}

function Paired(p: { p: Pairing; done: () => void }): JSX.Element {
  const expires = p.p.expires > 1e11 ? p.p.expires : Date.now() + 120_000
  return (
    <div class="pairing" role="status">
      {p.p.qr && <img class="qr" alt="QR code of the pairing link" src={"data:image/svg+xml;charset=utf-8," + encodeURIComponent(p.p.qr)} />}
      <p>Scan this with the other device, or open the link there. It works once, until {new Date(expires).toLocaleTimeString()}.</p>
      <p class="path"><code>{p.p.url}</code></p>
      {p.p.fingerprint && <p>Check on the other device that the certificate has this fingerprint:<br /><code class="print">{p.p.fingerprint}</code></p>}
      <p class="buttons"><CopyButton text={() => p.p.url} label="Copy link" /><button type="button" class="small" onClick={p.done}>Done</button></p>
    </div>
  )
}

function Server(): JSX.Element {
  const [version, setVersion] = useState("")
  useEffect(() => { get<{ version: string }>("/global/health").then((h) => setVersion(h.version), () => {}) }, [])
  const kept = servers()
  const url = useRef<HTMLInputElement>(null)
  const [, redraw] = useState(0)
  const save = (list: string[]): void => { store("servers", JSON.stringify(list)); redraw((n) => n + 1) }
  const add = (e: Event): void => {
    e.preventDefault()
    try {
      const u = new URL(url.current!.value)
      if (u.protocol !== "http:" && u.protocol !== "https:") throw new Error("protocol")
      save([...new Set([...kept, u.origin])])
      url.current!.value = ""
    } catch { say("That is no address. Write it like https://build.lan:4096.", true) }
  }
  return (
    <section><h2>Servers</h2>
      <p class="muted">This is {location.host}{version && `, lathe ${version}`}{isSecureContext ? "" : ". The connection has no trusted certificate: the page works, but not offline, and without push messages"}.</p>
      <ul class="plain-list">{kept.map((s): ComponentChild => <li><a href={s} rel="noopener noreferrer">{s}</a><span class="grow" /><button type="button" class="small" aria-label={"Forget " + s} onClick={() => save(kept.filter((k) => k !== s))}>Forget</button></li>)}</ul>
      <form class="row-of" onSubmit={add}><label>Another server <input ref={url} type="url" placeholder="https://build.lan:4096" dir="ltr" /></label><button type="submit">Add</button></form>
    </section>
  )
}

function servers(): string[] {
  try { return (JSON.parse(load("servers") || "[]") as string[]).filter((s) => /^https?:\/\//.test(s)) } catch { return [] }
}

// SignIn is shown while the server does not know this device. What was typed elsewhere stays where it is.
export function SignIn(p: { token: string; done: () => void }): JSX.Element {
  const [password, setPassword] = useState(""), [name, setName] = useState(guess()), [failed, setFailed] = useState(""), [busy, setBusy] = useState(false)
  const [token, setToken] = useState(p.token)
  const run = (work: Promise<unknown>): void => {
    setBusy(true)
    setFailed("")
    work.then(p.done, (e: unknown) => {
      setToken("")
      setFailed(e instanceof ApiError && e.status === 401 ? (token ? "This link was used or has expired. Make a new one with lathe serve --pair, or on a device that is signed in." : "The password is wrong.") : e instanceof Error ? e.message : String(e))
    }).finally(() => setBusy(false))
  }
  const pair = (e: Event): void => { e.preventDefault(); run(post("/lathe/pair", { token, name: name.trim() })) }
  const login = (e: Event): void => { e.preventDefault(); run(post("/lathe/login", { password })) }
  return (
    <div class="gate" role="dialog" aria-modal="true" aria-labelledby="gate-title">
      <img src="/icon.svg" width="56" height="56" alt="" />
      <h1 id="gate-title">{token ? "Pair this device" : "Sign in to lathe"}</h1>
      {failed && <p class="note bad" role="alert">{failed}</p>}
      {token
        ? <form onSubmit={pair}><label>Name of this device <input value={name} onInput={(e) => setName(e.currentTarget.value)} required maxLength={60} ref={focused} /></label><button type="submit" class="primary" disabled={busy}>Pair</button></form>
        : <form onSubmit={login}>
            <input type="text" name="username" value="opencode" autoComplete="username" hidden readOnly />
            <label>Password <input type="password" value={password} autoComplete="current-password" onInput={(e) => setPassword(e.currentTarget.value)} required ref={focused} /></label>
            <button type="submit" class="primary" disabled={busy || !password}>Sign in</button>
            <p class="muted">On a phone, scan the code that <code>lathe serve --pair</code> prints.</p>
          </form>}
    </div>
  )
}

function guess(): string {
  const a = navigator.userAgent
  const os = /iPhone|iPad|Android|Windows|Mac OS|Linux|CrOS/.exec(a)?.[0] ?? "Device"
  const browser = /Edg\//.test(a) ? "Edge" : /Firefox\//.test(a) ? "Firefox" : /Chrome\//.test(a) ? "Chrome" : /Safari\//.test(a) ? "Safari" : ""
  return browser ? `${os.replace("Mac OS", "Mac")}, ${browser}` : os
}
