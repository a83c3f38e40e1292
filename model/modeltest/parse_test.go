package modeltest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe/model/modeltest"
)

func TestParse(t *testing.T) {
	const src = `
# a comment
text "Pushing."
reasoning "let me see"
call bash {"command":"git push", "n": [1, 2]}
usage 100 20
finish tool-calls
--
text "I may not push."
finish stop
--
chunks 3
text "abcdefg"
text "ab" "cd"
reasoning "hé" signature="s\"g"
call x id=c1 {"a":"--"}
and y pieces=1 "no\tJSON"
and z
executed web_search id=w {"query":"q"} https://a "A" https://b "B b"
executed web_search failed=unavailable
source https://c ` + "`C`" + `
--
when "a title"
pause 50ms
headers
drip 1 1m
cut 120
cut 5 reset
cut clean
cut
status 429 retry-after=2 x-y="a b" "body\n"
error overloaded_error code=7 "Busy"
error "only words"
error code=c "m"
usage none
usage -1 2 cache-read=3 cache-write=4 reasoning=5
raw "data: {\xff\n\n"
stall
--
`
	want := modeltest.Script{
		{
			modeltest.Text{"Pushing."},
			modeltest.Reasoning{Chunks: []string{"let me see"}},
			modeltest.Call{Name: "bash", Args: `{"command":"git push", "n": [1, 2]}`},
			modeltest.Usage{Input: 100, Output: 20},
			modeltest.Finish("tool-calls"),
		},
		{modeltest.Text{"I may not push."}, modeltest.Finish("stop")},
		{
			modeltest.Text{"ab", "cd", "efg"},
			modeltest.Text{"ab", "cd"},
			modeltest.Reasoning{Chunks: []string{"h", "é"}, Signature: `s"g`},
			modeltest.Parallel{
				{ID: "c1", Name: "x", Args: `{"a":"--"}`, Pieces: 3},
				{Name: "y", Args: "no\tJSON", Pieces: 1},
				{Name: "z", Args: "{}", Pieces: 3},
			},
			modeltest.Executed{
				ID: "w", Name: "web_search", Args: `{"query":"q"}`,
				Sources: []modeltest.Source{{URL: "https://a", Title: "A"}, {URL: "https://b", Title: "B b"}},
			},
			modeltest.Executed{Name: "web_search", Args: "{}", Failed: "unavailable"},
			modeltest.Source{URL: "https://c", Title: "C"},
		},
		{
			modeltest.When("a title"),
			modeltest.Pause(50 * time.Millisecond),
			modeltest.Headers{},
			modeltest.Drip{Bytes: 1, Every: time.Minute},
			modeltest.Cut{At: 120},
			modeltest.Cut{At: 5, How: modeltest.Reset},
			modeltest.Cut{How: modeltest.Clean},
			modeltest.Cut{},
			modeltest.Status{Code: 429, Header: map[string]string{"retry-after": "2", "x-y": "a b"}, Body: "body\n"},
			modeltest.Fail{Type: "overloaded_error", Code: "7", Message: "Busy"},
			modeltest.Fail{Message: "only words"},
			modeltest.Fail{Code: "c", Message: "m"},
			modeltest.Usage{None: true},
			modeltest.Usage{Input: -1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5},
			modeltest.Raw("data: {\xff\n\n"),
			modeltest.Stall{},
		},
	}
	got, err := modeltest.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	again, err := modeltest.Parse(got.String())
	if err != nil {
		t.Fatalf("%v in:\n%s", err, got)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Error(diff)
	}
}

func TestParse_CRLF(t *testing.T) {
	got, err := modeltest.Parse("text \"a\"\r\n--\r\ntext \"b\"\r\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(modeltest.Script{{modeltest.Text{"a"}}, {modeltest.Text{"b"}}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParse_Empty(t *testing.T) {
	for src, want := range map[string]int{"": 0, "\n# nothing\n": 0, "--\n": 1, "--\ntext \"a\"": 2} {
		if got, err := modeltest.Parse(src); err != nil || len(got) != want {
			t.Errorf("%q: %d answers, %v", src, len(got), err)
		}
	}
}

func TestParse_Errors(t *testing.T) {
	for src, want := range map[string]string{
		"text":                             "line 1: text: it needs the text in quotes",
		"\n\ntext hello":                   "line 3: text: it needs the text in quotes",
		`text "a`:                          `line 1: text: "\"a" has no closing quote, or an escape that Go does not have`,
		`text "a" b`:                       "line 1: text: it needs the text in quotes",
		"txt \"a\"":                        "line 1: txt: unknown step",
		"reasoning":                        "line 1: reasoning: it needs the thought in quotes, or a signature=",
		"call":                             "line 1: call: it needs the name of a tool",
		`call {"a":1}`:                     "line 1: call: it needs the name of a tool",
		`call bash {"a":`:                  "line 1: call: the arguments are not JSON; quote them if that is intended: unexpected EOF",
		`call bash {} {}`:                  `line 1: call: "{}" is too much here`,
		`call bash pieces=x {}`:            "line 1: call: pieces=x is not a number",
		`and bash {}`:                      "line 1: and: no call before it",
		"text \"a\"\nand bash {}":          "line 2: and: no call before it",
		"usage 1":                          "line 1: usage: it needs two numbers, of input and of output, or none",
		"usage 1 2 cache=3":                `line 1: usage: "cache=3" is none of cache-read=, cache-write=, reasoning= and a number`,
		"finish":                           "line 1: finish: it needs a reason, like stop",
		"chunks x":                         "line 1: chunks: it needs a number: how many",
		"pause 5":                          "line 1: pause: it needs a time, like 50ms",
		"drip 1":                           "line 1: drip: it needs a time, like 50ms",
		"cut x":                            `line 1: cut: "x" is not a byte count, clean or reset`,
		"cut 5 softly":                     `line 1: cut: "softly" is not clean or reset`,
		"status abc":                       "line 1: status: it needs the code, like 429",
		"status 429 later":                 `line 1: status: "later" is not name=value`,
		"error overloaded_error":           "line 1: error: it needs the message in quotes",
		"source https://a":                 "line 1: source: it needs the title in quotes",
		"raw data":                         "line 1: raw: it needs the bytes in quotes",
		"stall now":                        `line 1: stall: "now" is too much here`,
		"stall " + strings.Repeat("x", 50): `line 1: stall: "` + strings.Repeat("x", 40) + `…" is too much here`,
	} {
		if _, err := modeltest.Parse(src); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", src, err, want)
		}
	}
}

func TestMustParse_Panics(t *testing.T) {
	defer func() {
		if got := recover(); got != "modeltest: line 1: nonsense: unknown step" {
			t.Errorf("panic %v", got)
		}
	}()
	modeltest.MustParse("nonsense")
}

// What Parse accepts, String writes so that Parse reads the same again.
func FuzzParse(f *testing.F) {
	f.Add(full)
	f.Add("text \"a\"\n--\nstatus 429 retry-after=2 \"b\"\n--\ncall x id=\"a b\" pieces=2 \"\\xff\"\nand y\ncut 3 clean\n")
	f.Add("usage none\nerror code=c \"m\"\nexecuted w failed=x {} http://a \"b\"\nraw `x`\nchunks 2\nreasoning \"é😀\" signature=s\nwhen \"t\"")
	f.Fuzz(func(t *testing.T, src string) {
		script, err := modeltest.Parse(src)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Fatalf("%v names no line", err)
			}
			return
		}
		again, err := modeltest.Parse(script.String())
		if err != nil {
			t.Fatalf("%v in:\n%s\nof:\n%s", err, script, src)
		}
		if diff := cmp.Diff(script, again); diff != "" {
			t.Fatalf("%s\nof:\n%s", diff, src)
		}
	})
}
