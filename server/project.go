package server

import (
	"net/http"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/git"
)

// projectAPI answers for projects.
type projectAPI struct {
	instances Instances
	engine    Engine
	git       *git.Git
}

func (a projectAPI) routes() []row {
	return []row{
		answer(route("GET /project", "project.list", "project", mayRead,
			"List all projects, most recent first", []failure{failsBad}), a.listProjects),
		answer(route("GET /project/current", "project.current", "project", mayRead,
			"Get the project of the directory", []failure{failsBad}), inPlace(a.currentProject)),
		answer(route("POST /project/git/init", "project.initGit", "project", mayAll,
			"Create a Git repository in the directory", []failure{failsBad}), a.initProject),
		answer(route("PATCH /project/{projectID}", "project.update", "project", mayAll,
			"Change the name, icon or commands of a project", []failure{failsBad, failsProject}), a.updateProject),
		answer(route("GET /project/{projectID}/directories", "project.directories", "project", mayRead,
			"List the checkouts of a project", []failure{failsBad, failsProject}), a.projectDirectories),
	}
}

func (a projectAPI) listProjects(c *call, _, _ none) ([]lathe.Project, error) {
	if _, _, err := c.place(); err != nil { // which may be a new one
		return nil, err
	}
	return a.engine.Projects(c.Context())
}

func (a projectAPI) currentProject(c *call, at workspace.Place, _, _ none) (lathe.Project, error) {
	return a.project(c, at.ProjectID) // as it is now, not as it was when the directory was opened
}

// project finds a project by its id.
func (a projectAPI) project(c *call, id string) (lathe.Project, error) {
	all, err := a.engine.Projects(c.Context())
	if err != nil {
		return lathe.Project{}, err
	}
	for _, p := range all {
		if p.ID == id {
			return p, nil
		}
	}
	return lathe.Project{}, noProject(id)
}

func noProject(id string) error {
	id = phrase.Shorten(id, 200)
	return &problem{status: http.StatusNotFound, body: taggedBody{Tag: "ProjectNotFoundError", Project: id, Message: "Project not found: " + id}}
}

// initProject makes a repository of a directory that belongs to none.
func (a projectAPI) initProject(c *call, _, _ none) (lathe.Project, error) {
	at, p, err := c.place()
	if err != nil || at.VCS == "git" {
		return p, err
	}
	if err := a.git.Init(c.Context(), at.Directory); err != nil {
		return p, err
	}
	a.instances.Dispose(at.Directory) // its cached state is stale
	_, p, err = c.place()
	return p, err
}

type (
	projectBody struct {
		Name     *string          `json:"name,omitempty"`
		Icon     *projectIcon     `json:"icon,omitempty"`
		Commands *projectCommands `json:"commands,omitempty"`
	}
	projectIcon struct {
		URL      string `json:"url,omitempty"`
		Override string `json:"override,omitempty"`
		Color    string `json:"color,omitempty"`
	}
	projectCommands struct {
		Start string `json:"start,omitempty" doc:"runs when a workspace of the project is made"`
	}
)

// The limits of a stored project: its icon is in every event about it.
const (
	mostProjectName = 1000
	mostProjectIcon = 1 << 20
)

func (a projectAPI) updateProject(c *call, _ none, in projectBody) (lathe.Project, error) {
	var edit lathe.ProjectEdit
	if in.Name != nil {
		edit.Name = lathe.Some(*in.Name)
	}
	var err1, err2 error
	if in.Icon != nil {
		edit.Icon, err1 = encode(in.Icon)
	}
	if in.Commands != nil {
		edit.Commands, err2 = encode(in.Commands)
	}
	switch {
	case err1 != nil:
		return lathe.Project{}, err1
	case err2 != nil:
		return lathe.Project{}, err2
	case len(edit.Name.Value) > mostProjectName, len(edit.Icon)+len(edit.Commands) > mostProjectIcon:
		return lathe.Project{}, badRequest("Body", "name is limited to %d bytes, icon and commands to %d", mostProjectName, mostProjectIcon)
	}
	id := c.PathValue("projectID")
	p, err := a.engine.EditProject(c.Context(), id, edit)
	if lathe.CodeOf(err) == lathe.NotFound {
		return p, noProject(id)
	}
	return p, err
}

type projectDirectory struct {
	Directory string `json:"directory"`
	Strategy  string `json:"strategy,omitempty"`
}

// projectDirectories lists the main checkout and the linked ones. Directories without a
// repository have nothing in common.
func (a projectAPI) projectDirectories(c *call, _, _ none) ([]projectDirectory, error) {
	p, err := a.project(c, c.PathValue("projectID"))
	if err != nil || p.VCS != "git" {
		return nil, err
	}
	out := []projectDirectory{{Directory: p.Worktree}}
	for _, dir := range p.Sandboxes {
		out = append(out, projectDirectory{Directory: dir, Strategy: "git_worktree"})
	}
	return out, nil
}
