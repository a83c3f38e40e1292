package patch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe/workspace/patch"
)

// soon fails a fuzz run that takes longer than any input may.
func soon(t *testing.T, begin time.Time) {
	t.Helper()
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzReplace(f *testing.F) {
	for _, s := range [][3]string{
		{"a\nb\nc\n", "b", "x"},
		{"\ta\r\n\tb\r\n", "a \nb", "x\ny"},
		{"\ufefff {\n\tg()\n\n\th()\n}\n", "f {\n\tg()\n\thh()\n}", "f {\n}\n"},
		{`say("a\tb")` + "\n", "say(\\\"a\tb\\\")", `\n`},
		{"x  =  1\n\nx = 1\n", "\n\nx = 1\n\n", "\n\ny\n\n"},
		{"a\u00a0b\xff\n", "a b\xff", ""},
		{strings.Repeat("{\n}\n", 50), "{\nx\n}", "y"},
	} {
		f.Add(s[0], s[1], s[2], false)
		f.Add(s[0], s[1], s[2], true)
	}
	f.Fuzz(func(t *testing.T, content, old, put string, all bool) {
		begin := time.Now()
		got, err := patch.Replace(content, old, put, all)
		soon(t, begin)
		if err != nil {
			if r := refusal(t, err); r.Text == "" || len(r.Error()) > 20_000 {
				t.Errorf("%d bytes of words", len(r.Error()))
			}
			return
		}
		again, err := patch.Replace(content, old, put, all)
		if err != nil || again.Content != got.Content {
			t.Errorf("not the same twice: %v", err)
		}
		if got.Count < 1 || got.First < 1 || got.Last < got.First || got.Count > 1 && !all || len(got.Passages) == 0 {
			t.Errorf("%+v", got)
		}
		if strings.HasPrefix(content, "\ufeff") && !strings.HasPrefix(got.Content, "\ufeff") {
			t.Error("the mark is gone")
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, body := range []string{
		"*** Add File: a\n+b\n", "*** Delete File: a\n", "*** Update File: a\n*** Move to: b\n@@ x\n@@ y\n a\n-b\n+c\n*** End of File\n",
		"*** Update File: a\n a\n\n-b\n", "@@\n", "***", "*** Update File: a\n@@ -1,2 +1,2 @@\n\\ No newline at end of file\n-b\n",
	} {
		f.Add("*** Begin Patch\n"+body+"*** End Patch\n", "a\nb\nc\n")
		f.Add("cat <<'EOF'\r\n*** Begin Patch\r\n"+body+"*** End Patch\r\nEOF", "\ufeffx\r\na\r\n\tb\n")
	}
	f.Fuzz(func(t *testing.T, text, content string) {
		begin := time.Now()
		p, err := patch.Parse(text)
		if err != nil {
			if refusal(t, err).Text == "" {
				t.Error("no words")
			}
			return
		}
		if len(p.Files) == 0 {
			t.Error("no files and no error")
		}
		changes, err := p.Apply(func(path string) (string, bool, error) { return content, path != "new", nil })
		soon(t, begin)
		if err != nil && changes != nil {
			t.Errorf("changes beside the error %v", err)
		}
	})
}
