//go:build !race

package main

import "time"

// latest is as in the long campaign.
const latest = 400 * time.Millisecond
