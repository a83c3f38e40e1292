// A plugin with a tool that tries the shell and what can be imported from "bun".
import { $ as other, Glob, file } from "bun"

export const Shell = async ({ $, directory }) => ({
  tool: {
    sh: {
      description: "tries the shell",
      async execute() {
        const odd = "a b'c; echo no"
        const out = []
        out.push(await $`printf %s ${odd}`.text())
        out.push(await $`echo ${'{"x":1}'}`.json())
        for await (const line of $`printf "1\n2\n"`.lines()) out.push(line)
        out.push((await $`exit 3`.nothrow().quiet()).exitCode)
        out.push(await $`exit 4`.quiet().catch((e) => [e.exitCode, e.message]))
        out.push(await $`echo $V`.env({ V: "v", PATH: process.env.PATH }).text())
        out.push((await $`pwd`.cwd("/").text()).trim())
        out.push(await other`echo ${["l", "m n"]}`.text())
        out.push([...new Glob("**/*.js").scanSync(directory)], await file(directory + "/n.txt").text(), Bun.which("sh") !== null)
        return JSON.stringify(out)
      },
    },
  },
})
