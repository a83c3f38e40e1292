package server

import (
	"reflect"

	"github.com/lathe-agent/lathe"
)

// wireSchemas describes the vocabulary. Its types write their JSON themselves, so that nothing
// can be read off them; a test holds every sample of them against what stands here.
func wireSchemas() *schemas {
	s := &schemas{named: map[string]*schema{}, wire: map[reflect.Type]string{
		reflect.TypeFor[lathe.Session]():           "Session",
		reflect.TypeFor[lathe.SessionModel]():      "SessionModel",
		reflect.TypeFor[lathe.Ruleset]():           "PermissionRuleset",
		reflect.TypeFor[lathe.Status]():            "SessionStatus",
		reflect.TypeFor[lathe.Todo]():              "Todo",
		reflect.TypeFor[lathe.FileDiff]():          "FileDiff",
		reflect.TypeFor[lathe.Message]():           "MessageWithParts",
		reflect.TypeFor[lathe.Part]():              "Part",
		reflect.TypeFor[partInput]():               "PartInput",
		reflect.TypeFor[lathe.PermissionRequest](): "PermissionRequest",
		reflect.TypeFor[lathe.QuestionRequest]():   "QuestionRequest",
		reflect.TypeFor[lathe.Agent]():             "Agent",
		reflect.TypeFor[lathe.Command]():           "Command",
		reflect.TypeFor[lathe.Skill]():             "Skill",
		reflect.TypeFor[lathe.Project]():           "Project",
		reflect.TypeFor[lathe.Pty]():               "Pty",
		reflect.TypeFor[object]():                  "Object",
		reflect.TypeFor[configBody]():              "Config",
		reflect.TypeFor[projectSession]():          "ProjectSession",
	}}
	s.named["Object"] = anyObject
	s.named["Config"] = &schema{Type: "object", Description: "Settings, as `lathe config schema` describes them."}
	s.named["Command"] = obj(member{"name", text}, member{"description?", text}, member{"agent?", text}, member{"model?", text},
		member{"source?", words("command", "mcp", "skill")}, member{"template", text}, member{"subtask?", truth}, member{"hints", list(text)})
	s.named["Skill"] = obj(member{"name", text}, member{"description?", text}, member{"location", text}, member{"content", text})
	s.sessions()
	s.messages()
	s.parts()
	s.faults()
	s.asks()
	s.events()
	s.errors()
	return s
}

// The small ones. None of them is ever changed.
var (
	text      = &schema{Type: "string"}
	number    = &schema{Type: "number"}
	whole     = &schema{Type: "integer"}
	truth     = &schema{Type: "boolean"}
	anything  = &schema{}
	anyObject = &schema{Type: "object"}
)

// member is a member of an object; a name that ends in ? is optional.
type member struct {
	name string
	is   *schema
}

// obj is an object of these members, and perhaps of others that this version does not know.
func obj(members ...member) *schema {
	out := &schema{Type: "object", Properties: map[string]*schema{}}
	for _, m := range members {
		if last := len(m.name) - 1; m.name[last] == '?' {
			m.name = m.name[:last]
		} else {
			out.Required = append(out.Required, m.name)
		}
		out.Properties[m.name] = m.is
	}
	return out
}

// strs are members that are strings.
func strs(names ...string) (out []member) {
	for _, n := range names {
		out = append(out, member{n, text})
	}
	return out
}

// and joins lists of members.
func and(first []member, rest ...member) []member { return append(first, rest...) }

func words(all ...string) *schema { return &schema{Type: "string", Enum: all} }
func list(of *schema) *schema     { return &schema{Type: "array", Items: of} }
func is(word string) *schema      { return &schema{Type: "string", Const: word} }
func dict(of *schema) *schema     { return &schema{Type: "object", More: of} }

func namedError(name string, data *schema) *schema {
	return obj(member{"name", is(name)}, member{"data", data})
}

// variant is one of several forms, known by the word in one member.
type variant struct{ word, schema string }

// union is one of several named schemas.
func union(property string, all ...variant) *schema {
	out := &schema{Kind: &discriminator{Property: property, Mapping: map[string]string{}}}
	for _, v := range all {
		one := ref(v.schema)
		out.OneOf = append(out.OneOf, one)
		out.Kind.Mapping[v.word] = one.Ref
	}
	return out
}

func (s *schemas) sessions() {
	s.named["Session"] = obj(and(strs("id", "slug", "projectID", "workspaceID?", "directory", "path?", "parentID?", "title", "version", "agent?"),
		member{"summary?", obj(member{"additions", number}, member{"deletions", number}, member{"files", number}, member{"diffs?", list(ref("FileDiff"))})},
		member{"cost?", number}, member{"tokens?", ref("Tokens")},
		member{"share?", obj(member{"url", text})},
		member{"model?", ref("SessionModel")}, member{"metadata?", anyObject},
		member{"time", obj(member{"created", number}, member{"updated", number}, member{"compacting?", number}, member{"archived?", number})},
		member{"permission?", ref("PermissionRuleset")},
		member{"revert?", obj(strs("messageID", "partID?", "snapshot?", "diff?")...)})...)
	s.named["SessionModel"] = obj(strs("id", "providerID", "variant?")...)
	s.named["Tokens"] = obj(member{"total?", number}, member{"input", number}, member{"output", number}, member{"reasoning", number},
		member{"cache", obj(member{"read", number}, member{"write", number})})
	s.named["PermissionRule"] = obj(and(strs("permission", "pattern"), member{"action", words("allow", "deny", "ask")})...)
	s.named["PermissionRuleset"] = list(ref("PermissionRule"))
	s.named["FileDiff"] = obj(and(strs("file?", "patch?"), member{"additions", number}, member{"deletions", number}, member{"status?", words("added", "deleted", "modified")})...)
	s.named["Todo"] = obj(strs("content", "status", "priority")...)
	s.named["SessionStatusIdle"] = obj(member{"type", is("idle")})
	s.named["SessionStatusBusy"] = obj(member{"type", is("busy")})
	s.named["SessionStatusRetry"] = obj(member{"type", is("retry")}, member{"attempt", number}, member{"message", text}, member{"next", number}, member{"action?", anyObject})
	s.named["SessionStatus"] = union("type", variant{"idle", "SessionStatusIdle"}, variant{"busy", "SessionStatusBusy"}, variant{"retry", "SessionStatusRetry"})
	s.named["Agent"] = obj(and(strs("name", "description?", "color?", "variant?", "prompt?"),
		member{"mode", words("primary", "subagent", "all")}, member{"native?", truth}, member{"hidden?", truth}, member{"topP?", number},
		member{"temperature?", number}, member{"permission", ref("PermissionRuleset")}, member{"model?", ref("Model")},
		member{"options", anyObject}, member{"steps?", number})...)
	s.named["Project"] = obj(and(strs("id", "worktree", "vcs?", "name?"), member{"icon?", anyObject}, member{"commands?", anyObject},
		member{"time", obj(member{"created", number}, member{"updated", number}, member{"initialized?", number})}, member{"sandboxes", list(text)})...)
	s.named["ProjectSession"] = &schema{AllOf: []*schema{ref("Session"), obj(member{"project", &schema{AnyOf: []*schema{obj(strs("id", "name?", "worktree")...), {Type: "null"}}}})}}
}

func (s *schemas) messages() {
	s.named["Model"] = obj(strs("providerID", "modelID", "variant?")...)
	s.named["UserMessage"] = obj(and(strs("id", "sessionID", "agent", "system?"),
		member{"role", is("user")}, member{"time", obj(member{"created", number})}, member{"model", ref("Model")},
		member{"format?", anyObject}, member{"tools?", dict(truth)},
		member{"summary?", obj(and(strs("title?", "body?"), member{"diffs", list(ref("FileDiff"))})...)})...)
	s.named["AssistantMessage"] = obj(and(strs("id", "sessionID", "parentID", "modelID", "providerID", "variant?", "mode", "agent", "finish?"),
		member{"role", is("assistant")}, member{"time", obj(member{"created", number}, member{"completed?", number})},
		member{"error?", ref("MessageError")}, member{"path", obj(strs("cwd", "root")...)}, member{"summary?", truth},
		member{"cost", number}, member{"tokens", ref("Tokens")}, member{"structured?", anything})...)
	s.named["Message"] = union("role", variant{"user", "UserMessage"}, variant{"assistant", "AssistantMessage"})
	s.named["MessageWithParts"] = obj(member{"info", ref("Message")}, member{"parts", list(ref("Part"))})
}

// part is an object with the ids that every part has.
func part(kind string, members ...member) *schema {
	return obj(append([]member{{"id", text}, {"sessionID", text}, {"messageID", text}, {"type", is(kind)}}, members...)...)
}

func (s *schemas) parts() {
	span := obj(member{"start", number}, member{"end?", number})
	mention := obj(member{"value", text}, member{"start", whole}, member{"end", whole})
	source := obj(and(strs("type", "path?"), member{"text", mention})...)
	s.named["TextPart"] = part("text", member{"text", text}, member{"synthetic?", truth}, member{"ignored?", truth}, member{"time?", span}, member{"metadata?", anyObject})
	s.named["ReasoningPart"] = part("reasoning", member{"text", text}, member{"time", span}, member{"metadata?", anyObject})
	s.named["FilePart"] = part("file", member{"mime", text}, member{"url", text}, member{"filename?", text}, member{"source?", source})
	s.named["ToolPart"] = part("tool", member{"callID", text}, member{"tool", text}, member{"state", ref("ToolState")}, member{"metadata?", anyObject})
	s.named["StepStartPart"] = part("step-start", member{"snapshot?", text})
	s.named["StepFinishPart"] = part("step-finish", member{"reason", text}, member{"snapshot?", text}, member{"cost", number}, member{"tokens", ref("Tokens")})
	s.named["SnapshotPart"] = part("snapshot", member{"snapshot", text})
	s.named["PatchPart"] = part("patch", member{"hash", text}, member{"files", list(text)})
	s.named["AgentPart"] = part("agent", member{"name", text}, member{"source?", mention})
	s.named["SubtaskPart"] = part("subtask", member{"prompt", text}, member{"description", text}, member{"agent", text}, member{"model?", ref("Model")}, member{"command?", text})
	s.named["RetryPart"] = part("retry", member{"attempt", number}, member{"error", ref("MessageError")}, member{"time", obj(member{"created", number})})
	s.named["CompactionPart"] = part("compaction", member{"auto", truth}, member{"overflow?", truth}, member{"tail_start_id?", text})
	s.named["Part"] = union("type", variant{"text", "TextPart"}, variant{"reasoning", "ReasoningPart"}, variant{"file", "FilePart"},
		variant{"tool", "ToolPart"}, variant{"step-start", "StepStartPart"}, variant{"step-finish", "StepFinishPart"},
		variant{"snapshot", "SnapshotPart"}, variant{"patch", "PatchPart"}, variant{"agent", "AgentPart"},
		variant{"subtask", "SubtaskPart"}, variant{"retry", "RetryPart"}, variant{"compaction", "CompactionPart"})
	s.inputs(mention, source)
	input, began := member{"input", anyObject}, obj(member{"start", number})
	ended := obj(member{"start", number}, member{"end", number}, member{"compacted?", number})
	s.named["ToolStatePending"] = obj(member{"status", is("pending")}, input, member{"raw", text})
	s.named["ToolStateRunning"] = obj(member{"status", is("running")}, input, member{"title?", text}, member{"metadata?", anyObject}, member{"time", began})
	s.named["ToolStateCompleted"] = obj(member{"status", is("completed")}, input, member{"output", text}, member{"title", text},
		member{"metadata", anyObject}, member{"time", ended}, member{"attachments?", list(ref("FilePart"))})
	s.named["ToolStateError"] = obj(member{"status", is("error")}, input, member{"error", text}, member{"metadata?", anyObject}, member{"time", ended})
	s.named["ToolState"] = union("status", variant{"pending", "ToolStatePending"}, variant{"running", "ToolStateRunning"},
		variant{"completed", "ToolStateCompleted"}, variant{"error", "ToolStateError"})
}

// inputs are the parts of a prompt; their ids may be left out.
func (s *schemas) inputs(mention, source *schema) {
	input := func(kind string, members ...member) *schema {
		return obj(append([]member{{"id?", text}, {"type", is(kind)}}, members...)...)
	}
	s.named["TextPartInput"] = input("text", member{"text", text}, member{"synthetic?", truth}, member{"ignored?", truth}, member{"metadata?", anyObject})
	s.named["FilePartInput"] = input("file", member{"mime", text}, member{"url", text}, member{"filename?", text}, member{"source?", source})
	s.named["AgentPartInput"] = input("agent", member{"name", text}, member{"source?", mention})
	s.named["SubtaskPartInput"] = input("subtask", member{"prompt", text}, member{"description", text}, member{"agent", text}, member{"model?", ref("Model")}, member{"command?", text})
	s.named["PartInput"] = union("type", variant{"text", "TextPartInput"}, variant{"file", "FilePartInput"}, variant{"agent", "AgentPartInput"}, variant{"subtask", "SubtaskPartInput"})
}
