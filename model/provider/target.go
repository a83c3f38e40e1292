package provider

import (
	"strings"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/catalog"
)

// Target is the model as the one a history is converted for.
func (i Info) Target() model.Target {
	input := i.Model.Modalities.Input
	if input == nil {
		input = []string{} // a model that nothing is known about reads text
	}
	return model.Target{Provider: i.Provider.ID, Model: i.Model.ID, Input: input, ResultMedia: i.resultMedia}
}

// resultMedia reports which media the result of a tool may hold: few providers take any.
func (i Info) resultMedia(mime string) bool {
	switch i.Model.NPM {
	case catalog.Anthropic, catalog.VertexAnthropic, catalog.OpenAI, catalog.Mantle:
		return true
	case catalog.Azure:
		return i.Protocol == Responses
	case catalog.Bedrock, catalog.XAI:
		return model.Modality(mime) == "image"
	case catalog.Google, catalog.Vertex:
		return strings.Contains(strings.ToLower(i.Model.APIID), "gemini-3")
	}
	return false
}
