// The vocabulary of the wire, as far as the page reads it. Everything here was sent by a server and is data, not markup.

export interface Model { providerID: string; modelID: string; variant?: string }
export interface Tokens { input: number; output: number; reasoning: number; cache: { read: number; write: number }; total?: number }
export interface FileDiff { file?: string; patch?: string; additions: number; deletions: number; status?: string }
export interface Session {
  id: string; projectID: string; directory: string; title: string; parentID?: string; agent?: string; cost?: number
  time: { created: number; updated: number; archived?: number }
  model?: { id: string; providerID: string; variant?: string }
  share?: { url: string }
  revert?: { messageID: string; partID?: string }
  summary?: { additions: number; deletions: number; files: number }
  tokens?: Tokens
}
export interface Status { type: "idle" | "busy" | "retry"; attempt?: number; message?: string; next?: number }
export interface Fault { name: string; data?: { message?: string } }
export interface Message {
  id: string; sessionID: string; role: "user" | "assistant"; time: { created: number; completed?: number }
  agent?: string; model?: Model; modelID?: string; providerID?: string; variant?: string; cost?: number; tokens?: Tokens
  finish?: string; error?: Fault; summary?: unknown; parentID?: string; path?: { cwd?: string }
}
export interface ToolState {
  status: "pending" | "running" | "completed" | "error"; input?: Record<string, unknown>; title?: string; output?: string; error?: string
  metadata?: Record<string, unknown>; time?: { start: number; end?: number }; attachments?: Part[]
}
export interface Part {
  id: string; sessionID: string; messageID: string; type: string
  text?: string; synthetic?: boolean; ignored?: boolean; time?: { start?: number; end?: number; created?: number }
  mime?: string; url?: string; filename?: string; source?: { path?: string }
  tool?: string; callID?: string; state?: ToolState
  name?: string; prompt?: string; description?: string; agent?: string; auto?: boolean; attempt?: number; error?: Fault
  files?: string[]
}
export interface WithParts { info: Message; parts: Part[] }
export interface Todo { content: string; status: string; priority: string }
export interface Permission {
  id: string; sessionID: string; permission: string; patterns: string[]; metadata?: Record<string, unknown>; always?: string[]
  tool?: { messageID: string; callID: string }
}
export interface Choice { label: string; description?: string }
export interface Question { question: string; header: string; options: Choice[]; multiple?: boolean; custom?: boolean }
export interface Questions { id: string; sessionID: string; questions: Question[]; tool?: { messageID: string; callID: string } }
export type Ask = { kind: "permission"; id: string; session: string; permission: Permission } | { kind: "question"; id: string; session: string; question: Questions }

export interface BoardEntry {
  id: string; title: string; state: string; projectID: string; directory: string; branch?: string; agent?: string; model?: string
  cost: number; last?: string; asks?: number; created: number; updated: number
}

// An event as the stream has it; properties depend on the type.
export interface Event { type: string; properties: Record<string, any>; directory?: string }

export type Right = "read" | "answer" | "full"
export interface Device { id: string; name: string; right: Right; created?: number; seen?: number; current?: boolean }
