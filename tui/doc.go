// Package tui is the terminal program: it shows sessions of an engine, wherever that is, and lets a person
// work in them.
//
// One package below it for each region of the screen: chat (the conversation), editor (the prompt), ask
// (permissions and questions), dialog (what lies over the rest), sidebar, status, home, review (changes), toast and
// whichkey. They draw style.Line values from what they are given and never ask anybody anything. state holds
// what is known, host says what an engine must be able to do, key knows the keys, memory what is kept between
// runs, style what things look like.
//
// This package holds a controller for each region and each thing that people do (prompt, conversation, sessions,
// turns, asks, choice, look …); each embeds the services that all share and names the others it uses. The root,
// program, routes and lays out: a key goes to the region that has it, what the region wants becomes a call of the
// engine, and the answer comes back as a message. All state is changed in Update, by one
// goroutine; calls run beside it and are waited for when the program ends (services.go). Events arrive in
// batches, at most one a frame (feed.go).
//
// Start with Run, then program.go.
package tui
