// Package tui is the terminal UI: it shows the sessions of a local or remote engine and lets a person
// work in them.
//
// One package below it for each region of the screen: chat (the conversation), editor (the prompt), ask
// (permissions and questions), dialog (overlays), sidebar, status, home, review (changes), toast and
// whichkey. They draw style.Line values from their input and make no calls. state holds the data
// of the engine, key the keybinds, memory the state kept between runs, style the colors and
// themes.
//
// This package holds a controller for each region and each feature (prompt, conversation, sessions,
// turns, asks, choice, look …); each embeds the services that all share and names the others it uses. The root,
// program, routes and lays out: a key goes to the focused region, its result becomes a call of the
// engine, and the answer comes back as a message. All state is changed in Update, by one
// goroutine; calls run in the background and are awaited at exit (services.go). Events arrive in
// batches, at most one a frame (feed.go).
//
// Start with Run, then program.go.
package tui
