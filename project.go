package lathe

import "encoding/json"

// GlobalProject is the project of directories that belong to no repository.
const GlobalProject = "global"

// Project is a repository, or [GlobalProject]. Several directories can share one.
type Project struct {
	ID        string
	Worktree  string // main repository directory, "/" for the global project
	VCS       string // "git" or ""
	Name      string
	Icon      json.RawMessage
	Commands  json.RawMessage
	Time      ProjectTime
	Sandboxes []string // further checkouts
	Extra     Extra
}

// ProjectTime is when a project was first and last opened. Initialized is when its
// init command ended, 0 if never.
type ProjectTime struct {
	Created, Updated, Initialized Time
	Extra                         Extra
}

func (p *Project) fields(c *codec) {
	str(c, "id", &p.ID)
	str(c, "worktree", &p.Worktree)
	optStr(c, "vcs", &p.VCS)
	optStr(c, "name", &p.Name)
	raw(c, "icon", &p.Icon)
	raw(c, "commands", &p.Commands)
	object(c, "time", &p.Time)
	strList(c, "sandboxes", &p.Sandboxes)
	c.rest(&p.Extra)
}

func (t *ProjectTime) fields(c *codec) {
	number(c, "created", &t.Created)
	number(c, "updated", &t.Updated)
	optNumber(c, "initialized", &t.Initialized)
	c.rest(&t.Extra)
}

// AppendJSON appends the project as the wire has it.
func (p Project) AppendJSON(dst []byte) []byte { return encode(dst, &p) }

// ProjectEdit changes what the user gave a project; what is not set stays.
type ProjectEdit struct {
	Name           Opt[string]
	Icon, Commands json.RawMessage // JSON objects, or nil
}
