// Package terminal manages the terminals that clients open in directories: shells for people,
// which several clients can watch and type into, and which keep running without clients.
//
// It owns the recent output of each terminal, counted in the units of clients, the list of
// terminals and the events about them. Package sandbox runs the processes and ends them with
// all their children, also when this program is killed. Package server connects the clients.
//
// A Set is safe for use by many goroutines. Each terminal has one goroutine, which reads its
// output; it ends with the program, and [Set.Close] waits for all of them. Watchers read from a
// position and never delay the program or each other.
//
// Start reading at Set in set.go; buffer.go stores the output.
package terminal
