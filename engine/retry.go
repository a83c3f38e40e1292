package engine

import (
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

// retryPlan is what comes after a failed attempt.
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
	if n > attempts || !retryable(err) {
		return retryPlan{}
	}
	wait, told := retryAfter(err, now)
	if !told || wait <= 0 { // at once is over in a moment, with all attempts
		wait = backoff(n, random)
	}
	if wait > max(maxWait, retryCap) {
		return retryPlan{} // a person would rather know now
	}
	return retryPlan{again: true, wait: wait, message: retryMessage(err)}
}

// retryable decides by code, as package model gave it where the failure entered.
func retryable(err error) bool {
	switch lathe.CodeOf(err) {
	case lathe.Limited, lathe.Unavailable:
		return true
	default:
		return false
	}
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
	f, ok := apiFault(err)
	if !ok || f.ResponseHeaders == nil {
		return 0, false
	}
	var headers map[string]string
	if json.Unmarshal(f.ResponseHeaders, &headers) != nil {
		return 0, false
	}
	h := http.Header{}
	for k, v := range headers {
		h.Set(k, v)
	}
	return model.RetryAfter(h, now)
}

func apiFault(err error) (*lathe.APIFault, bool) {
	var e *lathe.Error
	if !errors.As(err, &e) {
		return nil, false
	}
	f, ok := e.Fault.(*lathe.APIFault)
	return f, ok
}

// retryMessage is what the status says.
func retryMessage(err error) string {
	text := faultText(err)
	if strings.Contains(strings.ToLower(text), "overloaded") {
		return "Provider is overloaded"
	}
	return text
}

// faultOf is the form in which an error stands on a message.
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
