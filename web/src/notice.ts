// What reaches people who look elsewhere: screen readers, the title of the tab, a sound, a badge.
import { load } from "./kept"

let last = ""
let timer: ReturnType<typeof setTimeout> | undefined

// announce reads a text to screen readers. While a text streams, at most one announcement in a second and a half is made.
export function announce(text: string): void {
  last = text
  timer ??= setTimeout(() => {
    timer = undefined
    const live = document.getElementById("live")
    if (live) live.textContent = live.textContent === last ? last + "\u00a0" : last
  }, 150)
}

let waiting = 0
let page = "lathe"

export function setTitle(t: string): void {
  page = t ? t + " · lathe" : "lathe"
  document.title = (waiting > 0 ? `(${waiting}) ` : "") + page
}

// remind shows how many requests wait; a new one makes a sound if somebody switched it on and looks elsewhere.
export function remind(n: number, fresh = false): void {
  waiting = n
  document.title = (n > 0 ? `(${n}) ` : "") + page
  const nav = navigator as Navigator & { setAppBadge?: (n: number) => Promise<void>; clearAppBadge?: () => Promise<void> }
  if (n > 0) nav.setAppBadge?.(n).catch(() => {})
  else nav.clearAppBadge?.().catch(() => {})
  if (fresh && document.hidden && load("sound") === "on") beep()
}

export function beep(): void {
  try {
    const audio = new AudioContext(), tone = audio.createOscillator(), gain = audio.createGain()
    tone.frequency.value = 660
    gain.gain.setValueAtTime(0.08, audio.currentTime)
    gain.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.4)
    tone.connect(gain).connect(audio.destination)
    tone.start()
    tone.stop(audio.currentTime + 0.4)
    tone.onended = () => void audio.close()
  } catch { /* without sound the title still tells */ }
}
