-- Whether the last turn of a session was cut off and nothing has been said since.
ALTER TABLE lease ADD COLUMN interrupted INTEGER NOT NULL DEFAULT 0;

-- Requests that wait are few, answered ones many.
CREATE INDEX ask_waiting ON ask (n) WHERE answer IS NULL;
