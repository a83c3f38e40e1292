package lathe

// SearchQuery selects places in all sessions.
type SearchQuery struct {
	// Text has the words that a place must contain, "several words in a row" in quotes, and beginnings of
	// words with a star (pars*).
	Text    string
	Typing  bool      // the last word may be incomplete
	Session SessionID // only this one
	Project string    // ID
	Path    string    // only sessions in this path below the worktree, or anything under it
	Model   string    // provider/model, or a model of any provider
	Tool    string
	Since   Time
	Limit   int    // places; 0 is 20
	Cursor  string // Next of the result before, to continue it
}

// SearchResult is the places that a search found, newest first.
type SearchResult struct {
	Hits []SearchHit `json:"hits"`
	// More reports whether there are, or may be, further places. One search reads a limited amount of text, so there
	// may be more even if it found nothing.
	More bool   `json:"more"`
	Next string `json:"next,omitempty"` // the cursor of the further places
	// Indexed is the part of all stored changes that the index has, from 0 to 1. Places that are not indexed yet
	// are not found.
	Indexed float64 `json:"indexed"`
}

// SearchHit is one place: a part of a message.
type SearchHit struct {
	Session   SessionID    `json:"sessionID"`
	Title     string       `json:"title"` // of the session
	Project   string       `json:"projectID"`
	Directory string       `json:"directory"`
	Message   MessageID    `json:"messageID"`
	Part      PartID       `json:"partID"`
	Place     string       `json:"place" enum:"prompt,answer,tool input,tool output,file"` // file is a file name
	Tool      string       `json:"tool,omitempty"`
	Model     string       `json:"model,omitempty"` // provider/model
	Time      Time         `json:"time"`            // of the message
	Snippet   []SearchText `json:"snippet"`
}

// SearchText is a piece of a snippet.
type SearchText struct {
	Text  string `json:"text"`
	Match bool   `json:"match,omitempty"` // it is what was searched for
}
