package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lathe-agent/lathe"
)

// overloaded is a provider's refusal with headers.
func overloaded(code lathe.Code, headers map[string]string) error {
	h, _ := json.Marshal(headers)
	return fmt.Errorf("ask: %w", &lathe.Error{Code: code, Message: "Overloaded, sorry", Fault: &lathe.APIFault{
		Message: "Overloaded, sorry", StatusCode: 529, Retryable: true, ResponseHeaders: h,
	}})
}

func TestRetry_Table(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	plain := &lathe.Error{Code: lathe.Unavailable, Message: "connection reset"}
	for _, tt := range []struct {
		name   string
		r      Retry
		err    error
		n      int
		random float64
		want   retryPlan
	}{
		{"first", Retry{}, plain, 1, 0, retryPlan{true, 2 * time.Second, "connection reset"}},
		{"jitter", Retry{}, plain, 1, 0.999999, retryPlan{true, 2500 * time.Millisecond, "connection reset"}},
		{"doubles", Retry{}, plain, 3, 0, retryPlan{true, 8 * time.Second, "connection reset"}},
		{"at most half a minute", Retry{}, plain, 5, 0.5, retryPlan{true, 30 * time.Second, "connection reset"}},
		{"the sixth failure is final", Retry{}, plain, 6, 0, retryPlan{}},
		{"fewer by settings", Retry{Attempts: 1}, plain, 2, 0, retryPlan{}},
		{"none by settings", Retry{Attempts: -1}, plain, 1, 0, retryPlan{}},
		{"milliseconds", Retry{}, overloaded(lathe.Limited, map[string]string{"retry-after-ms": "1500"}), 1, 0, retryPlan{true, 1500 * time.Millisecond, "Provider is overloaded"}},
		{"seconds", Retry{}, overloaded(lathe.Limited, map[string]string{"retry-after": "7"}), 4, 0, retryPlan{true, 7 * time.Second, "Provider is overloaded"}},
		{"a date", Retry{}, overloaded(lathe.Limited, map[string]string{"retry-after": "Fri, 02 Jan 2026 03:04:25 GMT"}), 1, 0, retryPlan{true, 20 * time.Second, "Provider is overloaded"}},
		{"a date that is past", Retry{}, overloaded(lathe.Limited, map[string]string{"retry-after": "Fri, 02 Jan 2026 03:04:00 GMT"}), 1, 0, retryPlan{true, 2 * time.Second, "Provider is overloaded"}},
		{"at once", Retry{}, overloaded(lathe.Limited, map[string]string{"retry-after": "0"}), 2, 0, retryPlan{true, 4 * time.Second, "Provider is overloaded"}},
		{"nonsense", Retry{}, overloaded(lathe.Limited, map[string]string{"retry-after": "soon"}), 1, 0, retryPlan{true, 2 * time.Second, "Provider is overloaded"}},
		{"an hour is too long", Retry{}, overloaded(lathe.Limited, map[string]string{"retry-after": "3600"}), 1, 0, retryPlan{}},
		{"unless told", Retry{MaxWait: 2 * time.Hour}, overloaded(lathe.Limited, map[string]string{"retry-after": "3600"}), 1, 0, retryPlan{true, time.Hour, "Provider is overloaded"}},
		{"overflow", Retry{}, &lathe.Error{Code: lathe.Overflow}, 1, 0, retryPlan{}},
		{"a wrong key", Retry{}, &lathe.Error{Code: lathe.Unauthorized}, 1, 0, retryPlan{}},
		{"a bug", Retry{}, errors.New("nil"), 1, 0, retryPlan{}},
		{"a cancel", Retry{}, context.Canceled, 1, 0, retryPlan{}},
	} {
		if got := tt.r.retry(tt.err, tt.n, now, tt.random); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
