// The packages that plugins may expect without bringing them. Nothing here can wait for one to be installed:
// modules are resolved while everything else stands still. So what is missing is an error with its name in it,
// by which the host has lathe install the package, and is started again with it.

const mark = /lathe needs the package (zod|sucrase|@opencode-ai\/sdk)/

export const need = (name) => new Error(`lathe needs the package ${name}`)

// needed is the package that an error says is missing. Only its message is sure to come from another thread.
export const needed = (error) => mark.exec(String(error?.message ?? error))?.[1]
