// Package modeltest is a fake provider that plays a script.
//
// It owns a server that speaks, over real HTTP, the wire of Anthropic Messages, OpenAI Chat
// Completions, OpenAI Responses, Gemini and Bedrock Converse, streaming and not. A [Script] is
// a list of answers and an [Answer] a list of steps: text, reasoning, calls, but also pauses,
// stalls, cuts and errors. The same script means the same on every wire, as far as that wire
// can express it. The server records requests in a neutral form, and refuses requests that a
// real provider would refuse. It imports none of lathe's protocol packages: it is written from
// observed traffic, so that it does not repeat the errors of a decoder.
//
// A script is written in Go, or as text ([Parse]) in transcripts, bug reports and the demo, for
// which the program links this package. It does not import testing.
//
// A server is safe for many goroutines; scripts and answers are immutable values.
//
// Start reading here, then play.go; anthropic.go shows one wire.
package modeltest

import "time"

// Script is the answers of a server, in the order in which they are given.
type Script []Answer

// Answer is the sequence of steps with which a server answers one request. What it leaves out
// is filled in: small numbers of tokens, and an end that fits. An answer of nothing but [Raw]
// is sent as it is.
type Answer []Step

// Step is a piece of an answer. Sealed.
type Step interface{ step() }

type (
	// Text is words of the model, one delta for each. Texts that follow each other are one
	// block. Bytes that are no UTF-8 go out as they are, and a surrogate in the manner of
	// UTF-8 (ED A0 80 to ED BF BF) as the escape that some providers send.
	Text []string

	// Reasoning is thoughts. The signature is data that the provider wants back: it ends the
	// block. A signature without words is hidden reasoning. Chat Completions has none.
	Reasoning struct {
		Chunks    []string
		Signature string
	}

	// Call is a call of a tool. Several in one answer are parallel.
	Call struct {
		ID     string // "" becomes call_<request>_<number>
		Name   string
		Args   string // the text the model wrote, which need not be JSON; "" means {}
		Pieces int    // how many deltas the arguments come in; 0 means 1
	}

	// Parallel is calls whose arguments come in turns, where the wire can do that.
	Parallel []Call

	// Executed is a tool that the provider runs itself, like its web search. Chat Completions
	// and Gemini only show the sources, Bedrock nothing.
	Executed struct {
		ID, Name, Args string
		Sources        []Source
		Failed         string // the provider's word for why; "" when it worked
	}

	// Source is a citation in the text before it.
	Source struct{ URL, Title string }

	// Usage is the token usage of the answer. Input includes the cache, output includes
	// reasoning, as in package model; each wire subtracts what it does not count. The last one
	// counts.
	Usage struct {
		Input, CacheRead, CacheWrite, Output, Reasoning int64
		None                                            bool // the provider does not say
	}

	// Finish ends the answer. Reasons are those of package model; another word is sent as it is.
	Finish string

	// When keeps the answer for requests that hold this text somewhere in their body, like the
	// one for a title; they take it before any answer without When. Of several all must be there.
	When string
)

// Steps that are about the connection.
type (
	// Pause waits before the next step.
	Pause time.Duration

	// Headers sends the response headers now; else they go with the first bytes.
	Headers struct{}

	// Stall sends nothing more until the client goes away.
	Stall struct{}

	// Cut ends the answer here, or before byte At of its body, if that is not 0.
	Cut struct {
		At  int
		How Ending
	}

	// Drip sends what follows in pieces of so many bytes, with a wait after each.
	Drip struct {
		Bytes int
		Every time.Duration
	}

	// Status answers with an HTTP status instead of a stream. Without a body it is the
	// provider's own JSON, with the words of a [Fail] that follows, if there is one.
	Status struct {
		Code   int
		Header map[string]string // Retry-After among them
		Body   string
	}

	// Fail is an error inside the stream. Known types, in any provider's words, are said in
	// those of the wire. An answer that does not stream becomes a refusal with a status.
	Fail struct{ Type, Code, Message string }

	// Raw is bytes of the body, right or wrong.
	Raw string
)

// Ending is how a connection is cut.
type Ending string

// The endings.
const (
	Abrupt Ending = ""      // closed in the middle of the body
	Clean  Ending = "clean" // the body ends properly, but too early
	Reset  Ending = "reset" // the peer resets the connection, if it is a TCP one
)

func (Text) step()      {}
func (Reasoning) step() {}
func (Call) step()      {}
func (Parallel) step()  {}
func (Executed) step()  {}
func (Source) step()    {}
func (Usage) step()     {}
func (Finish) step()    {}
func (When) step()      {}
func (Pause) step()     {}
func (Headers) step()   {}
func (Stall) step()     {}
func (Cut) step()       {}
func (Drip) step()      {}
func (Status) step()    {}
func (Fail) step()      {}
func (Raw) step()       {}

// Protocol is a wire the server speaks.
type Protocol string

// The protocols. Their paths are found by their end, so that a base address may have any
// beginning.
const (
	Anthropic Protocol = "anthropic" // POST …/messages, …/models/{model}:streamRawPredict, :rawPredict
	Chat      Protocol = "chat"      // POST …/chat/completions
	Responses Protocol = "responses" // POST …/responses
	Gemini    Protocol = "gemini"    // POST …/models/{model}:streamGenerateContent, :generateContent
	Bedrock   Protocol = "bedrock"   // POST …/model/{model}/converse-stream, /converse
)

// Protocols is all of them, for tests that walk them.
func Protocols() []Protocol { return []Protocol{Anthropic, Chat, Responses, Gemini, Bedrock} }
