// Package chat draws the conversation of a session from its Transcript. It
// owns the scroll position, the expanded parts, and a cache of drawn rows.
//
// A history is a long list of blocks: a message of the user is one, a part of an answer is one, and so is the
// line that closes an answer. Only the blocks on the screen are ever drawn, so that a session of ten thousand
// parts costs what the screen is high. The scroll position is a block and a row in it, not a number of
// rows from the top, which would require drawing everything above.
//
// For one goroutine. Start with Chat.View; walk.go goes from block to block, block.go draws one.
package chat
