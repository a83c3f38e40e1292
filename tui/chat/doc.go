// Package chat draws the conversation: what was said, thought and done in a session, from its Transcript. It
// owns the place in it that is looked at, what is unfolded, and copies of rows that were drawn before.
//
// A history is a long list of blocks: a message of the user is one, a part of an answer is one, and so is the
// line that closes an answer. Only the blocks on the screen are ever drawn, so that a session of ten thousand
// parts costs what the screen is high. Where one looks is held as a block and a row in it, not as a number of
// rows from the top, which nobody could know without drawing everything above.
//
// For one goroutine. Start with Chat.View; walk.go goes from block to block, block.go draws one.
package chat
