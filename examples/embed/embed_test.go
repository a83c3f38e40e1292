package main

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/model/modeltest"
)

func TestAsk(t *testing.T) {
	m := modeltest.Start(t, modeltest.MustParse("call date {\"zone\":\"UTC\"}\nfinish tool-calls\n--\ntext \"It is late.\"\nfinish stop\n"))
	var out strings.Builder
	if err := ask(t.Context(), t.TempDir(), t.TempDir(), m.URL+"/v1", "What time is it?", &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != "It is late.\n" {
		t.Errorf("it wrote %q", out.String())
	}
	if request := m.Last().String(); !strings.Contains(request, "UTC") {
		t.Errorf("the model was not told the time: %s", request)
	}
}
