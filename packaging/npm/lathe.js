#!/usr/bin/env node
// Starts the lathe binary of this platform. npm installs it as an optional dependency, so that nothing is downloaded
// by a script, and a lock file pins it.
"use strict";

const { spawn } = require("node:child_process");

const name = `@lathe-agent/lathe-${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${name}/bin/lathe${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(
    `lathe: the package ${name} is not installed.\n` +
      "If lathe supports this platform, npm was told to leave optional dependencies out: install again without --omit=optional.\n" +
      "Other ways to install it: https://github.com/lathe-agent/lathe/blob/main/docs/install.md",
  );
  process.exit(1);
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to both processes: lathe decides what it means. Other signals reach this process only.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP", "SIGQUIT"]) process.on(signal, () => child.kill(signal));
child.on("error", (err) => {
  console.error(`lathe: cannot start ${binary}: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
