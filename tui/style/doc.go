// Package style owns colors, themes, and lines of styled text that can be measured,
// wrapped, cut and laid over each other before they become bytes for a terminal.
//
// All views of tui are made of Line values; only the root turns them into escape sequences. So a view can
// be tested as text, a background can be dimmed, and nothing that a tool or a model wrote can smuggle an
// escape sequence onto the screen: Clean takes them out where text enters.
//
// Everything here is a value or a pure function; only Files and Load look at files, when they are called, and a
// theme is made on request. Start with line.go, then theme.go; recipes.go has the themes and
// file.go reads those of others.
package style
