-- The answers of a session by their order, so that a step of a long session is found by its number.
CREATE INDEX message_step ON message (session, created, id) WHERE role = 'assistant';
