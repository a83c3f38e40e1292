package ask_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/ask"
	"github.com/lathe-agent/lathe/tui/style"
	"github.com/lathe-agent/lathe/tui/styletest"
)

func question(t testing.TB, list ...lathe.Question) *ask.Question {
	t.Helper()
	return ask.NewQuestion(styletest.Keys(t), &lathe.QuestionAsked{QuestionRequest: lathe.QuestionRequest{ID: "que_1", Questions: list}})
}

func base() lathe.Question {
	return lathe.Question{Question: "Which database should it use?", Header: "Database", Options: []lathe.Option{
		{Label: "SQLite", Description: "One file, no server, enough for one machine"},
		{Label: "Postgres", Description: "A server; for many machines that write at the same time and want to see the same"},
	}}
}

func several() lathe.Question {
	return lathe.Question{Question: "What else?", Header: "Features", Multiple: lathe.Yes, Custom: lathe.No, Options: []lathe.Option{
		{Label: "Logs"}, {Label: "Metrics", Description: "for Prometheus"}, {Label: "Traces"},
	}}
}

func TestQuestion_Golden(t *testing.T) {
	one := question(t, base())
	golden(t, "question-one", one)
	send(one, "3")
	write(one, "MySQL, please")
	golden(t, "question-own", one)

	many := question(t, base(), several())
	golden(t, "question-tabs", many)
	send(many, "2", "1", "3")
	golden(t, "question-several", many)
	send(many, "tab")
	golden(t, "question-confirm", many)
	golden(t, "question-unanswered", func() region { q := question(t, base(), several()); send(q, "left"); return q }())
	golden(t, "question-none", question(t))

	long := several()
	for i := range 40 {
		long.Options = append(long.Options, lathe.Option{Label: fmt.Sprint("Choice ", i), Description: strings.Repeat("words of a description ", 4)})
	}
	q := question(t, long)
	send(q, "down", "down", "down", "down", "down", "down", "down", "down")
	golden(t, "question-long", q)
}

func TestQuestion_Keys(t *testing.T) {
	answer := func(a ...[]string) ask.Result { return ask.Answer{Answers: a} }
	one := func() *ask.Question { return question(t, base()) }
	two := func() *ask.Question { return question(t, base(), several()) }
	closed := func() *ask.Question {
		q := base()
		q.Custom = lathe.No
		return question(t, q)
	}
	multi := func() *ask.Question { return question(t, several()) }
	free := func() *ask.Question { return question(t, lathe.Question{Question: "Name?"}) }
	for _, c := range []struct {
		make func() *ask.Question
		keys string
		out  ask.Result
	}{
		{one, "enter", answer([]string{"SQLite"})},
		{one, "2", answer([]string{"Postgres"})},
		{one, "j enter", answer([]string{"Postgres"})},
		{one, "down down down enter", answer([]string{"SQLite"})}, // around
		{one, "k enter x y enter", answer([]string{"xy"})},
		{one, "3 x esc", ask.None{}},
		{one, "3 x esc esc", ask.Dismiss{}},
		{one, "3 enter", ask.None{}}, // nothing was written
		{one, "esc", ask.Dismiss{}},
		{one, "9", ask.None{}},
		{one, "f5", ask.Unused{}},
		{closed, "3", ask.None{}},
		{closed, "up enter", answer([]string{"Postgres"})},
		{multi, "1 3 tab enter", answer([]string{"Logs", "Traces"})},
		{multi, "enter enter tab enter", answer([]string{})},
		{multi, "space tab enter", answer([]string{"Logs"})},
		{two, "1 2 tab enter", answer([]string{"SQLite"}, []string{"Metrics"})},
		{two, "left enter", answer([]string{}, []string{})},
		{two, "1 left 3 q enter tab enter", answer([]string{"q"}, []string{})},
		{two, "3 q enter left 1 h 1 tab tab enter", ask.None{}},
		{two, "l h esc", ask.Dismiss{}},
		{free, "enter m e enter", answer([]string{"me"})},
	} {
		q := c.make()
		frame(t, q, 80, 20)
		t.Run(c.keys, func(t *testing.T) { want(t, send(q, strings.Fields(c.keys)...), c.out) })
	}
	want(t, send(question(t), "enter"), ask.Answer{Answers: [][]string{}})
	want(t, send(question(t), "esc"), ask.Dismiss{})
}

// Labels go back as they came, whatever is shown of them.
func TestQuestion_AnswersAreExact(t *testing.T) {
	label := "a\x1b[31m\u202eb\nc  "
	q := question(t, lathe.Question{Question: "?", Options: []lathe.Option{{Label: label}}})
	frame(t, q, 40, 10)
	want(t, send(q, "1"), ask.Answer{Answers: [][]string{{label}}})
}

func TestQuestion_HoldsKeysBack(t *testing.T) {
	q := question(t, base())
	q.StartGuard(start)
	want(t, q.Key(styletest.Press("1"), start.Add(100*time.Millisecond)), ask.None{})
	want(t, q.Key(styletest.Press("enter"), start.Add(300*time.Millisecond)), ask.None{})
	want(t, q.Paste("1\n"), ask.None{})
	want(t, q.Key(styletest.Press("1"), start.Add(time.Second)), ask.Answer{Answers: [][]string{{"SQLite"}}})
}

func TestQuestion_Mouse(t *testing.T) {
	q := question(t, base(), several())
	q.StartGuard(start)
	click := func(word string, at time.Time) ask.Result {
		t.Helper()
		for y, l := range strings.Split(frame(t, q, 80, 20), "\n") {
			if i := strings.Index(l, word); i >= 0 {
				return q.Click(style.Width(l[:i]), y, at)
			}
		}
		t.Fatalf("%q is not on the screen", word)
		return nil
	}
	want(t, click("Postgres", start), ask.None{})
	want(t, click("for many machines", ready), ask.None{}) // its description counts too
	want(t, click("Traces", ready), ask.None{})
	want(t, click("Confirm", ready), ask.None{})
	want(t, click("Send these", ready), ask.Answer{Answers: [][]string{{"Postgres"}, {"Traces"}}})
}

func TestQuestion_Colors(t *testing.T) {
	th := style.Default(true)
	q := question(t, base())
	found := false
	for _, l := range q.View(th, 80, 20) {
		for _, s := range l {
			found = found || strings.HasPrefix(s.Text, "SQLite") && s.Attr.FG == th.Primary && s.Attr.Bold
			if strings.HasPrefix(s.Text, "Postgres") && s.Attr.FG != th.Text {
				t.Errorf("an option that is not under the cursor has the color %v", s.Attr.FG)
			}
		}
	}
	if !found {
		t.Error("the option under the cursor is not colored")
	}
}
