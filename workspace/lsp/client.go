package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/jsonrpc"
	"github.com/lathe-agent/lathe/sandbox"
)

// Limits on everything that a server says.
const (
	maxMessage  = 8 << 20 // bytes of a message
	maxFiles    = 2000    // files with diagnostics
	maxPerFile  = 200     // diagnostics of a file that are kept
	maxRead     = 5000    // diagnostics of a file that are looked at
	maxText     = 300     // characters of a message
	maxProgress = 100     // tasks in progress
	maxItems    = 50      // of a request for settings
)

// client is a conversation with one server process.
type client struct {
	conn    *jsonrpc.Conn
	service *sandbox.Service
	launch  Launch
	caps    serverCapabilities
	enc     encoding
	// incremental and save are how the server wants to hear of changes.
	incremental, save bool
	hooks             clientHooks

	mu       sync.Mutex // guards the fields below
	pull     bool       // diagnostics are asked for
	files    map[string]*fileState
	seq      uint64            // counts what came about files
	changed  chan struct{}     // closed and replaced when something came
	progress map[string]string // titles of tasks in progress
	versions map[string]int    // of open documents, the last that was sent
}

// clientHooks are called in the goroutines of the connection, and must not wait for the server.
type clientHooks struct {
	diagnosed func(path string)              // other diagnostics of a file came
	pulls     func(c *client, open []string) // the server wants to be asked from now on
}

// fileState is what a server has last said about a file.
type fileState struct {
	version int // -1 if it did not say
	seq     uint64
	at      time.Time
	list    []Diagnostic
	more    int  // diagnostics that were left out
	asked   bool // for; else they came by themselves
}

// trustAnswer is how long the answer to a question counts more than results that come by themselves.
const trustAnswer = time.Second

// noVersion says that a server did not name the version that its diagnostics are for.
const noVersion = -1

// dial starts a conversation over the pipes of a program and introduces us.
func dial(ctx context.Context, l Launch, svc *sandbox.Service, hooks clientHooks) (*client, error) {
	c := &client{
		launch: l, service: svc, enc: utf16Units, hooks: hooks,
		files: map[string]*fileState{}, changed: make(chan struct{}), progress: map[string]string{}, versions: map[string]int{},
	}
	c.conn = jsonrpc.Open(svc.Stdout, svc.Stdin, jsonrpc.Config{
		Framing: jsonrpc.Headers, MaxMessage: maxMessage, MaxSkipped: 1000, Concurrent: 16, Handle: c.handle, Notify: c.hear,
	})
	return c, c.initialize(ctx)
}

// initialize introduces us and takes the server's offer. UTF-8 positions are preferred, since they need no conversion.
func (c *client) initialize(ctx context.Context) error {
	folder := map[string]any{"uri": uriOf(c.launch.Root), "name": filepath.Base(c.launch.Root)}
	params := map[string]any{
		// No process ID: servers look for it every few seconds and end without it, and in a sandbox ours does not exist. Ours
		// end with us in any case.
		"processId": nil, "clientInfo": map[string]any{"name": "lathe"}, "rootUri": folder["uri"], "rootPath": c.launch.Root,
		"workspaceFolders": []any{folder}, "capabilities": clientCapabilities(), "trace": "off",
	}
	if len(c.launch.Initialization) > 0 {
		params["initializationOptions"] = c.launch.Initialization
	}
	var got struct {
		Capabilities serverCapabilities `json:"capabilities"`
	}
	if err := c.call(ctx, "initialize", params, &got); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	c.caps = got.Capabilities
	switch e := c.caps.PositionEncoding; e {
	case utf8Units, utf16Units, utf32Units:
		c.enc = e
	case "":
	default:
		return fmt.Errorf("initialize: it counts positions in %s, which is unknown", clean(string(e), 40))
	}
	c.incremental, c.save = c.caps.sync()
	c.mu.Lock()
	c.pull = c.pull || offers(c.caps.DiagnosticProvider)
	c.mu.Unlock()
	if err := c.notify(ctx, "initialized", struct{}{}); err != nil {
		return err
	}
	if len(c.launch.Initialization) == 0 {
		return nil
	}
	return c.notify(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": c.launch.Initialization})
}

// call sends a request and decodes its result.
func (c *client) call(ctx context.Context, method string, params, result any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	raw, err := c.conn.Call(ctx, method, data)
	if err != nil {
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
			return fmt.Errorf("%s: %s", c.launch.ID, clean(e.Message, maxText))
		}
		return err
	}
	if result == nil || len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("%s: its answer to %s cannot be read: %s", c.launch.ID, method, clean(err.Error(), maxText))
	}
	return nil
}

// notify sends a notification. It waits for space in the queue, not for the server.
func (c *client) notify(ctx context.Context, method string, params any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.conn.Notify(ctx, method, data)
}

// handle answers the requests of a server. None of them changes anything.
func (c *client) handle(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	switch method {
	case "workspace/configuration":
		return c.configuration(params)
	case "client/registerCapability":
		c.register(params)
		return nil, nil
	case "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest", "workspace/semanticTokens/refresh",
		"workspace/inlayHint/refresh", "workspace/codeLens/refresh", "workspace/foldingRange/refresh", "workspace/diagnostic/refresh":
		return nil, nil
	case "workspace/workspaceFolders":
		return json.Marshal([]any{map[string]any{"uri": uriOf(c.launch.Root), "name": filepath.Base(c.launch.Root)}})
	case "workspace/applyEdit":
		return json.RawMessage(`{"applied":false,"failureReason":"only the user's tools change files"}`), nil
	case "window/showDocument":
		return json.RawMessage(`{"success":false}`), nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "unknown method"}
}

// configuration answers a request for settings with the initialization options.
func (c *client) configuration(params json.RawMessage) (json.RawMessage, error) {
	var p struct {
		Items []struct{ Section string } `json:"items"`
	}
	if err := json.Unmarshal(params, &p); err != nil || len(p.Items) > maxItems {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid items"}
	}
	out := make([]any, len(p.Items))
	for i, item := range p.Items {
		out[i] = c.section(item.Section)
	}
	return json.Marshal(out)
}

// section finds settings by their dotted name. Many servers call all of their settings by their own name.
func (c *client) section(name string) any {
	var at any = c.launch.Initialization
	if name == "" {
		return at
	}
	for part := range strings.SplitSeq(name, ".") {
		m, ok := at.(map[string]any)
		if !ok {
			at = nil
			break
		}
		at = m[part]
	}
	if at == nil && !strings.Contains(name, ".") && c.launch.definition.isNamed(name) {
		return c.launch.Initialization
	}
	return at
}

// isNamed reports whether settings of this name are those of the server.
func (d Definition) isNamed(section string) bool {
	return section == d.ID || len(d.Command) > 0 && section == filepath.Base(d.Command[0])
}

// register notes that a server wants to be asked for diagnostics.
func (c *client) register(params json.RawMessage) {
	var p struct {
		Registrations []struct{ Method string } `json:"registrations"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	for _, r := range p.Registrations {
		if r.Method != "textDocument/diagnostic" {
			continue
		}
		c.mu.Lock()
		first, open := !c.pull, slices.Collect(maps.Keys(c.versions))
		c.pull = true
		c.mu.Unlock()
		if first && len(open) > 0 {
			c.hooks.pulls(c, open)
		}
	}
}

// hear takes notifications, in the goroutine that reads.
func (c *client) hear(method string, params json.RawMessage) {
	switch method {
	case "textDocument/publishDiagnostics":
		var p publishParams
		if json.Unmarshal(params, &p) != nil {
			return
		}
		if path, ok := pathOf(p.URI); ok {
			version := noVersion
			if p.Version != nil {
				version = *p.Version
			}
			c.store(path, version, p.Diagnostics, false)
		}
	case "$/progress":
		c.noteProgress(params)
	}
}

// noteProgress remembers which tasks a server works on.
func (c *client) noteProgress(params json.RawMessage) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind  string `json:"kind"`
			Title string `json:"title"`
		} `json:"value"`
	}
	if json.Unmarshal(params, &p) != nil || len(p.Token) > 200 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch token := string(p.Token); p.Value.Kind {
	case "begin":
		if len(c.progress) < maxProgress {
			c.progress[token] = clean(p.Value.Title, 60)
		}
	case "end":
		delete(c.progress, token)
		c.wakeLocked()
	}
}

// isLoading reports whether the server says that it works on something.
func (c *client) isLoading() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.progress) > 0
}

// store keeps the diagnostics of a file.
func (c *client) store(path string, version int, raw json.RawMessage, asked bool) {
	if !filepath.IsAbs(path) {
		return
	}
	// Results that do not count are not even read: a flood must not cost much.
	if !c.counts(path, version, asked) {
		return
	}
	list, more := readDiagnostics(raw)
	c.mu.Lock()
	// An empty list for a file that nobody asked about says nothing, and many of them would fill the table.
	if _, known := c.files[path]; !c.countsLocked(path, version, asked) || !known && len(list) == 0 && c.versions[path] == 0 && version == noVersion {
		c.mu.Unlock()
		return
	}
	c.seq++
	c.files[path] = &fileState{version: version, seq: c.seq, at: time.Now(), list: list, more: more, asked: asked}
	c.wakeLocked()
	c.mu.Unlock()
	c.hooks.diagnosed(path)
}

// counts reports whether diagnostics of a version of a file are of use.
func (c *client) counts(path string, version int, asked bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.countsLocked(path, version, asked)
}

// countsLocked is counts for a caller that holds the mutex.
func (c *client) countsLocked(path string, version int, asked bool) bool {
	// Results of an older text would make an error look repaired, or a repaired one new.
	if sent, open := c.versions[path]; open && version != noVersion && version < sent {
		return false
	}
	f, known := c.files[path]
	// An answer is about the text as it was asked for. Results that come by themselves right after it may be older.
	if known && f.asked && !asked && f.version == c.versions[path] && time.Since(f.at) < trustAnswer {
		return false
	}
	return known || len(c.files) < maxFiles
}

// wakeLocked wakes everyone who waits for results. The mutex is held.
func (c *client) wakeLocked() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// next returns a channel that is closed when something comes.
func (c *client) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// readDiagnostics reads a list as far as it is useful, errors first.
func readDiagnostics(raw json.RawMessage) (list []Diagnostic, more int) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, 0
	}
	var others []Diagnostic
	for n := 0; n < maxRead && d.More(); n++ {
		var one Diagnostic
		if d.Decode(&one) != nil {
			break
		}
		message, _, _ := strings.Cut(one.Message, "\n\n") // notes about other places follow
		one.Message, one.Source = clean(message, maxText), clean(one.Source, 40)
		if len(one.Code) > 100 || !json.Valid(one.Code) {
			one.Code = nil
		}
		switch {
		case one.Severity > severityError && len(others) < maxPerFile:
			others = append(others, one)
		case one.Severity <= severityError && len(list) < maxPerFile:
			one.Severity = severityError
			list = append(list, one)
		default:
			more++
		}
	}
	if d.More() {
		more++
	}
	rest := min(len(others), maxPerFile-len(list))
	return append(list, others[:rest]...), more + len(others) - rest
}

// errorsOf returns the errors among diagnostics.
func errorsOf(list []Diagnostic) []Diagnostic {
	n := 0
	for n < len(list) && list[n].Severity == severityError { // they come first
		n++
	}
	return list[:n:n]
}

// ask requests the diagnostics of a file, and keeps them.
func (c *client) ask(ctx context.Context, path string) error {
	c.mu.Lock()
	version := c.versions[path]
	c.mu.Unlock()
	var got pullReport
	if err := c.call(ctx, "textDocument/diagnostic", documentParams{textDocument{uriOf(path)}}, &got); err != nil {
		return err
	}
	if got.Kind != "unchanged" {
		c.store(path, version, got.Items, true)
	} else {
		c.confirm(path, version)
	}
	n := 0
	for uri, report := range got.RelatedDocuments {
		if other, ok := pathOf(uri); ok && report.Kind != "unchanged" && n < maxItems {
			c.store(other, noVersion, report.Items, true)
			n++
		}
	}
	return nil
}

// confirm notes that the diagnostics of a file are those of a newer version too.
func (c *client) confirm(path string, version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.files[path]; f != nil {
		again := *f
		c.seq++
		again.version, again.seq, again.at = version, c.seq, time.Now()
		c.files[path] = &again
		c.wakeLocked()
	}
}

// pulls reports whether diagnostics are asked for.
func (c *client) pulls() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pull
}

// open shows a document to the server. Versions count up, so that old results can be told from new ones.
func (c *client) open(ctx context.Context, path, text string) error {
	c.mu.Lock()
	version := c.versions[path] + 1
	c.versions[path] = version
	c.mu.Unlock()
	return c.notify(ctx, "textDocument/didOpen", didOpenParams{textItem{uriOf(path), languageID(path), version, text}})
}

// change sends a new text, as the smallest replacement if the server understands that, and says that it was saved:
// some servers check only then.
func (c *client) change(ctx context.Context, path, before, after string) error {
	c.mu.Lock()
	version := c.versions[path] + 1
	c.versions[path] = version
	c.mu.Unlock()
	change := textChange{Text: after}
	if c.incremental {
		change = c.enc.contentChange(before, after)
	}
	err := c.notify(ctx, "textDocument/didChange", didChangeParams{versionedDocument{uriOf(path), version}, []textChange{change}})
	if err == nil && c.save {
		err = c.notify(ctx, "textDocument/didSave", documentParams{textDocument{uriOf(path)}})
	}
	return err
}

// closeFile tells the server to read a document from disk again.
func (c *client) closeFile(ctx context.Context, path string) error {
	c.mu.Lock()
	delete(c.versions, path)
	c.mu.Unlock()
	return c.notify(ctx, "textDocument/didClose", documentParams{textDocument{uriOf(path)}})
}

// stop ends the server: politely, then not.
func (c *client) stop() (sandbox.Result, error) {
	const patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if c.conn.Err() == nil && c.call(ctx, "shutdown", nil, nil) == nil {
		_ = c.notify(ctx, "exit", nil) // or it has ended
		select {
		case <-c.service.Done():
		case <-ctx.Done():
		}
	}
	_ = c.conn.Close()
	return c.service.Stop()
}
