// Package lathe is the vocabulary: every type that travels on the wire, in the
// feed and in the database, with its validation and its JSON.
//
// It owns shapes and their encoding, nothing that runs: no files, no network,
// no clock but [Now] and the id generator. It imports the standard library only,
// so every other package may import it.
//
// Unions are sealed interfaces: [Body] (the content of a part), [RoleData] (the
// content of a message), [ToolState], [Fault] (the failure of an answer), [Fact]
// (a change), [Input] (a request to a session). The envelope carries identity and
// time, the variant carries meaning.
//
// The JSON is OpenCode's. Each type lists its members once, in a method called
// fields, and both directions use that list (codec.go); members we do not know
// are kept in Extra and written back.
//
// All types are plain values and safe to share once built. Only [IDs] has state,
// and it locks.
//
// Start reading at part.go, event.go and input.go; [Transcript] shows how events
// become messages again.
package lathe
