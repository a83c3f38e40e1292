-- What users answered "always" to, for a project.
CREATE TABLE approval (
	n          INTEGER PRIMARY KEY,
	project    TEXT NOT NULL,
	permission TEXT NOT NULL,
	pattern    TEXT NOT NULL,
	created    REAL NOT NULL,
	UNIQUE (project, permission, pattern)
);
