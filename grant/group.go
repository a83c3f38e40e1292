package grant

import (
	"slices"

	"github.com/lathe-agent/lathe"
)

// Group returns the oldest request and those that one answer can answer with it: the permissions that the same call asks
// for at once. The command of a call comes first, and its other reasons follow.
func Group(all []lathe.Fact) []lathe.Fact {
	first, ok := all[0].(*lathe.PermissionAsked)
	if !ok || first.Tool == nil {
		return all[:1]
	}
	group := []lathe.Fact{first}
	for _, f := range all[1:] {
		if r, ok := f.(*lathe.PermissionAsked); ok && r.Session == first.Session && r.Tool != nil && r.Tool.Message == first.Tool.Message && r.Tool.Call == first.Tool.Call {
			group = append(group, f)
		}
	}
	if at := slices.IndexFunc(group, func(f lathe.Fact) bool { return f.(*lathe.PermissionAsked).Permission == "bash" }); at > 0 {
		command := group[at]
		group = slices.Insert(slices.Delete(group, at, at+1), 0, command)
	}
	return group
}
