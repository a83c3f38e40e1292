package tool

import "context"

// InvalidName is the name of the hidden tool that answers calls nothing else can answer.
const InvalidName = "invalid"

// refusal is what a call is rewritten to when it cannot be run.
type refusal struct {
	Tool  string `json:"tool" jsonschema:"the name that was called"`
	Error string `json:"error" jsonschema:"why it could not be run"`
}

// Invalid returns the tool that such calls are rewritten to. It succeeds, so that the model
// reads the reason as the result of its call and can call again.
func Invalid() Tool {
	spec := Spec{Name: InvalidName, Description: "Answers calls that cannot be run. Do not call it.", Hidden: true}
	return Define(spec, func(_ context.Context, _ *Call, in refusal) (Result, error) {
		return Result{Title: "Invalid Tool", Output: "The arguments of this call are invalid and nothing was run: " + in.Error}, nil
	})
}
