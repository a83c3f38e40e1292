-- Commands in the background. owner is the process that runs one, NULL once its session was told the end.
CREATE TABLE shell (
	n       INTEGER PRIMARY KEY,
	id      TEXT NOT NULL UNIQUE,
	session INTEGER NOT NULL,
	data    TEXT NOT NULL, -- JSON
	owner   TEXT,
	stop    INTEGER NOT NULL DEFAULT 0 -- somebody wants it to end
);
CREATE INDEX shell_session ON shell (session);

-- Those that run, or whose end was not told, are few.
CREATE INDEX shell_running ON shell (n) WHERE owner IS NOT NULL;
