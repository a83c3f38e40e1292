// Package ask owns the two regions that take the place of the prompt while somebody waits for a person: a
// permission that a tool needs, and questions of the model.
//
// Both have the methods of a dialog; Key and Click take the time too, since what was typed for the prompt must
// never answer what has just appeared in its place: after Shown they take nothing until the keyboard was quiet
// for a moment. What a command or a file name hides (control characters, marks that turn directions, spaces that
// are none) is made visible, and what does not fit is scrolled, never left out.
//
// Regions do nothing themselves; an Out says what a person has decided. They read no clock and are used from one
// goroutine. Start with permission.go, then question.go.
package ask
