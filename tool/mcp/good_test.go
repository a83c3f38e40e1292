package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// goodServer is a server as it should be, made with the SDK's other half, on stdin and stdout.
func goodServer(args []string) int {
	s := newGoodServer(strings.Join(args, " "))
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil && !errors.Is(err, sdk.ErrConnectionClosed) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// newGoodServer makes that server; about is part of its instructions.
func newGoodServer(about string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "good", Version: "1"}, &sdk.ServerOptions{Instructions: "Be good. " + about})
	addTools(s)
	s.AddPrompt(&sdk.Prompt{Name: "greet me", Description: "Greets", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}, {Name: "how"}}},
		func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			text := "Greet " + r.Params.Arguments["who"] + " " + r.Params.Arguments["how"] + "."
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
				{Role: "user", Content: &sdk.TextContent{Text: text}}, {Role: "user", Content: &sdk.TextContent{Text: "Kindly."}},
			}}, nil
		})
	read := func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		if strings.HasSuffix(r.Params.URI, ".png") {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "image/png", Blob: []byte("png")}}}, nil
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: "the text of " + r.Params.URI}}}, nil
	}
	s.AddResource(&sdk.Resource{Name: "b", URI: "test://b.png", MIMEType: "image/png"}, read)
	s.AddResource(&sdk.Resource{Name: "a", URI: "test://a", MIMEType: "text/plain", Description: "first"}, read)
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "any", URITemplate: "test://any/{name}"}, read)
	return s
}

type echoInput struct {
	Text string `json:"text"`
}

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

// addTools gives a server one tool for each way to answer.
func addTools(s *sdk.Server) {
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Says it again.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in echoInput) (*sdk.CallToolResult, any, error) {
			return text(in.Text), nil, nil
		})
	raw := func(name string, run func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, run)
	}
	raw("where am.I", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		dir, err := os.Getwd()
		return text(dir + " " + os.Getenv("COLOUR") + " " + os.Getenv("HOME")), err
	})
	raw("roots", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		//lint:ignore SA1019 the client still answers it
		roots, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, err
		}
		return text(fmt.Sprint(len(roots.Roots), " ", roots.Roots[0].URI)), nil
	})
	raw("sample", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		//lint:ignore SA1019 the client refuses it
		_, err := r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{})
		_, err2 := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "?"})
		return text(fmt.Sprint(err != nil, err2 != nil)), nil
	})
	raw("fail", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := text("it is\x1b[31m broken")
		r.IsError = true
		return r, nil
	})
	raw("structured", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{StructuredContent: map[string]any{"n": 1}}, nil
	})
	raw("mixed", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{
			Meta: sdk.Meta{"truncated": true, "mine": "yes"},
			Content: []sdk.Content{
				&sdk.TextContent{Text: "one"},
				&sdk.ImageContent{MIMEType: "image/png", Data: []byte("picture")},
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "test://t", MIMEType: "text/plain", Text: "two"}},
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "test://p", MIMEType: "application/pdf", Blob: []byte("pdf")}},
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "test://z", MIMEType: "application/zip", Blob: []byte("zip")}},
				&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("noise")},
				&sdk.ResourceLink{URI: "test://a", Name: "a"},
			},
		}, nil
	})
	raw("steps", steps)
	raw("wait", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in struct{ File string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, errors.Join(os.WriteFile(in.File, []byte("canceled"), 0o600), ctx.Err())
	})
	raw("write", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in struct{ File string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		return text("written"), os.WriteFile(in.File, []byte("x"), 0o600)
	})
	raw("grow", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		raw("grown", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return text("new"), nil })
		return text("ok"), nil
	})
	raw("die", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "I am dying")
		os.Exit(7)
		return nil, nil
	})
}

// steps tells of its progress every 400 ms, ten times.
func steps(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	tick := time.NewTicker(400 * time.Millisecond)
	defer tick.Stop()
	for i := range 10 {
		<-tick.C
		if err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 10, Message: "step",
		}); err != nil {
			return nil, err
		}
	}
	return text("done"), nil
}
