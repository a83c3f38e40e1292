package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/sse"
	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// decoder turns the chunks of one stream into our events.
type decoder struct {
	provider string
	ids      wire.CallIDs

	started bool
	block   *wire.Block // the last text or reasoning; it may be closed
	blocks  int         // how many there were
	usage   model.Usage
	counted bool
	calls   int
	open    *partialCall // whose arguments are still coming
	code    string       // the id of the last code that the provider ran
	reason  string       // why it finished, in the provider's word
	done    bool
	slow    bool // tests read everything on the general path
	out     []model.Event
}

type chunk struct {
	Candidates     []candidate `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata *wireUsage      `json:"usageMetadata"`
	ModelVersion  string          `json:"modelVersion"`
	ResponseID    string          `json:"responseId"`
	Error         json.RawMessage `json:"error"`
}

type candidate struct {
	Content struct {
		Parts []part `json:"parts"`
	} `json:"content"`
	FinishReason      string `json:"finishReason"`
	GroundingMetadata *struct {
		GroundingChunks []struct {
			Web struct{ URI, Title string } `json:"web"`
		} `json:"groundingChunks"`
	} `json:"groundingMetadata"`
}

type wireUsage struct {
	Prompt     int64 `json:"promptTokenCount"`
	ToolPrompt int64 `json:"toolUsePromptTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"`
	Thoughts   int64 `json:"thoughtsTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount"`
	Total      int64 `json:"totalTokenCount"`
}

type functionCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`

	PartialArgs  []partialArg `json:"partialArgs"`
	WillContinue bool         `json:"willContinue"`
}

type part struct {
	Text                json.RawMessage `json:"text"`
	Thought             bool            `json:"thought"`
	ThoughtSignature    string          `json:"thoughtSignature"`
	FunctionCall        *functionCall   `json:"functionCall"`
	ExecutableCode      json.RawMessage `json:"executableCode"`
	CodeExecutionResult json.RawMessage `json:"codeExecutionResult"`
}

// IsDone reports whether the answer has come to its end.
func (d *decoder) IsDone() bool { return d.done }

// Decode reads one piece of the answer.
func (d *decoder) Decode(e sse.Event) ([]model.Event, error) { return d.chunk(e.Data) }

// chunk decodes one event of the stream. Plain text takes a fast path without decoding the whole JSON.
func (d *decoder) chunk(data []byte) ([]model.Event, error) {
	d.out = d.out[:0]
	if d.started && !d.slow {
		if s, ok := scanChunk(data); ok {
			err := d.text(s.text, s.thought, "")
			if s.hasUsage {
				d.count(s.usage)
			}
			return d.out, err
		}
	}
	if bytes.Equal(bytes.TrimSpace(data), []byte("[DONE]")) {
		return nil, nil
	}
	var c chunk
	if err := wire.Unmarshal(data, &c); err != nil {
		return nil, wire.MalformedEvent(d.provider, data, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return nil, failure(model.Failure{Provider: d.provider, Body: data})
	}
	return d.general(c)
}

// sources sends the sources of the answer.
func (d *decoder) sources(c candidate) {
	if c.GroundingMetadata == nil {
		return
	}
	for _, s := range c.GroundingMetadata.GroundingChunks {
		if s.Web.URI != "" {
			d.emit(model.Source{ID: s.Web.URI, URL: s.Web.URI, Title: s.Web.Title})
		}
	}
}

// general reads a chunk that may say anything.
func (d *decoder) general(c chunk) ([]model.Event, error) {
	if !d.started {
		d.started = true
		d.emit(model.Start{ID: c.ResponseID, Model: c.ModelVersion})
	}
	if reason := c.PromptFeedback.BlockReason; reason != "" && d.reason == "" {
		d.reason = reason
	}
	if len(c.Candidates) > 0 {
		cand := c.Candidates[0]
		for _, p := range cand.Content.Parts {
			if err := d.part(p); err != nil {
				return d.out, err
			}
		}
		d.sources(cand)
		d.reason = cmp.Or(cand.FinishReason, d.reason)
	}
	if c.UsageMetadata != nil {
		d.count(*c.UsageMetadata)
	}
	return d.out, nil
}

func (d *decoder) emit(events ...model.Event) { d.out = append(d.out, events...) }

// count reports the usage if it changed.
func (d *decoder) count(w wireUsage) {
	u := model.Usage{
		Input: tokens(w.Prompt) + tokens(w.ToolPrompt), CacheRead: tokens(w.Cached),
		Output: tokens(w.Candidates) + tokens(w.Thoughts), Reasoning: tokens(w.Thoughts), Total: tokens(w.Total),
	}
	if !d.counted || d.usage != u {
		d.usage, d.counted = u, true
		d.emit(model.UsageUpdate{Usage: u})
	}
}

func tokens(n int64) int64 { return wire.Number{N: n}.Tokens() }

// part emits the events of a part: a call, executed code, or text.
func (d *decoder) part(p part) error {
	switch {
	case p.FunctionCall != nil:
		d.end()
		return d.call(*p.FunctionCall, p.ThoughtSignature)
	case p.ExecutableCode != nil:
		d.end()
		d.code = d.ids.Take("")
		d.emit(model.ToolCall{ID: d.code, Name: "code_execution", Input: string(p.ExecutableCode), Executed: true, Meta: executedMeta(p.ThoughtSignature)})
	case p.CodeExecutionResult != nil:
		d.end()
		d.emit(model.ToolResult{ID: d.code, Name: "code_execution", Output: p.CodeExecutionResult, Meta: executedMeta(p.ThoughtSignature)})
	case len(p.Text) > 0 && p.Text[0] == '"':
		return d.text(p.Text, p.Thought, p.ThoughtSignature)
	}
	return nil
}

// call reads a call, or a piece of one whose arguments are streamed. One that never ends is never
// made a call.
func (d *decoder) call(f functionCall, signature string) error {
	if d.open == nil && !f.WillContinue && len(f.PartialArgs) == 0 {
		input := string(f.Args)
		if input == "" || input == "null" {
			input = "{}"
		}
		id := d.ids.Take(f.ID)
		d.emit(model.InputStart{ID: id, Name: f.Name})
		d.emitCall(id, f.Name, input, signature)
		return nil
	}
	if d.open != nil && f.Name != "" { // another begins: the one before has no end
		d.emit(model.InputEnd{ID: d.open.id})
		d.open = nil
	}
	if d.open == nil {
		d.open = &partialCall{id: d.ids.Take(f.ID), name: f.Name, args: &argument{}}
		d.emit(model.InputStart{ID: d.open.id, Name: f.Name})
	}
	d.open.signature = cmp.Or(signature, d.open.signature)
	if err := d.open.take(f); err != nil {
		return model.Failure{Provider: d.provider, Message: "the provider sent invalid arguments of a tool call: " + err.Error(), Type: "server_error"}.Error()
	}
	if c := d.open; !f.WillContinue {
		d.open = nil
		d.emitCall(c.id, c.name, string(c.args.append(nil)), c.signature)
	}
	return nil
}

func (d *decoder) emitCall(id, name, input, signature string) {
	d.calls++
	d.emit(model.InputDelta{ID: id, Text: input}, model.InputEnd{ID: id},
		model.ToolCall{ID: id, Name: name, Input: input, Meta: signatureMeta(signature)})
}

// text extends the block of its kind by a JSON string as it stood on the wire, or begins one. A
// signature may come with the last piece of a block, even an empty one.
func (d *decoder) text(raw []byte, thought bool, signature string) error {
	kind, empty := wire.TextBlock, len(raw) <= 2
	if thought {
		kind = wire.ReasoningBlock
	}
	open := d.block.IsOpen()
	if empty && !open && signature == "" {
		return nil
	}
	if !open || d.block.Kind != kind && !empty {
		d.end()
		d.blocks++
		d.block = &wire.Block{Kind: kind, ID: strconv.Itoa(d.blocks)}
		d.emit(d.block.Start())
	}
	if signature != "" {
		d.block.Meta = signatureMeta(signature)
	}
	e, ok := d.block.Grow(raw)
	if !ok {
		return model.Failure{Provider: d.provider, Message: "the provider sent a broken text", Type: "server_error"}.Error()
	}
	if e != nil {
		d.emit(e)
	}
	return nil
}

// end closes the open block.
func (d *decoder) end() {
	if d.block != nil {
		d.emit(d.block.End()...)
	}
}

// Terminate ends a stream that stops or fails: that is its end if it had said why it ends, for it
// has no last event of its own.
func (d *decoder) Terminate(cause error) ([]model.Event, error) {
	d.out = d.out[:0]
	d.done = true
	d.end()
	if d.open != nil { // cut off in the middle of a call, whatever it says
		d.emit(model.InputEnd{ID: d.open.id})
		if d.reason == "STOP" {
			d.reason = "MALFORMED_FUNCTION_CALL"
		}
	}
	if d.reason == "" {
		return d.out, cause
	}
	d.emit(model.Finish{Reason: d.finishReason(), Raw: d.reason})
	return d.out, nil
}

// finishReason maps Gemini's reason. It reports STOP for tool calls too, so the calls decide.
func (d *decoder) finishReason() string {
	switch d.reason {
	case "STOP":
		if d.calls > 0 {
			return model.FinishCalls
		}
		return model.FinishStop
	case "MAX_TOKENS":
		return model.FinishLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE", "OTHER_SAFETY":
		return model.FinishFilter
	case "MALFORMED_FUNCTION_CALL":
		return model.FinishError
	default:
		return model.FinishUnknown
	}
}

func signatureMeta(signature string) model.Meta {
	if signature == "" {
		return nil
	}
	b, _ := json.Marshal(map[string]map[string]string{"google": {"thoughtSignature": signature}})
	return b
}

// executedMeta marks what the provider ran itself.
func executedMeta(signature string) model.Meta {
	if signature == "" {
		return model.Meta(`{"providerExecuted":true}`)
	}
	b := lathe.AppendJSONString([]byte(`{"google":{"thoughtSignature":`), signature)
	return append(b, `},"providerExecuted":true}`...)
}

// failure reads the provider's error object. How long to wait stands in its details; it
// is put where other providers say it.
func failure(f model.Failure) *lathe.Error {
	var body struct {
		Error struct {
			Code    json.Number `json:"code"`
			Message string      `json:"message"`
			Status  string      `json:"status"`
			Details []struct {
				Type       string `json:"@type"`
				RetryDelay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	raw := bytes.TrimSpace(f.Body)
	if len(raw) > 0 && raw[0] == '[' { // some answers wrap the object in a list
		raw = bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("[")), []byte("]"))
	}
	if wire.Unmarshal(raw, &body) == nil {
		f.Type, f.Message = body.Error.Status, body.Error.Message
		if code, err := body.Error.Code.Int64(); err == nil && f.Status == 0 {
			f.Status = int(code)
		}
		for _, d := range body.Error.Details {
			if wait, err := time.ParseDuration(d.RetryDelay); err == nil && strings.HasSuffix(d.Type, "RetryInfo") {
				if f.Header == nil {
					f.Header = http.Header{}
				}
				if f.Header.Get("Retry-After") == "" {
					f.Header.Set("Retry-After-Ms", strconv.FormatInt(wait.Milliseconds(), 10))
				}
			}
		}
	}
	return f.Error()
}
