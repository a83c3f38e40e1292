-- When a large value outside of files lost its last row, or was deleted (negative). 0 means in use, and for files always.
ALTER TABLE blob ADD COLUMN unused INTEGER NOT NULL DEFAULT 0;
CREATE INDEX blob_unused ON blob (unused) WHERE unused <> 0;
