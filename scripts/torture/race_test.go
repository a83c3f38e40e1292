//go:build race

package main

import "time"

// latest leaves a child that the race detector slows down the time to begin.
const latest = time.Second
