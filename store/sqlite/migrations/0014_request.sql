-- What the request for an answer was: the version of the program and a digest. Private: no record has it.
ALTER TABLE message ADD COLUMN request TEXT;
