package catalog

import "strings"

// Sampling holds the recommended sampling parameters of a model family, used as defaults. A nil
// value is left to the provider.
type Sampling struct {
	Temperature, TopP *float64
	TopK              *int
}

// families are the ones whose makers recommend something; the first whose word is in the
// id of a model counts.
var families = []struct {
	word              string
	temperature, topP float64 // 0 is not said
	topK              int
}{
	{"qwen", 0.55, 1, 0},
	{"gemini", 1, 0.95, 64},
	{"glm-4.6", 1, 0, 0},
	{"glm-4.7", 1, 0, 0},
	{"minimax-m2", 1, 0.95, 20},
	{"kimi-k2-thinking", 1, 0, 0},
	{"kimi-k2.5", 1, 0.95, 0},
	{"kimi-k2", 0.6, 0, 0},
}

// Sampling returns the recommended sampling of the model.
func (m *Model) Sampling() (s Sampling) {
	id := strings.ToLower(m.ID)
	for _, f := range families {
		if !strings.Contains(id, f.word) {
			continue
		}
		if f.temperature != 0 && m.Temperature {
			s.Temperature = &f.temperature
		}
		if f.topP != 0 {
			s.TopP = &f.topP
		}
		if f.topK != 0 {
			s.TopK = &f.topK
		}
		return s
	}
	return s
}
