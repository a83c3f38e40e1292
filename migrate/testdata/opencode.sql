PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE `project` (
          `id` text PRIMARY KEY,
          `worktree` text NOT NULL,
          `vcs` text,
          `name` text,
          `icon_url` text,
          `icon_url_override` text,
          `icon_color` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_initialized` integer,
          `sandboxes` text NOT NULL,
          `commands` text
        );
INSERT INTO project VALUES('global','/home/dev/shop','git',NULL,NULL,NULL,NULL,1794979525778,1794979525778,NULL,'[]',NULL);
CREATE TABLE `message` (
          `id` text PRIMARY KEY,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
        );
INSERT INTO message VALUES('msg_1ed1df99e001dJBl9oM3HoI5Lv','ses_e12e20704ffePqUnrY5knqQnvm',1794979527070,1794979534465,'{"role":"user","time":{"created":1794979527070},"agent":"build","model":{"providerID":"local","modelID":"scripted"},"summary":{"diffs":[]}}');
INSERT INTO message VALUES('msg_1ed1e00b3001EP2HmMi0TTiDIq','ses_e12e20704ffePqUnrY5knqQnvm',1794979528883,1794979533064,'{"parentID":"msg_1ed1df99e001dJBl9oM3HoI5Lv","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/shop","root":"/home/dev/shop"},"cost":0.000155,"tokens":{"total":180,"input":110,"output":20,"reasoning":0,"cache":{"write":0,"read":50}},"modelID":"scripted","providerID":"local","time":{"created":1794979528883,"completed":1794979533062},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_1ed1e1114001ykqstzieIJXEhb','ses_e12e20704ffePqUnrY5knqQnvm',1794979533076,1794979534088,'{"parentID":"msg_1ed1df99e001dJBl9oM3HoI5Lv","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/shop","root":"/home/dev/shop"},"cost":0.000155,"tokens":{"total":180,"input":110,"output":20,"reasoning":0,"cache":{"write":0,"read":50}},"modelID":"scripted","providerID":"local","time":{"created":1794979533076,"completed":1794979534087},"finish":"tool-calls"}');
INSERT INTO message VALUES('msg_1ed1e150b001IfxmL5INHmEDnF','ses_e12e20704ffePqUnrY5knqQnvm',1794979534091,1794979534893,'{"parentID":"msg_1ed1df99e001dJBl9oM3HoI5Lv","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/dev/shop","root":"/home/dev/shop"},"cost":0.000155,"tokens":{"total":180,"input":110,"output":20,"reasoning":0,"cache":{"write":0,"read":50}},"modelID":"scripted","providerID":"local","time":{"created":1794979534091,"completed":1794979534891},"finish":"stop"}');
CREATE TABLE `part` (
          `id` text PRIMARY KEY,
          `message_id` text NOT NULL,
          `session_id` text NOT NULL,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `data` text NOT NULL,
          CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
        );
INSERT INTO part VALUES('prt_1ed1df9ae001n0nyui0TT8Juvm','msg_1ed1df99e001dJBl9oM3HoI5Lv','ses_e12e20704ffePqUnrY5knqQnvm',1794979528840,1794979528844,'{"type":"text","text":"\"Say hello with the shell\""}');
INSERT INTO part VALUES('prt_1ed1e0981001nyWB3ZItz0PWi6','msg_1ed1e00b3001EP2HmMi0TTiDIq','ses_e12e20704ffePqUnrY5knqQnvm',1794979531137,1794979531139,'{"snapshot":"ce14015646f00b4e1ecee1454e50d510e5c62043","type":"step-start"}');
INSERT INTO part VALUES('prt_1ed1e09840018sstlKgcnfihXS','msg_1ed1e00b3001EP2HmMi0TTiDIq','ses_e12e20704ffePqUnrY5knqQnvm',1794979531141,1794979531180,'{"type":"text","text":"I will look.","time":{"start":1794979531140,"end":1794979531178}}');
INSERT INTO part VALUES('prt_1ed1e098c001LWzm2GJQ2ETiJI','msg_1ed1e00b3001EP2HmMi0TTiDIq','ses_e12e20704ffePqUnrY5knqQnvm',1794979531148,1794979532015,'{"type":"tool","tool":"bash","callID":"call_10","state":{"status":"completed","input":{"command":"echo hello from the shell","description":"Say hello"},"output":"hello from the shell\n","metadata":{"output":"hello from the shell\n","exit":0,"truncated":false},"title":"echo hello from the shell","time":{"start":1794979531170,"end":1794979532003}}}');
INSERT INTO part VALUES('prt_1ed1e1019001u6GHHWM6HdMFDf','msg_1ed1e00b3001EP2HmMi0TTiDIq','ses_e12e20704ffePqUnrY5knqQnvm',1794979532825,1794979532832,'{"reason":"tool-calls","snapshot":"ce14015646f00b4e1ecee1454e50d510e5c62043","type":"step-finish","tokens":{"total":180,"input":110,"output":20,"reasoning":0,"cache":{"write":0,"read":50}},"cost":0.000155}');
INSERT INTO part VALUES('prt_1ed1e12fe001yu50fhGk7lyZja','msg_1ed1e1114001ykqstzieIJXEhb','ses_e12e20704ffePqUnrY5knqQnvm',1794979533566,1794979533567,'{"snapshot":"ce14015646f00b4e1ecee1454e50d510e5c62043","type":"step-start"}');
INSERT INTO part VALUES('prt_1ed1e1302001ZO96rhijYu7WjF','msg_1ed1e1114001ykqstzieIJXEhb','ses_e12e20704ffePqUnrY5knqQnvm',1794979533570,1794979533597,'{"type":"text","text":"I will look.","time":{"start":1794979533570,"end":1794979533596}}');
INSERT INTO part VALUES('prt_1ed1e1306001YH5wOpJJhlt3In','msg_1ed1e1114001ykqstzieIJXEhb','ses_e12e20704ffePqUnrY5knqQnvm',1794979533574,1794979533656,'{"type":"tool","tool":"read","callID":"call_11","state":{"status":"error","input":{"filePath":"nonexistent.txt"},"error":"File not found: /home/dev/shop/nonexistent.txt","time":{"start":1794979533593,"end":1794979533654}}}');
INSERT INTO part VALUES('prt_1ed1e1475001DzirrdoGB18kxq','msg_1ed1e1114001ykqstzieIJXEhb','ses_e12e20704ffePqUnrY5knqQnvm',1794979533942,1794979533944,'{"reason":"tool-calls","snapshot":"ce14015646f00b4e1ecee1454e50d510e5c62043","type":"step-finish","tokens":{"total":180,"input":110,"output":20,"reasoning":0,"cache":{"write":0,"read":50}},"cost":0.000155}');
INSERT INTO part VALUES('prt_1ed1e1672001XO5ncTyxczO3OK','msg_1ed1e150b001IfxmL5INHmEDnF','ses_e12e20704ffePqUnrY5knqQnvm',1794979534450,1794979534452,'{"snapshot":"ce14015646f00b4e1ecee1454e50d510e5c62043","type":"step-start"}');
INSERT INTO part VALUES('prt_1ed1e1677001qKZwje7DNGgiLp','msg_1ed1e150b001IfxmL5INHmEDnF','ses_e12e20704ffePqUnrY5knqQnvm',1794979534455,1794979534461,'{"type":"text","text":"Done: the shell said hello.","time":{"start":1794979534455,"end":1794979534459}}');
INSERT INTO part VALUES('prt_1ed1e1762001LSWLwiU06mf04W','msg_1ed1e150b001IfxmL5INHmEDnF','ses_e12e20704ffePqUnrY5knqQnvm',1794979534691,1794979534695,'{"reason":"stop","snapshot":"ce14015646f00b4e1ecee1454e50d510e5c62043","type":"step-finish","tokens":{"total":180,"input":110,"output":20,"reasoning":0,"cache":{"write":0,"read":50}},"cost":0.000155}');
CREATE TABLE `session` (
          `id` text PRIMARY KEY,
          `project_id` text NOT NULL,
          `workspace_id` text,
          `parent_id` text,
          `slug` text NOT NULL,
          `directory` text NOT NULL,
          `path` text,
          `title` text NOT NULL,
          `version` text NOT NULL,
          `share_url` text,
          `summary_additions` integer,
          `summary_deletions` integer,
          `summary_files` integer,
          `summary_diffs` text,
          `metadata` text,
          `cost` real DEFAULT 0 NOT NULL,
          `tokens_input` integer DEFAULT 0 NOT NULL,
          `tokens_output` integer DEFAULT 0 NOT NULL,
          `tokens_reasoning` integer DEFAULT 0 NOT NULL,
          `tokens_cache_read` integer DEFAULT 0 NOT NULL,
          `tokens_cache_write` integer DEFAULT 0 NOT NULL,
          `revert` text,
          `permission` text,
          `agent` text,
          `model` text,
          `time_created` integer NOT NULL,
          `time_updated` integer NOT NULL,
          `time_compacting` integer,
          `time_archived` integer,
          CONSTRAINT `fk_session_project_id_project_id_fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE
        );
INSERT INTO session VALUES('ses_e12e20704ffePqUnrY5knqQnvm','global',NULL,NULL,'quick-orchid','/home/dev/shop','','Say hello','1.18.33',NULL,0,0,0,NULL,NULL,0.00046500000000000002702,330,60,0,150,0,NULL,'[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"},{"permission":"plan_exit","pattern":"*","action":"deny"}]','build','{"id":"scripted","providerID":"local","variant":"default"}',1794979526908,1794979534901,NULL,NULL);
COMMIT;
