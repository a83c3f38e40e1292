// Where the focus goes, for those who use a keyboard or a screen reader.

// focused is the ref of a field that gets the focus when it appears. The attribute autofocus works only as the page loads.
export const focused = (e: HTMLElement | null): void => { e?.focus() }

// reach moves the focus to what the screen shows soon.
export function reach(what: string, tries = 40): void {
  setTimeout(() => {
    const e = document.querySelector<HTMLElement>(what)
    if (e) e.focus()
    else if (tries > 0) reach(what, tries - 1)
  }, 50)
}
