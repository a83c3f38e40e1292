package gemini

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// decoder turns the chunks of one stream into our events.
type decoder struct {
	provider string
	callID   func() string // for calls the provider gives no id

	started bool
	join    model.Joiner
	open    string // "", text or reasoning
	block   int    // counts the blocks
	meta    model.Meta
	usage   model.Usage
	counted bool
	calls   int
	reason  string // why it finished, in the provider's word
	done    bool
}

type chunk struct {
	Candidates []struct {
		Content struct {
			Parts []part `json:"parts"`
		} `json:"content"`
		FinishReason      string `json:"finishReason"`
		GroundingMetadata *struct {
			GroundingChunks []struct {
				Web struct{ URI, Title string } `json:"web"`
			} `json:"groundingChunks"`
		} `json:"groundingMetadata"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata *struct {
		Prompt     int64 `json:"promptTokenCount"`
		ToolPrompt int64 `json:"toolUsePromptTokenCount"`
		Candidates int64 `json:"candidatesTokenCount"`
		Thoughts   int64 `json:"thoughtsTokenCount"`
		Cached     int64 `json:"cachedContentTokenCount"`
		Total      int64 `json:"totalTokenCount"`
	} `json:"usageMetadata"`
	ModelVersion string          `json:"modelVersion"`
	ResponseID   string          `json:"responseId"`
	Error        json.RawMessage `json:"error"`
}

type part struct {
	Text             json.RawMessage `json:"text"`
	Thought          bool            `json:"thought"`
	ThoughtSignature string          `json:"thoughtSignature"`
	FunctionCall     *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	ExecutableCode      json.RawMessage `json:"executableCode"`
	CodeExecutionResult json.RawMessage `json:"codeExecutionResult"`
}

// chunk reads one piece of the answer.
func (d *decoder) chunk(data []byte) ([]model.Event, error) {
	if bytes.Equal(bytes.TrimSpace(data), []byte("[DONE]")) {
		return nil, nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, model.Failure{Provider: d.provider, Body: data, Message: "the provider sent what is not JSON", Type: "server_error"}.Error()
	}
	if c.Error != nil {
		return nil, failure(model.Failure{Provider: d.provider, Body: data})
	}
	var out []model.Event
	if !d.started {
		d.started = true
		out = append(out, model.Start{ID: c.ResponseID, Model: c.ModelVersion})
	}
	if reason := c.PromptFeedback.BlockReason; reason != "" && d.reason == "" {
		d.reason = reason
	}
	if len(c.Candidates) > 0 {
		cand := c.Candidates[0]
		for _, p := range cand.Content.Parts {
			out = append(out, d.part(p)...)
		}
		if g := cand.GroundingMetadata; g != nil {
			for _, s := range g.GroundingChunks {
				if s.Web.URI != "" {
					out = append(out, model.Source{ID: s.Web.URI, URL: s.Web.URI, Title: s.Web.Title})
				}
			}
		}
		if cand.FinishReason != "" {
			d.reason = cand.FinishReason
		}
	}
	if u := c.UsageMetadata; u != nil {
		d.usage = model.Usage{
			Input: max(u.Prompt, 0) + max(u.ToolPrompt, 0), CacheRead: max(u.Cached, 0),
			Output: max(u.Candidates, 0) + max(u.Thoughts, 0), Reasoning: max(u.Thoughts, 0), Total: max(u.Total, 0),
		}
		d.counted = true
		out = append(out, model.Used{Usage: d.usage})
	}
	return out, nil
}

func (d *decoder) part(p part) []model.Event {
	meta := signatureMeta(p.ThoughtSignature)
	switch {
	case p.FunctionCall != nil:
		out := d.end()
		id, input := p.FunctionCall.ID, string(p.FunctionCall.Args)
		if id == "" {
			id = d.callID()
		}
		if input == "" || input == "null" {
			input = "{}"
		}
		d.calls++
		return append(out, model.InputStart{ID: id, Name: p.FunctionCall.Name}, model.InputDelta{ID: id, Text: input},
			model.InputEnd{ID: id}, model.ToolCall{ID: id, Name: p.FunctionCall.Name, Input: input, Meta: meta})
	case p.ExecutableCode != nil:
		id := d.callID()
		return append(d.end(), model.ToolCall{ID: id, Name: "code_execution", Input: string(p.ExecutableCode), Executed: true, Meta: meta})
	case p.CodeExecutionResult != nil:
		return append(d.end(), model.ToolResult{Name: "code_execution", Output: p.CodeExecutionResult, Meta: meta})
	case len(p.Text) > 0 && p.Text[0] == '"':
		text, _ := d.join.Text(p.Text)
		return d.text(text, p.Thought, meta)
	default:
		return nil
	}
}

// text extends the block of its kind, or begins one. A signature may come with the last
// piece of a block, even an empty one.
func (d *decoder) text(text string, thought bool, meta model.Meta) (out []model.Event) {
	kind := "text"
	if thought {
		kind = "reasoning"
	}
	if text == "" && d.open == "" && meta == nil {
		return nil
	}
	if d.open != kind && (text != "" || d.open == "") {
		out = d.end()
		d.open = kind
		d.block++
		if thought {
			out = append(out, model.ReasoningStart{ID: d.id()})
		} else {
			out = append(out, model.TextStart{ID: d.id()})
		}
	}
	if meta != nil {
		d.meta = meta
	}
	switch {
	case text == "":
	case thought:
		out = append(out, model.ReasoningDelta{ID: d.id(), Text: text})
	default:
		out = append(out, model.TextDelta{ID: d.id(), Text: text})
	}
	return out
}

func (d *decoder) id() string { return strconv.Itoa(d.block) }

// end closes the open block.
func (d *decoder) end() (out []model.Event) {
	rest := d.join.Rest()
	switch d.open {
	case "text":
		if rest != "" {
			out = append(out, model.TextDelta{ID: d.id(), Text: rest})
		}
		out = append(out, model.TextEnd{ID: d.id(), Meta: d.meta})
	case "reasoning":
		if rest != "" {
			out = append(out, model.ReasoningDelta{ID: d.id(), Text: rest})
		}
		out = append(out, model.ReasoningEnd{ID: d.id(), Meta: d.meta})
	}
	d.open, d.meta = "", nil
	return out
}

// finish ends the answer. Without a reason it broke off.
func (d *decoder) finish() ([]model.Event, error) {
	out := d.end()
	if d.reason == "" {
		return out, model.Incomplete()
	}
	return append(out, model.Finish{Reason: d.finishReason(), Raw: d.reason}), nil
}

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
	if json.Unmarshal(raw, &body) == nil {
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
