package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wire"
)

// responsesEvent has the fields of all events that are used; each has some of them.
type responsesEvent struct {
	Type         string          `json:"type"`
	Response     *response       `json:"response"`
	OutputIndex  number          `json:"output_index"`
	ItemID       string          `json:"item_id"`
	ContentIndex number          `json:"content_index"`
	SummaryIndex number          `json:"summary_index"`
	Item         json.RawMessage `json:"item"`
	Delta        json.RawMessage `json:"delta"`
	Text         json.RawMessage `json:"text"`
	Refusal      json.RawMessage `json:"refusal"`
	Arguments    json.RawMessage `json:"arguments"`
	Input        json.RawMessage `json:"input"`
	Annotation   annotation      `json:"annotation"`
	Error        json.RawMessage `json:"error"`
	Copilot      *copilotUsage   `json:"copilot_usage"`
}

type response struct {
	ID         string            `json:"id"`
	Object     string            `json:"object"`
	Model      string            `json:"model"`
	Status     string            `json:"status"`
	Error      json.RawMessage   `json:"error"`
	Output     []json.RawMessage `json:"output"`
	Usage      *responsesUsage   `json:"usage"`
	Copilot    *copilotUsage     `json:"copilot_usage"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// wireItem is a piece of the output: a message, a reasoning, a call.
type wireItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"` // of a custom tool: a text
	Encrypted string          `json:"encrypted_content"`
	Phase     string          `json:"phase"`
	Action    json.RawMessage `json:"action"`
	Code      json.RawMessage `json:"code"`
	Queries   json.RawMessage `json:"queries"`
	Error     json.RawMessage `json:"error"`
	Summary   []wirePart      `json:"summary"`
	Content   []wirePart      `json:"content"`
}

type wirePart struct {
	Type        string          `json:"type"`
	Text        json.RawMessage `json:"text"`
	Refusal     json.RawMessage `json:"refusal"`
	Annotations []annotation    `json:"annotations"`
}

type responsesUsage struct {
	Input        number `json:"input_tokens"`
	Output       number `json:"output_tokens"`
	Total        number `json:"total_tokens"`
	InputDetails struct {
		Cached  number `json:"cached_tokens"`
		Written number `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning number `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *responsesUsage) usage() model.Usage {
	return model.Usage{
		Input: most(u.Input), Output: most(u.Output), Total: most(u.Total),
		CacheRead: most(u.InputDetails.Cached), CacheWrite: most(u.InputDetails.Written),
		Reasoning: most(u.OutputDetails.Reasoning),
	}
}

// isHosted reports whether the provider runs calls of that type itself. Their items are
// given back as they came.
func isHosted(kind string) bool {
	return slices.Contains([]string{"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools"}, kind)
}

// wantsAnswer reports whether an item is a call of a tool that we do not offer: it names a call
// whose result the provider waits for.
func wantsAnswer(w *wireItem) bool {
	return strings.HasSuffix(w.Type, "_call") && w.CallID != "" && !isHosted(w.Type)
}

// itemMeta is the metadata on an item's blocks, so that it can be sent back.
type itemMeta struct {
	ItemID    string          `json:"itemId,omitempty"`
	Encrypted string          `json:"reasoningEncryptedContent,omitempty"`
	Phase     string          `json:"phase,omitempty"`
	Type      string          `json:"type,omitempty"`          // of a call the provider ran
	Raw       bool            `json:"reasoningText,omitempty"` // the thoughts themselves, not their summary
	Custom    bool            `json:"custom,omitempty"`        // a call whose input was plain text
	Extra     json.RawMessage `json:"extraContent,omitempty"`
}

func (m itemMeta) encode() model.Meta {
	if m.ItemID == "" && m.Encrypted == "" && !m.Raw && m.Phase == "" && m.Type == "" && !m.Custom {
		return nil
	}
	b, _ := encodeJSON(struct { // texts and flags always can be
		OpenAI   itemMeta `json:"openai"`
		Executed bool     `json:"providerExecuted,omitempty"`
	}{m, m.Type != ""})
	return b
}

// readMeta finds the metadata under the provider's name. Histories of other clients have it
// under that of the cloud which serves the protocol.
func readMeta(meta model.Meta) (out itemMeta) {
	if len(meta) == 0 {
		return out
	}
	var named struct{ OpenAI, Azure, Copilot *itemMeta }
	if wire.Unmarshal(meta, &named) != nil {
		return out
	}
	for _, m := range []*itemMeta{named.OpenAI, named.Azure, named.Copilot} {
		if m != nil {
			return *m
		}
	}
	return out
}
