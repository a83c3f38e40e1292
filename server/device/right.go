package device

import (
	"fmt"

	"github.com/lathe-agent/lathe"
)

// Right is what a device may do. Each right includes those before it. The zero value is no right, so that a route
// cannot be added without one.
type Right int

const (
	Anyone Right = iota + 1 // needs no credentials
	Read                    // sees sessions and their events
	Answer                  // also answers questions, allows a request once or rejects it, and stops turns
	Full                    // also does everything that the password allows
)

// String is the name of a right in flags and JSON.
func (r Right) String() string {
	switch r {
	case Anyone:
		return "anyone"
	case Read:
		return "read"
	case Answer:
		return "answer"
	case Full:
		return "full"
	default:
		return fmt.Sprintf("Right(%d)", int(r))
	}
}

// MarshalText writes the name of a right.
func (r Right) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the right of a device.
func (r *Right) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRight(string(text))
	return err
}

// ParseRight reads the name of a right that a device can have.
func ParseRight(name string) (Right, error) {
	for _, r := range []Right{Read, Answer, Full} {
		if r.String() == name {
			return r, nil
		}
	}
	return 0, lathe.Errorf(lathe.Invalid, "unknown right %q; use read, answer or full", name)
}
