package engine

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// jobs are a session's background tasks: a title, and a summary of its changes. They never
// write; the goroutine of the session applies their results. What a job brings is lost with the
// process, and made again by the next turn that needs it.
type jobs struct {
	engine  *Engine
	log     *sessionLog
	config  *turnConfig
	results chan jobResult
	running int

	titled      bool       // a title was asked for
	changed     bool       // files were changed since the last summary
	summarizing bool       // a summary is being made
	summarized  lathe.Time // when the last one was started
}

// jobResult is the result of a job.
type jobResult interface {
	apply(ctx context.Context, j *jobs)
}

// start runs a job.
func (j *jobs) start(job func() jobResult) {
	j.running++
	j.engine.work.Go(func() { j.results <- job() })
}

// apply takes the result of a job.
func (j *jobs) apply(ctx context.Context, done jobResult) {
	j.running--
	done.apply(ctx, j)
}

func (j *jobs) warn(what string, err error) {
	j.engine.log.Warn(what, "session", j.log.lease.Session, "error", err)
}
