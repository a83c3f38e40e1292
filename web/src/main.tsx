import { render } from "preact"
import { App } from "./app"
import { fresh } from "./store"
import { applyTheme } from "./theme"

applyTheme()
render(<App />, document.getElementById("app")!)
if ("serviceWorker" in navigator && isSecureContext) {
  // A worker that takes over from another one came with a new version of the server.
  const workers = navigator.serviceWorker
  let had = workers.controller !== null
  workers.addEventListener("controllerchange", () => { if (had) fresh.value = true; had = true })
  addEventListener("load", () => { workers.register("/sw.js").catch(() => {}) })
}
