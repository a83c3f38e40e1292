package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/args"
)

type file struct {
	FilePath string `json:"filePath"`
	Limit    int    `json:"limit,omitempty"`
}

type shell struct {
	Command string `json:"command"`
}

// others is a tool that is not made here, as a wrapper of the engine would be.
type others struct{ tool.Tool }

func tools() *tool.Set {
	mixed := tool.Raw(tool.Spec{Name: "GitHub_Search"}, nil)
	return tool.NewSet(echo[file]("read"), echo[shell]("bash"), echo[file]("write"), mixed,
		others{echo[file]("wrapped")}, tool.Raw(tool.Spec{Name: "secret", Hidden: true}, nil))
}

func TestSet_Resolve(t *testing.T) {
	tests := []struct {
		name, call, input, tool, want string
		repairs                       []args.Repair
	}{
		{"exact", "read", `{"filePath":"a"}`, "read", `{"filePath":"a"}`, nil},
		{"other letters", "Read", `{"filePath":"a"}`, "read", `{"filePath":"a"}`, []args.Repair{args.RepairTool}},
		{"lower of mixed", "github_search", `{}`, "GitHub_Search", `{}`, []args.Repair{args.RepairTool}},
		{"upper of mixed", "GITHUB_SEARCH", `{}`, "GitHub_Search", `{}`, []args.Repair{args.RepairTool}},
		{"exact mixed", "GitHub_Search", `{}`, "GitHub_Search", `{}`, nil},
		{"space", " read\n", `{"filePath":"a"}`, "read", `{"filePath":"a"}`, []args.Repair{args.RepairTool}},
		{"prefix", "functions.Read", `{"filePath":"a"}`, "read", `{"filePath":"a"}`, []args.Repair{args.RepairTool}},
		{"template marks", "read<|channel|>commentary", `{"filePath":"a"}`, "read", `{"filePath":"a"}`, []args.Repair{args.RepairTool}},
		{"hidden tools can be called", "secret", `{}`, "secret", `{}`, nil},
		{"another agent's name", "read_file", `{"path":"a"}`, "read", `{"filePath":"a"}`, []args.Repair{args.RepairTool, args.RepairMember}},
		{"another agent's shell", "shell", `{"command":["bash","-c","ls"]}`, "bash", `{"command":"ls"}`, []args.Repair{args.RepairTool, args.RepairCommand}},
		{"empty", "read", "  ", "read", `{}`, nil},
		{"null", "read", "null", "read", `{}`, nil},
		{"list", "read", `[1]`, "read", `{"value":[1]}`, nil},
		{"text", "read", `"a.go"`, "read", `{"value":"a.go"}`, nil},
		{"encoded twice", "read", `"{\"filePath\":\"a\"}"`, "read", `{"filePath":"a"}`, []args.Repair{args.RepairDecode}},
		{"almost JSON", "read", "```json\n{'filePath':'a','limit':'5',}\n```", "read", `{"filePath":"a","limit":5}`, []args.Repair{args.RepairJSON, args.RepairNumber}},
		{"does not fit, and is not redirected", "read", `{"limit":"x"}`, "read", `{"limit":"x"}`, nil},
		{"a tool made elsewhere", "wrapped", `{"file_path":"a"}`, "wrapped", `{"filePath":"a"}`, []args.Repair{args.RepairMember}},
		{"broken UTF-8", "read", "{\"filePath\":\"a\xff\"}", "read", "{\"filePath\":\"a\ufffd\"}", nil},
		{"unknown", "raed", `{"filePath":"a"}`, "invalid", `{"tool":"raed","error":"unknown tool \"raed\". The nearest are: \"read\", \"bash\", \"wrapped\"."}`, nil},
		{"unknown with broken arguments", "raed", `{`, "invalid", `{"tool":"raed","error":"unknown tool \"raed\". The nearest are: \"read\", \"bash\", \"wrapped\"."}`, nil},
		{"another agent's name with arguments that do not fit", "read_file", `{"x":1}`, "invalid", `{"tool":"read_file","error":"unknown tool \"read_file\". What you mean is read here, with other arguments. A call of read looks like this: {\"filePath\":\"\"}"}`, nil},
		{"not JSON", "Read", `{"filePath":"say "hi""}`, "invalid", `{"tool":"Read","error":"the arguments of read are not JSON, at byte 18, \"hi\\\"\\\"}\": a comma or a closing bracket must come here; quotes inside a string are written \\\". Send the call again with one JSON object. A call of read looks like this: {\"filePath\":\"\"}"}`, nil},
		{"cut off", "read", `{"filePath":"a`, "invalid", `{"tool":"read","error":"the arguments of read were cut off after 14 bytes: the last string is not closed. Send the whole call again; if it is very long, split it into several."}`, nil},
		{"no name", "", `{}`, "invalid", `{"tool":"","error":"unknown tool \"\". The nearest are: \"bash\", \"read\", \"write\"."}`, nil},
	}
	set := tools()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := set.Repair(tt.call, tt.input)
			if name := got.Tool.Spec().Name; name != tt.tool {
				t.Errorf("tool %s; want %s", name, tt.tool)
			}
			if diff := cmp.Diff(tt.want, string(got.Input)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.repairs, got.Repairs); diff != "" {
				t.Error(diff)
			}
			same, fixed := set.Resolve(tt.call, tt.input)
			if same != got.Tool || string(fixed) != string(got.Input) {
				t.Error("Resolve and Repair differ")
			}
		})
	}
}

func TestSet_ResolveEmpty(t *testing.T) {
	_, got := tool.NewSet().Resolve("read", `{}`)
	if want := `{"tool":"read","error":"unknown tool \"read\"."}`; string(got) != want {
		t.Fatalf("got %s; want %s", got, want)
	}
}

func TestSet_LongNamesAreCut(t *testing.T) {
	_, got := tools().Resolve(strings.Repeat("x", 1<<20), `{}`)
	if len(got) > 500 || !json.Valid(got) {
		t.Fatalf("%d bytes: %.100s", len(got), got)
	}
}

func TestSet_Invalid(t *testing.T) {
	x, input := tools().Resolve("raed", `{}`)
	r, err := run(x, string(input))
	want := tool.Result{
		Title:  "Invalid Tool",
		Output: `The arguments of this call are invalid and nothing was run: unknown tool "raed". The nearest are: "read", "bash", "wrapped".`,
	}
	if diff := cmp.Diff(want, r); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	if spec := x.Spec(); !spec.Hidden || spec.Name != tool.InvalidName {
		t.Fatalf("%+v", spec)
	}
}

// A tool of that name must not get the calls that cannot be answered.
func TestSet_InvalidCannotBeReplaced(t *testing.T) {
	foreign := tool.Raw(tool.Spec{Name: "invalid"}, nil)
	set := tool.NewSet(foreign)
	if x, ok := set.Find("invalid"); !ok || x != foreign {
		t.Fatal("the later tool did not replace the earlier")
	}
	if x, _ := set.Resolve("gone", `{}`); x == foreign {
		t.Fatal("it got a call that was not its own")
	}
}

func names(list []tool.Tool) string {
	var out []string
	for _, t := range list {
		out = append(out, t.Spec().Name)
	}
	return strings.Join(out, " ")
}

func TestSet_LaterReplacesEarlier(t *testing.T) {
	first, second := echo[file]("read"), echo[shell]("read")
	set := tool.NewSet(first, echo[shell]("bash"), second)
	if x, ok := set.Find("read"); !ok || x != second {
		t.Fatal("Find returned the earlier one")
	}
	if x, _ := set.Resolve("READ", `{}`); x != second {
		t.Fatal("Resolve returned the earlier one")
	}
	if got := names(set.All()); got != "invalid read bash" {
		t.Fatal(got)
	}
	if _, ok := set.Find("Read"); ok {
		t.Fatal("Find is exact")
	}
}

func TestSet_Visible(t *testing.T) {
	set := tools()
	if got := names(set.Visible(nil)); got != "GitHub_Search bash read wrapped write" {
		t.Fatal(got)
	}
	got := names(set.Visible(func(s tool.Spec) bool { return s.Name == "bash" }))
	if got != "GitHub_Search read wrapped write" {
		t.Fatal(got)
	}
}

func TestHidden(t *testing.T) {
	rule := func(permission, pattern string, action lathe.Action) lathe.Ruleset {
		return lathe.Ruleset{{Permission: permission, Pattern: pattern, Action: action}}
	}
	edit := tool.Spec{Name: "write", Permission: "edit"}
	bash := tool.Spec{Name: "bash"}
	tests := []struct {
		name  string
		rules []lathe.Ruleset
		spec  tool.Spec
		want  bool
	}{
		{"no rules", nil, bash, false},
		{"denied", []lathe.Ruleset{rule("bash", "*", lathe.Deny)}, bash, true},
		{"everything denied", []lathe.Ruleset{rule("*", "*", lathe.Deny)}, bash, true},
		{"asked", []lathe.Ruleset{rule("bash", "*", lathe.Ask)}, bash, false},
		{"narrower denial", []lathe.Ruleset{rule("bash", "rm *", lathe.Deny)}, bash, false},
		{"two stars are not one", []lathe.Ruleset{rule("bash", "**", lathe.Deny)}, bash, false},
		{"last rule allows one", []lathe.Ruleset{rule("bash", "*", lathe.Deny), rule("bash", "ls", lathe.Allow)}, bash, false},
		{"last rule denies all", []lathe.Ruleset{rule("bash", "ls", lathe.Allow), rule("bash", "*", lathe.Deny)}, bash, true},
		{"later rule for another", []lathe.Ruleset{rule("bash", "*", lathe.Deny), rule("read", "*", lathe.Allow)}, bash, true},
		{"later ruleset for all", []lathe.Ruleset{rule("bash", "*", lathe.Deny), rule("*", "*", lathe.Allow)}, bash, false},
		{"by its permission", []lathe.Ruleset{rule("edit", "*", lathe.Deny)}, edit, true},
		{"not by its name", []lathe.Ruleset{rule("write", "*", lathe.Deny)}, edit, false},
		{"wildcard", []lathe.Ruleset{rule("mcp_*", "*", lathe.Deny)}, tool.Spec{Name: "mcp_x"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tool.Hidden(tt.rules...)(tt.spec); got != tt.want {
				t.Fatalf("hidden %t; want %t", got, tt.want)
			}
		})
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("read", `{"filePath":"a"}`)
	f.Add("Read", `{'file_path':'a','limit':"3",}`)
	f.Add("x\xff", "```")
	f.Add("functions.bash", `"{\"command\":[\"sh\",\"-c\",\"ls\"]}"`)
	set := tools()
	f.Fuzz(func(t *testing.T, name, input string) {
		x, fixed := set.Resolve(name, input)
		if x == nil {
			t.Fatal("no tool")
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(fixed, &object); err != nil {
			t.Fatalf("%q %q: %s is no object: %v", name, input, fixed, err)
		}
		again, same := set.Resolve(x.Spec().Name, string(fixed))
		if again != x || string(same) != string(fixed) {
			t.Fatalf("%q %q: resolved to %s %s, then to %s %s", name, input, x.Spec().Name, fixed, again.Spec().Name, same)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	set := tool.NewSet(tool.Define(tool.Spec{Name: "write"}, func(context.Context, *tool.Call, struct {
		FilePath string `json:"filePath"`
		Content  string `json:"content"`
	},
	) (tool.Result, error) {
		return tool.Result{}, nil
	}))
	for _, size := range []struct {
		name string
		n    int
	}{{"2KB", 2 << 10}, {"200KB", 200 << 10}, {"1MB", 1 << 20}} {
		good := `{"filePath":"a","content":"` + strings.Repeat(`a line of text\n`, size.n/16) + `"}`
		bad := `{'file_path':'a','content':"` + strings.Repeat("a line of text\n", size.n/15) + `",}`
		for _, input := range []struct{ name, text string }{{"good", good}, {"repaired", bad}} {
			b.Run(input.name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(input.text)))
				b.ReportAllocs()
				for b.Loop() {
					x, fixed := set.Resolve("write", input.text)
					if _, err := x.Run(b.Context(), &tool.Call{Input: fixed}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
