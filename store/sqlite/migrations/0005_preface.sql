-- What goes before the conversation of a session: sampled once, so that its bytes stay the same
-- in every request, whichever process sends it.
CREATE TABLE preface (
	session INTEGER PRIMARY KEY,
	data    BLOB NOT NULL -- JSON
);
