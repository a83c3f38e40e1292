package lsp

import "encoding/json"

// The messages of the protocol that are used, with the members that are used.

// Position is a place in a text; both numbers count from 0, the second in units of the encoding.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is a part of a text.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Severities of a [Diagnostic].
const (
	severityError   = 1
	severityWarning = 2
)

// Diagnostic is an error or a warning of a server, as clients of the HTTP API read it too.
type Diagnostic struct {
	Range    Range           `json:"range"`
	Severity int             `json:"severity,omitempty"`
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
}

// Documents and their diagnostics. Lists of a server stay raw until they are read with a limit.
type (
	textDocument struct {
		URI string `json:"uri"`
	}
	versionedDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	}
	textItem struct {
		URI        string `json:"uri"`
		LanguageID string `json:"languageId"`
		Version    int    `json:"version"`
		Text       string `json:"text"`
	}
	textChange struct {
		Range *Range `json:"range,omitempty"`
		Text  string `json:"text"`
	}
	didOpenParams struct {
		TextDocument textItem `json:"textDocument"`
	}
	didChangeParams struct {
		TextDocument   versionedDocument `json:"textDocument"`
		ContentChanges []textChange      `json:"contentChanges"`
	}
	documentParams struct {
		TextDocument textDocument `json:"textDocument"`
	}
	positionParams struct {
		TextDocument textDocument `json:"textDocument"`
		Position     Position     `json:"position"`
	}
	referenceParams struct {
		positionParams
		Context struct {
			IncludeDeclaration bool `json:"includeDeclaration"`
		} `json:"context"`
	}
	renameParams struct {
		positionParams
		NewName string `json:"newName"`
	}
	publishParams struct {
		URI         string          `json:"uri"`
		Version     *int            `json:"version"`
		Diagnostics json.RawMessage `json:"diagnostics"`
	}
	pullReport struct {
		Kind  string          `json:"kind"`
		Items json.RawMessage `json:"items"`
		// RelatedDocuments has the reports of other files that the change affects.
		RelatedDocuments map[string]pullReport `json:"relatedDocuments"`
	}
	fileEvent struct {
		URI  string `json:"uri"`
		Type int    `json:"type"` // 1 is created, 2 changed, 3 deleted
	}
	watchedParams struct {
		Changes []fileEvent `json:"changes"`
	}
)

// Answers about symbols. A member that several forms of an answer have is declared once: the form is recognized by the
// members that are set.
type (
	location struct {
		URI   string `json:"uri"`
		Range Range  `json:"range"`
		// A link has these instead.
		TargetURI   string `json:"targetUri"`
		TargetRange Range  `json:"targetSelectionRange"`
	}
	symbol struct {
		Name          string   `json:"name"`
		Kind          int      `json:"kind"`
		ContainerName string   `json:"containerName"`
		Location      location `json:"location"`
		// A symbol of a tree has these instead of a location.
		Range          Range    `json:"range"`
		SelectionRange Range    `json:"selectionRange"`
		Children       []symbol `json:"children"`
	}
	callItem struct {
		Name           string          `json:"name"`
		Kind           int             `json:"kind"`
		Tags           json.RawMessage `json:"tags,omitempty"`
		Detail         string          `json:"detail,omitempty"`
		URI            string          `json:"uri"`
		Range          Range           `json:"range"`
		SelectionRange Range           `json:"selectionRange"`
		Data           json.RawMessage `json:"data,omitempty"`
	}
	call struct {
		From       *callItem `json:"from"`
		To         *callItem `json:"to"`
		FromRanges []Range   `json:"fromRanges"`
	}
	textEdit struct {
		Range   Range  `json:"range"`
		NewText string `json:"newText"`
	}
	documentEdit struct {
		Kind         string            `json:"kind"` // of an operation on a file; "" is an edit
		TextDocument versionedDocument `json:"textDocument"`
		Edits        []textEdit        `json:"edits"`
	}
	workspaceEdit struct {
		Changes         map[string][]textEdit `json:"changes"`
		DocumentChanges []documentEdit        `json:"documentChanges"`
	}
)

// serverCapabilities is the part of a server's offer that is used. Providers are booleans or objects.
type serverCapabilities struct {
	PositionEncoding   encoding        `json:"positionEncoding"`
	TextDocumentSync   json.RawMessage `json:"textDocumentSync"`
	DiagnosticProvider json.RawMessage `json:"diagnosticProvider"`
	Definition         json.RawMessage `json:"definitionProvider"`
	References         json.RawMessage `json:"referencesProvider"`
	Hover              json.RawMessage `json:"hoverProvider"`
	DocumentSymbol     json.RawMessage `json:"documentSymbolProvider"`
	WorkspaceSymbol    json.RawMessage `json:"workspaceSymbolProvider"`
	Rename             json.RawMessage `json:"renameProvider"`
	CallHierarchy      json.RawMessage `json:"callHierarchyProvider"`
}

// offers reports whether a provider is there: true or an object.
func offers(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "false" && string(raw) != "null"
}

// sync returns whether changes are sent as ranges, and whether the server wants to hear of a save.
func (c serverCapabilities) sync() (incremental, save bool) {
	const incrementalKind = 2
	var kind int
	if json.Unmarshal(c.TextDocumentSync, &kind) == nil {
		return kind == incrementalKind, false
	}
	var o struct {
		Change int             `json:"change"`
		Save   json.RawMessage `json:"save"`
	}
	_ = json.Unmarshal(c.TextDocumentSync, &o) // nothing means no changes
	return o.Change == incrementalKind, offers(o.Save)
}

// clientCapabilities is our own offer.
func clientCapabilities() map[string]any {
	dynamic, static := map[string]any{"dynamicRegistration": true}, map[string]any{"dynamicRegistration": false}
	return map[string]any{
		"general": map[string]any{"positionEncodings": []string{string(utf8Units), string(utf16Units)}},
		"window":  map[string]any{"workDoneProgress": true},
		"workspace": map[string]any{
			"configuration": true, "workspaceFolders": true, "didChangeConfiguration": dynamic, "didChangeWatchedFiles": dynamic, "symbol": static,
			"workspaceEdit": map[string]any{"documentChanges": true}, "diagnostics": map[string]any{"refreshSupport": true},
		},
		"textDocument": map[string]any{
			"synchronization":    map[string]any{"didSave": true},
			"publishDiagnostics": map[string]any{"versionSupport": true},
			"diagnostic":         map[string]any{"dynamicRegistration": true, "relatedDocumentSupport": true},
			"definition":         static, "references": static, "callHierarchy": static, "rename": static,
			"hover":          map[string]any{"contentFormat": []string{"plaintext", "markdown"}},
			"documentSymbol": map[string]any{"hierarchicalDocumentSymbolSupport": true},
		},
	}
}
