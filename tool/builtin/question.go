package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
)

//go:embed question.md
var questionText string

type questionInput struct {
	Questions []questionEntry `json:"questions" jsonschema:"one to four"`
}

type questionEntry struct {
	Question string           `json:"question" jsonschema:"Which database?"`
	Header   string           `json:"header" jsonschema:"up to 30 characters: Database"`
	Options  []questionOption `json:"options"`
	Multiple *bool            `json:"multiple,omitempty" jsonschema:"several may be chosen"`
}

type questionOption struct {
	Label       string `json:"label" jsonschema:"short: SQLite"`
	Description string `json:"description" jsonschema:"what it means: no server"`
}

// Question returns the tool that asks the user. It needs no permission; where no user can
// answer, it must not be offered.
func Question() tool.Tool {
	spec := tool.Spec{Name: "question", Description: strings.TrimSpace(questionText)}
	return tool.Define(spec, func(ctx context.Context, c *tool.Call, in questionInput) (tool.Result, error) {
		if faults := in.faults(); len(faults) > 0 {
			return tool.Result{}, tool.InvalidArguments("question", faults)
		}
		got, err := c.Host.AskUser(ctx, in.asked())
		if err != nil {
			return tool.Result{}, err
		}
		answers := make([][]string, len(in.Questions))
		for i := range answers {
			answers[i] = []string{}
			if i < len(got) && got[i] != nil {
				answers[i] = got[i]
			}
		}
		meta, err := json.Marshal(struct {
			Answers [][]string `json:"answers"`
		}{answers})
		return tool.Result{
			Title:  "Asked " + phrase.Count(len(answers), "question"),
			Output: in.answered(answers), Metadata: meta,
		}, err
	})
}

// faults says what would leave the user without a clear choice. Long texts are fine.
func (in questionInput) faults() args.Faults {
	var out args.Faults
	add := func(problem, path string, at ...any) {
		out = append(out, args.Fault{Path: fmt.Sprintf(path, at...), Problem: problem})
	}
	if len(in.Questions) == 0 {
		add("must have at least one question", "questions")
	}
	for i, q := range in.Questions {
		if strings.TrimSpace(q.Question) == "" {
			add("is empty; write the whole question", "questions[%d].question", i)
		}
		labels := map[string]int{}
		for j, o := range q.Options {
			label := strings.ToLower(strings.TrimSpace(o.Label))
			if label == "" {
				add("is empty; name the choice", "questions[%d].options[%d].label", i, j)
				continue
			}
			if first, twice := labels[label]; twice {
				add(fmt.Sprintf("is %q, as options[%d] is; labels must be unique", phrase.Clip(o.Label), first), "questions[%d].options[%d].label", i, j)
				continue
			}
			labels[label] = j
		}
	}
	return out
}

func (in questionInput) asked() []lathe.Question {
	out := make([]lathe.Question, len(in.Questions))
	for i, q := range in.Questions {
		out[i] = lathe.Question{Question: q.Question, Header: q.Header, Options: []lathe.Option{}}
		if q.Multiple != nil {
			out[i].Multiple = lathe.FlagOf(*q.Multiple)
		}
		for _, o := range q.Options {
			out[i].Options = append(out[i].Options, lathe.Option{Label: o.Label, Description: o.Description})
		}
	}
	return out
}

// answered is what the model reads.
func (in questionInput) answered(answers [][]string) string {
	var parts []string
	none := 0
	for i, q := range in.Questions {
		text := strings.Join(answers[i], ", ")
		if text == "" {
			text = "Unanswered"
			none++
		}
		parts = append(parts, fmt.Sprintf("\"%s\"=\"%s\"", q.Question, text))
	}
	out := "The user answered: " + strings.Join(parts, ", ") + "."
	if none > 0 {
		out += " Decide yourself what was left unanswered, and say what you assumed."
	}
	return out
}
