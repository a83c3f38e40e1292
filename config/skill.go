package config

import (
	"path/filepath"
	"slices"
)

// Skill is a folder with a SKILL.md: instructions that a model fetches when it needs them.
type Skill struct {
	Name, Description string
	Path              string // of its SKILL.md
	Content           string
	Layer             Layer // whose it is
}

// findSkills finds all skills; of two with one name the later place counts. Unreadable files
// are reported as warnings.
func (l *loading) findSkills() {
	byName := map[string]Skill{}
	for _, place := range l.skillPlaces(l.out.Config.Skills.Paths, l.out.user.Skills.Paths) {
		for _, f := range l.walk(place, isSkill) {
			if l.hides(f.path) || f.leaves && !l.out.trusted {
				continue
			}
			if sk, ok := l.skill(f.path, place.layer); ok {
				byName[sk.Name] = sk
			}
		}
	}
	for _, name := range names(byName) {
		l.out.Skills = append(l.out.Skills, byName[name])
	}
}

// riskySkills are those of the project that lie elsewhere, or have the name of one of the
// user's and would be taken for it.
func (l *loading) riskySkills() (out []string) {
	own := map[string]bool{}
	theirs := map[string][]string{}
	for _, place := range l.skillPlaces(l.skillPaths()) {
		for _, f := range l.walk(place, isSkill) {
			if f.leaves {
				out = append(out, f.path)
				continue
			}
			switch sk, ok := l.skill(f.path, place.layer); {
			case !ok:
			case place.layer == Project:
				theirs[sk.Name] = append(theirs[sk.Name], f.path)
			default:
				own[sk.Name] = true
			}
		}
	}
	for _, name := range names(theirs) {
		if own[name] {
			out = append(out, theirs[name]...)
		}
	}
	return out
}

// skillPaths are the folders for skills that settings name and that may be looked at, and those of the user.
func (l *loading) skillPaths() (all, mine []string) {
	for _, s := range l.sources {
		paths := s.root.get("skills").get("paths")
		if paths == nil {
			continue
		}
		for _, it := range paths.items {
			switch {
			case s.layer != Project:
				all, mine = append(all, it.text), append(mine, it.text)
			case !isOutside(it) && !it.asks: // where the others lead is not looked at
				all = append(all, it.text)
			}
		}
	}
	return all, mine
}

// skill reads a skill, once for each path.
func (l *loading) skill(path string, layer Layer) (sk Skill, ok bool) {
	if known, found := l.skills[path]; found {
		known.Layer = layer
		return known, known.Name != ""
	}
	sk = l.readSkill(path, layer)
	if l.skills == nil {
		l.skills = map[string]Skill{}
	}
	l.skills[path] = sk
	return sk, sk.Name != ""
}

// readSkill returns one without a name if there is none.
func (l *loading) readSkill(path string, layer Layer) Skill {
	s, body, err := l.readMarkdown(path, layer, false)
	if err != nil {
		l.leaveOut(err)
		return Skill{}
	}
	sk := Skill{Path: path, Content: body, Layer: layer}
	for key, to := range map[string]*string{"name": &sk.Name, "description": &sk.Description} {
		if v := s.root.get(key); v != nil && v.kind == isString {
			*to = v.text
		}
	}
	if sk.Name == "" {
		l.warn(Problem{Path: path, Message: `the skill has no "name" in its frontmatter and is ignored`})
	}
	return sk
}

// skillPlaces lists the folders to search, lowest first; more are those of the config,
// mine those of the user's.
func (l *loading) skillPlaces(more, mine []string) (out []found) {
	var outside []string
	if !l.on("DISABLE_EXTERNAL_SKILLS") {
		if !l.on("DISABLE_CLAUDE_CODE") && !l.on("DISABLE_CLAUDE_CODE_SKILLS") {
			outside = append(outside, ".claude")
		}
		outside = append(outside, ".agents")
	}
	for _, tool := range outside {
		if l.Home != "" {
			out = append(out, found{path: filepath.Join(l.Home, tool, "skills"), layer: User})
		}
	}
	for _, dir := range l.upward() {
		for _, tool := range outside {
			out = append(out, found{filepath.Join(dir, tool, "skills"), l.layer(dir), dir})
		}
	}
	for _, d := range l.dirs() {
		out = append(out, d.below("skill"), d.below("skills"))
	}
	for _, path := range more {
		place := found{path: expandHome(path, l.Home), layer: User}
		if !filepath.IsAbs(place.path) {
			place.path = filepath.Join(l.Directory, place.path)
		}
		if !slices.Contains(mine, path) {
			place.layer, place.base = Project, l.Directory
		}
		out = append(out, place)
	}
	for _, path := range l.Skills {
		out = append(out, found{path: path, layer: User})
	}
	return out
}
