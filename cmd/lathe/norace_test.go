//go:build !race

package main

// raced says that the race detector runs, with which a program takes many times as long to start.
const raced = false
