-- The command that last ran the tests of a project, and how it ended.
CREATE TABLE tests (
	project TEXT PRIMARY KEY,
	command TEXT NOT NULL,
	exit    INTEGER NOT NULL,
	at      REAL NOT NULL
) WITHOUT ROWID;
