package openai

import (
	"io"
	"testing"

	"github.com/lathe-agent/lathe/model"
	"github.com/lathe-agent/lathe/model/wiretest"
)

func TestRecordings(t *testing.T) {
	wiretest.Run(t, "chat", func(body io.Reader) ([]model.Event, error) { return drain(chatForTest(), body) })
	wiretest.Run(t, "responses", func(body io.Reader) ([]model.Event, error) { return drain(responsesForTest(), body) })
}
