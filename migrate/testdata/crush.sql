CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    parent_session_id TEXT,
    title TEXT NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0,
    prompt_tokens INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0.0,
    updated_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    summary_message_id TEXT,
    todos TEXT
);
CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    role TEXT NOT NULL,
    parts TEXT NOT NULL DEFAULT '[]',
    model TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    finished_at INTEGER,
    provider TEXT,
    is_summary_message INTEGER DEFAULT 0 NOT NULL
);
CREATE TRIGGER update_session_message_count_on_insert AFTER INSERT ON messages BEGIN
    UPDATE sessions SET message_count = message_count + 1 WHERE id = new.session_id;
END;
INSERT INTO sessions VALUES ('0b1f6f0e-3d57-4b36-9c07-7e2f8f6b7a10', NULL, 'Say hello', 0, 480, 60, 0.00465, 1794979540, 1794979520, NULL, NULL);
INSERT INTO messages VALUES ('5a0c1d1e-0001', '0b1f6f0e-3d57-4b36-9c07-7e2f8f6b7a10', 'user', '[{"type":"text","data":{"text":"Say hello with the shell"}},{"type":"finish","data":{"reason":"stop","time":0}}]', '', 1794979520, 1794979520, NULL, NULL, 0);
INSERT INTO messages VALUES ('5a0c1d1e-0002', '0b1f6f0e-3d57-4b36-9c07-7e2f8f6b7a10', 'assistant', '[{"type":"reasoning","data":{"thinking":"Let me think.","signature":"c2ln","started_at":1794979521,"finished_at":1794979521}},{"type":"text","data":{"text":"I will look."}},{"type":"tool_call","data":{"id":"call_1","name":"bash","input":"{\"command\":\"echo hello from the shell\",\"description\":\"Say hello\"}","provider_executed":false,"finished":true}},{"type":"tool_call","data":{"id":"call_2","name":"view","input":"{\"file_path\":\"nonexistent.txt\"}","provider_executed":false,"finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1794979521}}]', 'claude-sonnet-4-5', 1794979521, 1794979522, 1794979522, 'anthropic', 0);
INSERT INTO messages VALUES ('5a0c1d1e-0003', '0b1f6f0e-3d57-4b36-9c07-7e2f8f6b7a10', 'tool', '[{"type":"tool_result","data":{"tool_call_id":"call_1","name":"bash","content":"hello from the shell\n","data":"","mime_type":"","metadata":"","is_error":false}},{"type":"tool_result","data":{"tool_call_id":"call_2","name":"view","content":"File not found: nonexistent.txt","data":"","mime_type":"","metadata":"","is_error":true}}]', '', 1794979523, 1794979523, NULL, NULL, 0);
INSERT INTO messages VALUES ('5a0c1d1e-0004', '0b1f6f0e-3d57-4b36-9c07-7e2f8f6b7a10', 'assistant', '[{"type":"text","data":{"text":"Done: the shell said hello."}},{"type":"finish","data":{"reason":"end_turn","time":1794979524}}]', 'claude-sonnet-4-5', 1794979524, 1794979524, 1794979524, 'anthropic', 0);
