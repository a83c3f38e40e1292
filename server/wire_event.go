package server

import "maps"

func (s *schemas) faults() {
	says := obj(member{"message", text})
	all := []variant{}
	fault := func(name, schemaName string, data *schema) {
		s.named[schemaName] = namedError(name, data)
		all = append(all, variant{name, schemaName})
	}
	fault("ProviderAuthError", "ProviderAuthError", obj(strs("providerID", "message")...))
	fault("UnknownError", "UnknownError", obj(strs("message", "ref?")...))
	fault("MessageOutputLengthError", "MessageOutputLengthError", anyObject)
	fault("MessageAbortedError", "MessageAbortedError", says)
	fault("StructuredOutputError", "StructuredOutputError", obj(member{"message", text}, member{"retries", number}))
	fault("ContextOverflowError", "ContextOverflowError", obj(strs("message", "responseBody?")...))
	fault("ContentFilterError", "ContentFilterError", says)
	fault("APIError", "APIError", obj(and(strs("message", "responseBody?"), member{"statusCode?", number}, member{"isRetryable", truth},
		member{"responseHeaders?", dict(text)}, member{"metadata?", anyObject})...))
	s.named["MessageError"] = union("name", all...)
}

func (s *schemas) asks() {
	call := obj(strs("messageID", "callID")...)
	s.named["PermissionRequest"] = obj(and(strs("id", "sessionID", "permission"), member{"patterns", list(text)}, member{"metadata", anyObject},
		member{"always", list(text)}, member{"tool?", call})...)
	option := obj(strs("label", "description")...)
	question := obj(and(strs("question", "header"), member{"options", list(option)}, member{"multiple?", truth}, member{"custom?", truth})...)
	s.named["QuestionRequest"] = obj(and(strs("id", "sessionID"), member{"questions", list(question)}, member{"tool?", call})...)
	s.named["Pty"] = obj(and(strs("id", "title", "command", "cwd"), member{"args", list(text)}, member{"status", words("running", "exited")},
		member{"pid", number}, member{"exitCode?", number})...)
}

// global is an event with where it happened.
func (s *schemas) global() *schema {
	return obj(append(strs("directory?", "project?", "workspace?"), member{"payload", ref("Event")})...)
}

// events are named by their type, each in a schema of its own.
func (s *schemas) events() {
	all := map[string]*schema{}
	maps.Copy(all, stateEvents())
	maps.Copy(all, newsEvents())
	union := &schema{Kind: &discriminator{Property: "type", Mapping: map[string]string{}}}
	for _, kind := range sortedKeys(all) {
		name := "Event." + kind
		s.named[name] = obj(member{"id", text}, member{"type", is(kind)}, member{"properties", all[kind]})
		union.OneOf = append(union.OneOf, ref(name))
		union.Kind.Mapping[kind] = ref(name).Ref
	}
	s.named["Event"] = union
}

// stateEvents tell what was stored.
func stateEvents() map[string]*schema {
	session := obj(member{"sessionID", text}, member{"info", ref("Session")})
	answered := strs("sessionID", "requestID")
	return map[string]*schema{
		"session.created": session, "session.updated": session, "session.deleted": session,
		"session.status":       obj(member{"sessionID", text}, member{"status", ref("SessionStatus")}),
		"session.diff":         obj(member{"sessionID", text}, member{"diff", list(ref("FileDiff"))}),
		"message.updated":      obj(member{"sessionID", text}, member{"info", ref("Message")}),
		"message.removed":      obj(strs("sessionID", "messageID")...),
		"message.part.updated": obj(member{"sessionID", text}, member{"part", ref("Part")}, member{"time", number}),
		"message.part.removed": obj(strs("sessionID", "messageID", "partID")...),
		"permission.asked":     ref("PermissionRequest"),
		"permission.replied":   obj(and(answered, member{"reply", words("once", "always", "reject")})...),
		"question.asked":       ref("QuestionRequest"),
		"question.replied":     obj(and(answered, member{"answers", list(list(text))})...),
		"question.rejected":    obj(answered...),
		"todo.updated":         obj(member{"sessionID", text}, member{"todos", list(ref("Todo"))}),
		"project.updated":      ref("Project"),
	}
}

// newsEvents are told once.
func newsEvents() map[string]*schema {
	nothing, pty := anyObject, obj(member{"info", ref("Pty")})
	return map[string]*schema{
		"server.connected": nothing, "server.heartbeat": nothing, "server.resync": nothing, "global.disposed": nothing,
		"server.instance.disposed":       obj(member{"directory", text}),
		"session.idle":                   obj(member{"sessionID", text}),
		"session.error":                  obj(member{"sessionID?", text}, member{"error?", ref("MessageError")}),
		"session.compacted":              obj(member{"sessionID", text}),
		"message.part.delta":             obj(and(strs("sessionID", "messageID", "partID", "field", "delta"), member{"offset?", whole})...),
		"command.executed":               obj(strs("name", "sessionID", "arguments", "messageID")...),
		"file.edited":                    obj(member{"file", text}),
		"file.watcher.updated":           obj(member{"file", text}, member{"event", words("add", "change", "unlink")}),
		"vcs.branch.updated":             obj(member{"branch?", text}),
		"lsp.updated":                    nothing,
		"lsp.client.diagnostics":         obj(strs("serverID", "path")...),
		"mcp.tools.changed":              obj(member{"server", text}),
		"mcp.browser.open.failed":        obj(strs("mcpName", "url")...),
		"pty.created":                    pty,
		"pty.updated":                    pty,
		"pty.exited":                     obj(member{"id", text}, member{"exitCode", number}),
		"pty.deleted":                    obj(member{"id", text}),
		"tui.prompt.append":              obj(member{"text", text}),
		"tui.command.execute":            obj(member{"command", text}),
		"tui.toast.show":                 obj(and(strs("title?", "message"), member{"variant", words("info", "success", "warning", "error")}, member{"duration?", number})...),
		"tui.session.select":             obj(member{"sessionID", text}),
		"installation.updated":           obj(member{"version", text}),
		"installation.update-available":  obj(member{"version", text}),
		"ide.installed":                  obj(member{"ide", text}),
		"worktree.ready":                 obj(strs("name", "branch?")...),
		"worktree.failed":                obj(member{"message", text}),
		"workspace.ready":                obj(member{"name", text}),
		"workspace.failed":               obj(member{"message", text}),
		"workspace.status":               obj(strs("workspaceID", "status")...),
		"models-dev.refreshed":           nothing,
		"catalog.updated":                nothing,
		"reference.updated":              nothing,
		"integration.updated":            nothing,
		"integration.connection.updated": obj(member{"integrationID", text}),
		"plugin.added":                   obj(member{"id", text}),
		"project.directories.updated":    obj(member{"projectID", text}),
	}
}

func (s *schemas) errors() {
	s.named["BadRequestError"] = namedError("BadRequest", obj(member{"message", text}, member{"kind?", words("Params", "Headers", "Query", "Body", "Payload")}))
	s.named["BadRequestTag"] = obj(member{"_tag", is("BadRequest")})
	s.named["NotFoundError"] = namedError("NotFoundError", obj(member{"message", text}))
	s.named["SessionBusyError"] = obj(and(strs("sessionID", "message"), member{"_tag", is("SessionBusyError")})...)
	s.named["ProjectNotFoundError"] = obj(and(strs("projectID", "message"), member{"_tag", is("ProjectNotFoundError")})...)
	s.named["PtyNotFoundError"] = obj(and(strs("ptyID", "message"), member{"_tag", is("PtyNotFoundError")})...)
	s.named["PtyForbiddenError"] = obj(member{"_tag", is("PtyForbiddenError")}, member{"message", text})
	s.named["VcsApplyError"] = namedError("VcsApplyError", obj(member{"message", text}, member{"reason", words("non-git", "not-clean")}))
	s.named["RequestNotFoundError"] = obj(and(strs("requestID", "message"), member{"_tag", words("PermissionNotFoundError", "QuestionNotFoundError")})...)
}
