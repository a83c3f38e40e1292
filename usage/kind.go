package usage

import (
	"slices"
	"strings"
)

// The kinds of failure of a call.
const (
	kindArguments   = "arguments"
	kindMissing     = "not found"
	kindAmbiguous   = "ambiguous"
	kindStale       = "stale"
	kindPermission  = "permission"
	kindTimeout     = "timeout"
	kindAborted     = "aborted"
	kindEnvironment = "environment"
)

// kinds are the phrases of known failures, also of earlier versions and imported sessions. The first
// match wins.
var kinds = []struct {
	kind  string
	words []string
}{
	{kindAborted, []string{"aborted", "interrupted", "cancelled", "canceled"}},
	{kindPermission, []string{
		"user rejected", "user dismissed", "settings forbids", "plugin of the user forbids", "switched off", "tools are off",
		"rejected permission", "prevents you from using", "has specified a rule", "permission denied by",
	}},
	{kindTimeout, []string{"did not answer in time", "did not answer within", "timed out", "longer than its limit", "exceeding timeout", "deadline"}},
	{kindStale, []string{
		"has changed since", "was changed by someone else", "leads elsewhere than", "been modified since", "must read", "read it first", "before overwriting",
	}},
	{kindAmbiguous, []string{"multiple matches", "more than one", "several times", "times in", "places", "ambiguous"}},
	{kindArguments, []string{
		"arguments", "invalid", "is empty", "must be", "must begin", "does not fit", "are needed", "schema", "cannot be used", "there is no tool", "unknown tool", "unavailable tool",
		"is past the end", "not a url", "identical", "escaped once too often",
	}},
	{kindMissing, []string{"not found", "does not exist", "no such file", "there is no", "unknown skill", "is not in", "could not find", "failed to find", "not a directory", "not in the file"}},
	{kindArguments, []string{"of patchtext", "verification failed", "required"}},
}

// kindOf guesses the kind of failure from the first lines of the error, because stored calls have
// no error code.
func kindOf(text string) string {
	const most = 400
	text = strings.ToLower(text[:min(len(text), most)])
	for _, k := range kinds {
		if slices.ContainsFunc(k.words, func(w string) bool { return strings.Contains(text, w) }) {
			return k.kind
		}
	}
	return kindEnvironment
}
