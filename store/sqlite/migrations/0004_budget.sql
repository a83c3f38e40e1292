-- What sessions with all below them, days and projects have spent. Money is in picodollars,
-- time in milliseconds. The rows are small: one tree holds them.
CREATE TABLE account (
	kind   TEXT NOT NULL, -- session, day or project
	key    TEXT NOT NULL,
	cost   INTEGER NOT NULL DEFAULT 0,
	tokens INTEGER NOT NULL DEFAULT 0,
	steps  INTEGER NOT NULL DEFAULT 0,
	time   INTEGER NOT NULL DEFAULT 0,
	limits TEXT, -- of a session, where it has its own
	PRIMARY KEY (kind, key)
) WITHOUT ROWID;

-- Requests under way, few at any time, and what they may cost. One whose process has died is
-- charged what it has cost for sure.
CREATE TABLE reservation (
	session     INTEGER NOT NULL,
	slot        TEXT NOT NULL,
	epoch       INTEGER NOT NULL, -- of the lease it was made under
	day         TEXT NOT NULL,
	project     TEXT NOT NULL,
	chain       TEXT NOT NULL, -- the session and all above it
	cost        INTEGER NOT NULL,
	tokens      INTEGER NOT NULL,
	steps       INTEGER NOT NULL,
	sure_cost   INTEGER NOT NULL,
	sure_tokens INTEGER NOT NULL,
	PRIMARY KEY (session, slot)
) WITHOUT ROWID;

INSERT INTO account (kind, key, cost, tokens)
WITH RECURSIVE used (n, id, cost, tokens) AS (
	SELECT n, id, COALESCE(cost, 0), COALESCE(json_extract(tokens, '$.input'), 0) + COALESCE(json_extract(tokens, '$.output'), 0)
		+ COALESCE(json_extract(tokens, '$.reasoning'), 0) + COALESCE(json_extract(tokens, '$.cache.read'), 0)
		+ COALESCE(json_extract(tokens, '$.cache.write'), 0)
	FROM session
), above (top, n) AS (
	SELECT id, n FROM session
	UNION
	SELECT session.parent, above.n FROM above JOIN session ON session.id = above.top WHERE session.parent IS NOT NULL
)
SELECT 'session', above.top, sum(used.cost), sum(used.tokens)
FROM above JOIN used ON used.n = above.n JOIN session ON session.id = above.top
GROUP BY above.top HAVING sum(used.cost) > 0 OR sum(used.tokens) > 0;

INSERT INTO account (kind, key, cost)
SELECT 'project', project, sum(cost) FROM session WHERE cost > 0 GROUP BY project;
