// The operations of the SDK's client, by their names: how the stand-in of client.mjs finds its way.

const table = `
postSessionIdPermissionsPermissionId POST /session/{id}/permissions/{permissionID}
app.agents GET /agent
app.log POST /log
auth.set PUT /auth/{id}
command.list GET /command
config.get GET /config
config.providers GET /config/providers
config.update PATCH /config
event.subscribe STREAM /event
file.list GET /file
file.read GET /file/content
file.status GET /file/status
find.files GET /find/file
find.symbols GET /find/symbol
find.text GET /find
formatter.status GET /formatter
global.event STREAM /global/event
instance.dispose POST /instance/dispose
lsp.status GET /lsp
mcp.add POST /mcp
mcp.auth.authenticate POST /mcp/{name}/auth/authenticate
mcp.auth.callback POST /mcp/{name}/auth/callback
mcp.auth.remove DELETE /mcp/{name}/auth
mcp.auth.start POST /mcp/{name}/auth
mcp.connect POST /mcp/{name}/connect
mcp.disconnect POST /mcp/{name}/disconnect
mcp.status GET /mcp
path.get GET /path
project.current GET /project/current
project.list GET /project
provider.auth GET /provider/auth
provider.list GET /provider
provider.oauth.authorize POST /provider/{id}/oauth/authorize
provider.oauth.callback POST /provider/{id}/oauth/callback
pty.create POST /pty
pty.get GET /pty/{id}
pty.list GET /pty
pty.remove DELETE /pty/{id}
pty.update PUT /pty/{id}
session.abort POST /session/{id}/abort
session.children GET /session/{id}/children
session.command POST /session/{id}/command
session.create POST /session
session.delete DELETE /session/{id}
session.diff GET /session/{id}/diff
session.fork POST /session/{id}/fork
session.get GET /session/{id}
session.init POST /session/{id}/init
session.list GET /session
session.message GET /session/{id}/message/{messageID}
session.messages GET /session/{id}/message
session.prompt POST /session/{id}/message
session.promptAsync POST /session/{id}/prompt_async
session.revert POST /session/{id}/revert
session.share POST /session/{id}/share
session.shell POST /session/{id}/shell
session.status GET /session/status
session.summarize POST /session/{id}/summarize
session.todo GET /session/{id}/todo
session.unrevert POST /session/{id}/unrevert
session.unshare DELETE /session/{id}/share
session.update PATCH /session/{id}
tool.ids GET /experimental/tool/ids
tool.list GET /experimental/tool
tui.appendPrompt POST /tui/append-prompt
tui.clearPrompt POST /tui/clear-prompt
tui.control.next GET /tui/control/next
tui.control.response POST /tui/control/response
tui.executeCommand POST /tui/execute-command
tui.openHelp POST /tui/open-help
tui.openModels POST /tui/open-models
tui.openSessions POST /tui/open-sessions
tui.openThemes POST /tui/open-themes
tui.publish POST /tui/publish
tui.showToast POST /tui/show-toast
tui.submitPrompt POST /tui/submit-prompt
vcs.get GET /vcs
`

export const operations = table
  .trim()
  .split("\n")
  .map((line) => {
    const [name, method, path] = line.split(" ")
    return { name: name.split("."), method, path }
  })
