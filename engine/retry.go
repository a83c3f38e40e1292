package engine

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/model"
)

// Retry says how failed requests are tried again. Zero fields mean the defaults.
type Retry struct {
	Attempts int           // further ones after the first; negative means none
	MaxWait  time.Duration // the longest a provider may ask us to wait
}

const (
	retryBase     = 2 * time.Second
	retryCap      = 30 * time.Second
	retryJitter   = 0.25
	retryAttempts = 5
	retryMaxWait  = 10 * time.Minute
)

// retryPlan is the next action after a failed attempt.
type retryPlan struct {
	again   bool
	wait    time.Duration
	message string // for the status
}

// retry decides whether the attempt that failed is followed by another: n counts the
// failures, random is in [0, 1).
func (r Retry) retry(err error, n int, now time.Time, random float64) retryPlan {
	attempts, maxWait := r.Attempts, r.MaxWait
	if attempts == 0 {
		attempts = retryAttempts
	}
	if maxWait == 0 {
		maxWait = retryMaxWait
	}
	code := lathe.CodeOf(err) // as package model gave it where the failure entered
	if n > attempts || code != lathe.Limited && code != lathe.Unavailable {
		return retryPlan{}
	}
	wait, received := retryAfter(err, now)
	if !received || wait <= 0 { // at once is over in a moment, with all attempts
		wait = backoff(n, random)
	}
	if wait > max(maxWait, retryCap) {
		return retryPlan{} // a person would rather know now
	}
	return retryPlan{again: true, wait: wait, message: retryMessage(err)}
}

// planRetry says whether the step's request is made again after its nth failure. After a cancel, or
// without a store, it is not.
func (s *stepRun) planRetry(ctx context.Context, err error, n int) retryPlan {
	if isWrite(err) || ctx.Err() != nil {
		return retryPlan{}
	}
	return s.settings.Retry.retry(err, n, time.UnixMilli(int64(s.engine.now())), s.engine.random())
}

// restart makes ready for another attempt in place of the failed one: after a pause, or at once by the
// model of the fallback.
func (s *stepRun) restart(ctx context.Context, n int, retry retryPlan, failure error) error {
	if err := s.discard(ctx); err != nil {
		return err
	}
	if retry.again {
		if err := s.pause(ctx, n, retry); err != nil {
			return err
		}
		return s.reserve(ctx, s.log.busyFact(), s.retryFact(n, failure))
	}
	message, note, err := s.useFallback(ctx)
	if err != nil {
		return err
	}
	return s.reserve(ctx, append([]lathe.Fact{s.log.busyFact(), message}, note...)...)
}

// retryFact records a failed attempt when the next one begins, so that the time until then can be told from that of the
// answer.
func (s *stepRun) retryFact(n int, failure error) lathe.Fact {
	at := s.engine.now()
	return &lathe.PartChanged{Part: s.log.newPart(s.fold.Message.ID, &lathe.Retry{Attempt: n, Error: faultOf(failure), Created: at}), Time: at}
}

// endWithCalls ends a failed step whose tools have run. The next step continues after the pause, or with
// the model of the fallback; a cancel or a store that fails meanwhile shows there.
func (s *stepRun) endWithCalls(ctx context.Context, n int, retry retryPlan, failure error) error {
	if err := s.closeWithCalls(ctx); err != nil || !retry.again {
		return err
	}
	if s.pause(ctx, n, retry) == nil {
		_ = s.log.write(ctx, s.log.busyFact(), s.retryFact(n, failure))
	}
	return nil
}

// pause publishes the retry status and waits before the next attempt.
func (s *stepRun) pause(ctx context.Context, n int, next retryPlan) error {
	s.engine.telemetry.Retry()
	s.engine.log.Warn("request failed; retrying", "session", s.session.ID, "attempt", n, "wait", next.wait, "error", next.message)
	err := s.log.write(ctx, &lathe.StatusChanged{Session: s.session.ID, Status: lathe.Status{
		Type: lathe.Retrying, Attempt: n, Message: next.message, Next: s.engine.now() + lathe.Time(next.wait.Milliseconds()),
	}})
	if err != nil {
		return err
	}
	return sleep(ctx, next.wait)
}

// backoff doubles from two seconds up to half a minute, and adds up to a quarter so that
// many sessions do not come back at once.
func backoff(n int, random float64) time.Duration {
	base := float64(retryBase) * math.Pow(2, float64(n-1))
	wait := math.Ceil((base+base*retryJitter*random)/float64(time.Millisecond)) * float64(time.Millisecond)
	return min(time.Duration(wait), retryCap)
}

// retryAfter is how long the provider asks to wait.
func retryAfter(err error, now time.Time) (time.Duration, bool) {
	f, ok := faultOf(err).(*lathe.APIFault)
	var headers map[string]string
	if !ok || json.Unmarshal(f.ResponseHeaders, &headers) != nil {
		return 0, false
	}
	h := http.Header{}
	for k, v := range headers {
		h.Set(k, v)
	}
	return model.RetryAfter(h, now)
}

// retryMessage is the message of the status.
func retryMessage(err error) string {
	text := faultText(err)
	if strings.Contains(strings.ToLower(text), "overloaded") {
		return "Provider is overloaded"
	}
	return text
}

// faultOf converts an error to the form stored on a message.
func faultOf(err error) lathe.Fault {
	var e *lathe.Error
	switch {
	case errors.As(err, &e) && e.Fault != nil:
		return e.Fault
	case lathe.CodeOf(err) == lathe.Canceled:
		return &lathe.AbortedFault{Message: "The turn was canceled"}
	case lathe.CodeOf(err) == lathe.Overflow:
		return &lathe.OverflowFault{Message: err.Error()}
	default:
		return &lathe.UnknownFault{Message: err.Error()}
	}
}

func faultText(err error) string { return lathe.FaultMessage(faultOf(err)) }
