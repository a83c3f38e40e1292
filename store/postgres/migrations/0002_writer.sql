-- The last change of each node, by which it finds out whether a commit whose answer was lost was stored. The number of a
-- transaction does not tell: after a crash the server gives those again that were not yet on disk.
CREATE TABLE writer (
	node TEXT COLLATE "C" PRIMARY KEY,
	mark BIGINT NOT NULL
) WITH (fillfactor = 50);
