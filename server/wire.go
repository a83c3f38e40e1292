package server

import (
	_ "embed"
	"reflect"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
)

//go:embed wire.txt
var wireText string

// wireSchemas describes the vocabulary. Its types write their JSON themselves, so reflection cannot
// describe them. A test checks every sample against wire.txt.
func wireSchemas() *schemas {
	s := &schemas{named: map[string]*schema{}, wire: map[reflect.Type]string{
		reflect.TypeFor[lathe.Session]():           "Session",
		reflect.TypeFor[lathe.SessionModel]():      "SessionModel",
		reflect.TypeFor[lathe.Ruleset]():           "PermissionRuleset",
		reflect.TypeFor[lathe.Status]():            "SessionStatus",
		reflect.TypeFor[lathe.Todo]():              "Todo",
		reflect.TypeFor[lathe.FileDiff]():          "FileDiff",
		reflect.TypeFor[lathe.Message]():           "MessageWithParts",
		reflect.TypeFor[lathe.Part]():              "Part",
		reflect.TypeFor[partInput]():               "PartInput",
		reflect.TypeFor[lathe.PermissionRequest](): "PermissionRequest",
		reflect.TypeFor[lathe.QuestionRequest]():   "QuestionRequest",
		reflect.TypeFor[lathe.Agent]():             "Agent",
		reflect.TypeFor[lathe.Command]():           "Command",
		reflect.TypeFor[lathe.Skill]():             "Skill",
		reflect.TypeFor[lathe.Project]():           "Project",
		reflect.TypeFor[lathe.Pty]():               "Pty",
		reflect.TypeFor[object]():                  "Object",
		reflect.TypeFor[configBody]():              "Config",
		reflect.TypeFor[projectSession]():          "ProjectSession",
	}}
	s.named["Config"] = &schema{Type: "object", Description: "Config, as described by `lathe config schema`."}
	union := &schema{Kind: &discriminator{Property: "type", Mapping: map[string]string{}}}
	for line := range strings.Lines(wireText) {
		name, is, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "", ";":
			continue
		case "event": // each has its own schema, named by its type
			kind, properties, _ := strings.Cut(is, " ")
			name, is = "Event."+kind, "{id type:'"+kind+"' properties:"+properties+"}"
			union.OneOf, union.Kind.Mapping[kind] = append(union.OneOf, ref(name)), ref(name).Ref
		}
		s.named[name] = readSchema(is)
	}
	slices.SortFunc(union.OneOf, func(a, b *schema) int { return strings.Compare(a.Ref, b.Ref) })
	s.named["Event"] = union
	return s
}

// readSchema reads a schema as wire.txt has it.
func readSchema(text string) *schema {
	words := strings.Fields(strings.NewReplacer("{", " { ", "}", " } ", "[", " [ ", "]", " ] ", ":", " : ").Replace(text))
	return (*schemaWords)(&words).read()
}

// schemaWords are those that are not read yet.
type schemaWords []string

func (w *schemaWords) next() string {
	word := (*w)[0]
	*w = (*w)[1:]
	return word
}

func (w *schemaWords) read() *schema {
	switch word := w.next(); word {
	case "{":
		return w.object()
	case "[":
		out := &schema{Type: "array", Items: w.read()}
		w.next()
		return out
	case "map":
		return &schema{Type: "object", More: w.read()}
	case "either":
		return &schema{AnyOf: []*schema{w.read(), w.read()}}
	case "both":
		return &schema{AllOf: []*schema{w.read(), w.read()}}
	case "union":
		return w.union()
	case "any":
		return &schema{}
	case "string", "number", "integer", "boolean", "object", "null":
		return &schema{Type: word}
	default:
		if strings.Contains(word, "|") {
			return &schema{Type: "string", Enum: strings.Split(word, "|")}
		}
		if word[0] == '\'' {
			return &schema{Type: "string", Const: strings.Trim(word, "'")}
		}
		return ref(word)
	}
}

// object is one of these members, and perhaps of others that this version does not know.
func (w *schemaWords) object() *schema {
	out := &schema{Type: "object", Properties: map[string]*schema{}}
	for name := w.next(); name != "}"; name = w.next() {
		name, optional := strings.CutSuffix(name, "?")
		if !optional {
			out.Required = append(out.Required, name)
		}
		out.Properties[name] = &schema{Type: "string"}
		if (*w)[0] == ":" {
			w.next()
			out.Properties[name] = w.read()
		}
	}
	return out
}

// union is one of several named schemas, known by the word in one member.
func (w *schemaWords) union() *schema {
	out := &schema{Kind: &discriminator{Property: w.next(), Mapping: map[string]string{}}}
	for len(*w) > 0 {
		word, name, _ := strings.Cut(w.next(), "=")
		out.OneOf, out.Kind.Mapping[word] = append(out.OneOf, ref(name)), ref(name).Ref
	}
	return out
}
