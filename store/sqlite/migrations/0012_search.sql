-- The parts of all sessions by their words. It has neither texts nor places in them: parts that
-- were found are read and looked at again. Short beginnings of words have their own entries: a user types them first.
CREATE VIRTUAL TABLE search USING fts5 (words, content = '', contentless_delete = 1, detail = none, prefix = '2 3', tokenize = 'ascii');

-- Which changes it has: those up to search_low, and those after search_top up to search_high.
ALTER TABLE feed ADD COLUMN search_low INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feed ADD COLUMN search_top INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feed ADD COLUMN search_high INTEGER NOT NULL DEFAULT 0;
