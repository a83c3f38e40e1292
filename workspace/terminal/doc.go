// Package terminal keeps the terminals that clients open in directories: shells for people, which
// several clients can watch and type into, and which run on while nobody does.
//
// It owns what a terminal has shown lately, counted in the units that clients count in, which
// terminals there are and what is told of them. The processes are the sandbox's, which ends them
// with all they started, also when this program is killed; how clients are reached is the
// server's.
//
// A Set is safe for use by many goroutines. Each terminal has one goroutine, which reads what its
// program shows; it ends with the program, and [Set.Close] waits for all of them. Who watches
// reads from a position and never makes the program or other watchers wait.
//
// Start reading at Set in set.go; buffer.go is what was shown.
package terminal
