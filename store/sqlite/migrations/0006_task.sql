-- What a child session works for: 0 nothing, 1 a call of its parent that waits for it, 2 its
-- parent, which is told when it ends. Private: no record has it.
ALTER TABLE session ADD COLUMN task INTEGER NOT NULL DEFAULT 0;

-- Those whose parent is to be told are few.
CREATE INDEX session_task ON session (n) WHERE task = 2;
