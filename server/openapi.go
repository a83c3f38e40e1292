package server

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"strings"
)

func docRoutes(doc func() []byte) []row {
	return []row{raw(route("GET /doc", "lathe.doc", "lathe", mayRead,
		"Get this document", nil, withoutDirectory), "application/json", func(c *call, _ none) error {
		c.w.json(http.StatusOK, doc())
		return nil
	})}
}

// The parts of an OpenAPI document that we use.
type (
	document struct {
		OpenAPI    string                           `json:"openapi"`
		Info       docInfo                          `json:"info"`
		Tags       []docTag                         `json:"tags"`
		Paths      map[string]map[string]*operation `json:"paths"`
		Components components                       `json:"components"`
		Security   []map[string][]string            `json:"security"`
	}
	docInfo struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description"`
	}
	docTag struct {
		Name string `json:"name"`
	}
	components struct {
		Schemas  map[string]*schema        `json:"schemas"`
		Security map[string]securityScheme `json:"securitySchemes"`
	}
	securityScheme struct {
		Type   string `json:"type"`
		Scheme string `json:"scheme,omitempty"`
		In     string `json:"in,omitempty"`
		Name   string `json:"name,omitempty"`
	}
	operation struct {
		ID         string                 `json:"operationId"`
		Tags       []string               `json:"tags"`
		Summary    string                 `json:"summary"`
		Parameters []parameter            `json:"parameters,omitempty"`
		Body       *requestBody           `json:"requestBody,omitempty"`
		Responses  map[string]response    `json:"responses"`
		Security   *[]map[string][]string `json:"security,omitempty"`
	}
	parameter struct {
		Name     string  `json:"name"`
		In       string  `json:"in"`
		Required bool    `json:"required,omitempty"`
		Schema   *schema `json:"schema"`
	}
	requestBody struct {
		Required bool             `json:"required,omitempty"`
		Content  map[string]media `json:"content"`
	}
	response struct {
		Description string           `json:"description"`
		Content     map[string]media `json:"content,omitempty"`
	}
	media struct {
		Schema *schema `json:"schema,omitempty"`
	}
)

// describe writes the document of a table.
func describe(rows []row, version string) []byte {
	all := wireSchemas()
	d := document{
		OpenAPI: "3.1.0",
		Info:    docInfo{Title: "lathe", Version: version, Description: "Sessions of a coding agent over HTTP. Clients of OpenCode's classic API work unchanged."},
		Paths:   map[string]map[string]*operation{},
		Components: components{Schemas: all.named, Security: map[string]securityScheme{
			"basic": {Type: "http", Scheme: "basic"},
			"token": {Type: "apiKey", In: "query", Name: "auth_token"},
		}},
		Security: []map[string][]string{{"basic": {}}, {"token": {}}},
	}
	tags := map[string]bool{}
	for _, r := range rows {
		if d.Paths[r.path] == nil {
			d.Paths[r.path] = map[string]*operation{}
		}
		d.Paths[r.path][strings.ToLower(r.method)] = r.describe(all)
		if !tags[r.tag] {
			tags[r.tag] = true
			d.Tags = append(d.Tags, docTag{r.tag})
		}
	}
	data, err := json.Marshal(d)
	if err != nil {
		panic("server: the document is not JSON: " + err.Error())
	}
	return data
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// describe makes the entry of a route in the OpenAPI document.
func (r row) describe(all *schemas) *operation {
	op := &operation{ID: r.name, Tags: []string{r.tag}, Summary: r.summary, Responses: map[string]response{}}
	for _, m := range pathParameter.FindAllStringSubmatch(r.path, -1) {
		op.Parameters = append(op.Parameters, parameter{Name: m[1], In: "path", Required: true, Schema: &schema{Type: "string"}})
	}
	op.Parameters = append(op.Parameters, r.queryParameters()...)
	if r.body != reflect.TypeFor[none]() {
		op.Body = &requestBody{Required: missing(r.body, []byte("{}")) != "", Content: jsonMedia(all.of(r.body))}
	}
	switch {
	case r.media != "":
		op.Responses["200"] = response{Description: "The response", Content: map[string]media{r.media: {r.mediaSchema()}}}
	case r.reply == reflect.TypeFor[none]():
		op.Responses["204"] = response{Description: "Done"}
	default:
		op.Responses["200"] = response{Description: "The response", Content: jsonMedia(all.of(r.reply))}
	}
	for _, f := range r.fails {
		f.describe(op.Responses)
	}
	if r.isPublic() {
		op.Security = &[]map[string][]string{}
	} else {
		op.Responses["401"] = response{Description: "User name and password required"}
	}
	return op
}

// mediaSchema is the schema of a stream; other media have none.
func (r row) mediaSchema() *schema {
	if r.media != "text/event-stream" {
		return nil
	}
	if r.path == "/global/event" {
		return readSchema("{directory? project? workspace? payload:Event}") // an event with where it happened
	}
	return ref("Event")
}

func jsonMedia(s *schema) map[string]media { return map[string]media{"application/json": {s}} }

// queryParameters are those of the row, and the two that every route takes.
func (r row) queryParameters() []parameter {
	var out []parameter
	have := map[string]bool{}
	for i := range r.query.NumField() {
		f := r.query.Field(i)
		name := f.Tag.Get("query")
		have[name] = true
		out = append(out, parameter{Name: name, In: "query", Schema: querySchema(f.Type)})
	}
	for _, name := range []string{"directory", "workspace"} {
		if r.locality != global && !have[name] {
			out = append(out, parameter{Name: name, In: "query", Schema: &schema{Type: "string"}})
		}
	}
	return out
}

func querySchema(t reflect.Type) *schema {
	if t.Kind() == reflect.Bool {
		return &schema{Type: "string", Enum: []string{"true", "false"}}
	}
	return (&schemas{}).of(t)
}

// describe adds what a failure looks like.
func (f failure) describe(to map[string]response) {
	s := ref(f.schema)
	if was, ok := to[f.status]; ok { // of two forms
		s = &schema{AnyOf: []*schema{was.Content["application/json"].Schema, s}}
	}
	to[f.status] = response{Description: f.words, Content: jsonMedia(s)}
}
