// Package ask owns the two regions that replace the prompt while a session waits for the user: a
// permission request of a tool, and questions of the model.
//
// Both have the methods of a dialog; Key and Click take the time too, since keys typed for the prompt must
// never answer a request that has just appeared: after StartGuard they ignore keys until the keyboard was quiet
// for a moment. Hidden characters in a command or a file name (control characters, direction marks, odd spaces)
// are made visible, and long content is scrolled, never left out.
//
// Regions have no side effects; a Result carries the decision of the user. They read no clock and are used from one
// goroutine. Start with permission.go, then question.go.
package ask
