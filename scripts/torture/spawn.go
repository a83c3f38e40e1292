package main

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/model/modeltest"
	"github.com/lathe-agent/lathe/tool"
)

// spawner is the tool that lets a session below the caller's do something, and waits for it.
type spawner struct {
	dir      string
	admitted func(key string)
	engine   *engine.Engine
	opened   chan struct{} // closed when the engine is there
}

func (s *spawner) tool(marks string) tool.Tool {
	return tool.Define(tool.Spec{Name: "spawn", Description: "Run it in a child session."}, func(ctx context.Context, c *tool.Call, in marking) (tool.Result, error) {
		<-s.opened
		child := childSession(in.Key)
		_, err := s.engine.Create(ctx, s.dir, lathe.NewSession{ID: child, Parent: c.Session, Title: "Torture, a child"})
		if err != nil {
			return tool.Result{}, err
		}
		all := modeltest.Protocols()
		_, err = s.engine.Submit(ctx, child, lathe.Prompt{
			ID: childMessage(in.Key), Model: &lathe.ModelRef{Provider: "test", Model: string(all[in.MS%len(all)])},
			Parts: []lathe.Part{{Body: &lathe.Text{Text: "Please do " + childToken(in.Key)}}},
		})
		if err != nil {
			return tool.Result{}, err
		}
		s.admitted(in.Key)
		if _, err := s.engine.Wait(ctx, child); err != nil {
			return tool.Result{}, err
		}
		return leave(marks, c, in.Key)
	})
}
