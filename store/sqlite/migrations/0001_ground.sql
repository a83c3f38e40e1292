-- The ground floor. Rows refer to each other by row number, not by id: an id is thirty
-- bytes. No WITHOUT ROWID for rows with data: rows of a kilobyte would spill.
-- born and seq are the numbers of the first and the last change (the feed).

CREATE TABLE feed (
	counter INTEGER NOT NULL, -- the last number given
	floor   INTEGER NOT NULL, -- the highest number that can no longer be resumed from
	word    TEXT    NOT NULL  -- names this database in cursors
);
INSERT INTO feed VALUES (0, 0, lower(hex(randomblob(4))));

CREATE TABLE known (key TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE project (
	n        INTEGER PRIMARY KEY,
	id       TEXT NOT NULL UNIQUE,
	worktree TEXT NOT NULL,
	data     TEXT NOT NULL,
	born     INTEGER NOT NULL,
	seq      INTEGER NOT NULL
);

CREATE TABLE session (
	n          INTEGER PRIMARY KEY,
	id         TEXT NOT NULL UNIQUE,
	slug       TEXT NOT NULL,
	project    TEXT NOT NULL,
	workspace  TEXT,
	directory  TEXT NOT NULL,
	path       TEXT,
	parent     TEXT,
	title      TEXT NOT NULL,
	title_key  TEXT NOT NULL, -- the title in lower case, for search
	version    TEXT NOT NULL,
	created    REAL NOT NULL,
	updated    REAL NOT NULL,
	compacting REAL NOT NULL,
	archived   REAL,
	summary    TEXT,
	share      TEXT,
	rules      TEXT,
	revert     TEXT,
	cost       INTEGER, -- picodollars
	tokens     TEXT,
	agent      TEXT,
	model      TEXT,
	metadata   TEXT,
	extra      TEXT,
	born       INTEGER NOT NULL,
	seq        INTEGER NOT NULL
);
CREATE INDEX session_updated ON session (updated, id);
CREATE INDEX session_project ON session (project, updated, id);
CREATE INDEX session_directory ON session (directory, updated, id);
CREATE INDEX session_parent ON session (parent) WHERE parent IS NOT NULL;
CREATE INDEX session_seq ON session (seq);

CREATE TABLE message (
	n       INTEGER PRIMARY KEY,
	id      TEXT NOT NULL UNIQUE,
	session INTEGER NOT NULL,
	role    TEXT NOT NULL,
	created REAL NOT NULL,
	parent  TEXT,
	data    BLOB NOT NULL,
	born    INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	waiting INTEGER NOT NULL, -- 0 in the history, 1 steer, 2 queue
	hold    INTEGER NOT NULL, -- not before the next word
	wants   INTEGER NOT NULL, -- an answer is expected
	digest  TEXT              -- stands for the words as they were sent
);
CREATE INDEX message_order ON message (session, created, id);
CREATE INDEX message_waiting ON message (session) WHERE waiting > 0;
CREATE INDEX message_seq ON message (seq);

CREATE TABLE part (
	n       INTEGER PRIMARY KEY, -- rises: the order of birth
	id      TEXT NOT NULL UNIQUE,
	message INTEGER NOT NULL,
	type    TEXT NOT NULL,
	data    BLOB NOT NULL,
	born    INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	open    INTEGER NOT NULL -- its text still grows, in tail
);
CREATE INDEX part_message ON part (message);
CREATE INDEX part_seq ON part (seq);

CREATE TABLE tail (
	part INTEGER NOT NULL,
	at   INTEGER NOT NULL, -- in bytes
	text BLOB NOT NULL,
	PRIMARY KEY (part, at)
);

CREATE TABLE status (
	session INTEGER PRIMARY KEY,
	data    TEXT NOT NULL,
	born    INTEGER NOT NULL,
	seq     INTEGER NOT NULL
);

CREATE INDEX status_seq ON status (seq);

CREATE TABLE list (
	n       INTEGER PRIMARY KEY,
	session INTEGER NOT NULL,
	kind    TEXT NOT NULL, -- todo or diff
	data    TEXT NOT NULL,
	born    INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	UNIQUE (session, kind)
);
CREATE INDEX list_seq ON list (seq);

CREATE TABLE ask (
	n        INTEGER PRIMARY KEY,
	id       TEXT NOT NULL UNIQUE,
	session  INTEGER NOT NULL,
	kind     TEXT NOT NULL, -- permission or question
	data     TEXT NOT NULL,
	answer   TEXT,          -- set once
	note     TEXT,          -- what the user said with a rejection
	answered REAL,
	born     INTEGER NOT NULL,
	seq      INTEGER NOT NULL
);
CREATE INDEX ask_session ON ask (session);
CREATE INDEX ask_seq ON ask (seq);

CREATE TABLE tomb (
	n         INTEGER PRIMARY KEY,
	kind      TEXT NOT NULL,
	session   TEXT NOT NULL,
	message   TEXT,
	part      TEXT,
	directory TEXT NOT NULL,
	project   TEXT NOT NULL,
	data      TEXT,
	born      INTEGER NOT NULL,
	seq       INTEGER NOT NULL,
	at        REAL NOT NULL
);
CREATE INDEX tomb_seq ON tomb (seq);

CREATE TABLE lease (
	session INTEGER PRIMARY KEY,
	owner   TEXT,
	epoch   INTEGER NOT NULL,
	cancel  INTEGER NOT NULL
);

CREATE TABLE blob (hash TEXT PRIMARY KEY, size INTEGER NOT NULL);
CREATE TABLE blob_ref (
	kind TEXT NOT NULL,
	row  INTEGER NOT NULL,
	hash TEXT NOT NULL,
	PRIMARY KEY (kind, row, hash)
) WITHOUT ROWID;
CREATE INDEX blob_ref_hash ON blob_ref (hash);
