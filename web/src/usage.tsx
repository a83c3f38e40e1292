// Usage by day, model and project.
import type { JSX } from "preact"
import { useEffect, useState } from "preact/hooks"
import { get } from "./api"
import { Svg } from "./icon"
import { Spinner } from "./parts"
import { base, count, money, num, visible } from "./text"

interface Sum { cost: number; steps: number; tokensTotal: number; tokens: { input: number; output: number; reasoning: number; cacheRead: number; cacheWrite: number } }
interface Stats {
  sessions: number; prompts: number; answers: number; calls: number; days: number; usage: Sum
  byModel: { providerID: string; modelID: string; answers: number; errors: number; usage: Sum }[]
  byTool: { tool: string; calls: number; errors: number }[]
  byDay: { date: string; messages: number; usage: Sum }[]
  byProject: { projectID: string; worktree?: string; sessions: number; usage: Sum }[]
}

export function Usage(): JSX.Element {
  const [days, setDays] = useState(30), [stats, setStats] = useState<Stats | undefined>(undefined), [failed, setFailed] = useState("")
  const [byTokens, setByTokens] = useState(false)
  useEffect(() => {
    let on = true
    setStats(undefined)
    setFailed("")
    get<Stats>(`/lathe/usage?days=${days}&offset=${-new Date().getTimezoneOffset()}`).then((s) => { if (on) setStats(s) }, (e: unknown) => { if (on) setFailed(e instanceof Error ? e.message : String(e)) })
    return () => { on = false }
  }, [days])
  const value = (s: Sum): number => byTokens ? num(s.tokensTotal) : num(s.cost)
  const show = byTokens ? count : money
  return (
    <main class="screen" id="main">
      <header class="bar"><a class="icon back" href="#/" aria-label="All sessions"><Svg d="M15 5l-7 7 7 7" /></a><h1>Usage</h1></header>
      <div class="page">
        <div class="tools">
          <div class="segments" role="group" aria-label="Period">{[7, 30, 90].map((d) => <button type="button" aria-pressed={days === d} onClick={() => setDays(d)}>{d} days</button>)}</div>
          <div class="segments" role="group" aria-label="Unit"><button type="button" aria-pressed={!byTokens} onClick={() => setByTokens(false)}>Cost</button><button type="button" aria-pressed={byTokens} onClick={() => setByTokens(true)}>Tokens</button></div>
        </div>
        {failed && <p class="empty">{failed}</p>}
        {!stats && !failed && <p class="empty"><Spinner /> Counting…</p>}
        {stats && <>
          <dl class="figures">
            {([["Cost", money(num(stats.usage.cost))], ["Tokens", count(num(stats.usage.tokensTotal))], ["Sessions", count(stats.sessions)], ["Prompts", count(stats.prompts)], ["Tool calls", count(stats.calls)]] as const).map(([k, v]) => <div><dt>{k}</dt><dd>{v}</dd></div>)}
          </dl>
          <section><h2>By day</h2><Days days={days} data={stats.byDay.map((d) => ({ date: d.date, value: value(d.usage) }))} show={show} /></section>
          <section><h2>By model</h2><Bars rows={stats.byModel.map((m) => ({ name: m.providerID + "/" + m.modelID, value: value(m.usage) }))} show={show} /></section>
          <section><h2>By project</h2><Bars rows={stats.byProject.map((x) => ({ name: x.worktree ? base(x.worktree) : x.projectID === "global" ? "no project" : x.projectID.slice(0, 8), value: value(x.usage) }))} show={show} /></section>
          <section><h2>Tools</h2><Bars rows={stats.byTool.map((x) => ({ name: x.tool, value: x.calls }))} show={count} /></section>
        </>}
      </div>
    </main>
  )
}

function Days(p: { days: number; data: { date: string; value: number }[]; show: (n: number) => string }): JSX.Element {
  const known = new Map(p.data.map((d) => [d.date, d.value]))
  const all = Array.from({ length: p.days }, (_, i) => {
    const d = new Date(Date.now() - (p.days - 1 - i) * 86_400_000)
    const date = `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, "0")}-${String(d.getDate()).padStart(2, "0")}`
    return { date, value: known.get(date) ?? 0 }
  })
  const top = Math.max(...all.map((d) => d.value), 0), w = 720 / p.days
  return (
    <figure class="chart">
      <svg viewBox="0 0 720 160" role="img" aria-label={"Each day, at most " + p.show(top)} preserveAspectRatio="none">
        {all.map((d, i) => <rect x={i * w + w * 0.12} width={w * 0.76} y={top ? 156 - 150 * d.value / top : 156} height={top ? 150 * d.value / top + 2 : 2} rx="2"><title>{d.date}: {p.show(d.value)}</title></rect>)}
      </svg>
      <figcaption><span>{all[0]!.date}</span><span>at most {p.show(top)} a day</span><span>{all[all.length - 1]!.date}</span></figcaption>
    </figure>
  )
}

function Bars(p: { rows: { name: string; value: number }[]; show: (n: number) => string }): JSX.Element {
  const rows = p.rows.filter((r) => r.value > 0).sort((a, b) => b.value - a.value).slice(0, 12), top = rows[0]?.value ?? 0
  if (rows.length === 0) return <p class="muted">Nothing yet.</p>
  return (
    <table class="bars"><tbody>
      {rows.map((r) => <tr><th scope="row"><bdi>{visible(r.name)}</bdi></th><td><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width={100 * r.value / top} height="8" rx="1" /></svg></td><td class="align-end">{p.show(r.value)}</td></tr>)}
    </tbody></table>
  )
}
