// Package lathe has the types of the wire, the feed and the database, with their validation and
// JSON encoding.
//
// It owns data and its encoding, not behavior: no files, no network, no clock but [Now] and the
// id generator. It imports the standard library only, so every other package may import it.
//
// Unions are sealed interfaces: [Body] (the content of a part), [RoleData] (the
// content of a message), [ToolState], [Fault] (the failure of an answer), [Fact]
// (a change), [Input] (a request to a session). The envelope carries identity and
// time, the variant carries meaning.
//
// The JSON is OpenCode's. Each type lists its members once, in a method called fields, and both
// directions use that list (codec.go); unknown members are stored in Extra and written back.
//
// All types are plain values and safe to share once built. Only [IDs] has state,
// and it locks.
//
// Start reading at part.go, event.go and input.go; [Transcript] shows how events
// become messages again.
package lathe
