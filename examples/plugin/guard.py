#!/usr/bin/env python3
"""A plugin for lathe in Python, without any library.

It blocks tool calls on secret files, sets an environment variable for every command, counts turns,
and adds a tool. Config:

    {"plugin": [["./guard.py", {"deny": [".env", "secrets/"]}]]}

A plugin reads and writes one JSON message per line. Standard output is for the protocol; use standard
error for logs. docs/plugins.md describes all messages.
"""

import json
import sys


class Refused(Exception):
    """Blocks an operation. The model reads the message."""


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


class Guard:
    def __init__(self):
        self.deny = [".env"]
        self.turns = 0
        self.asked = 0  # ID of our last request
        self.later = []  # messages received while we waited for a response

    # Requests from lathe

    def initialize(self, params):
        self.deny = (params.get("options") or {}).get("deny", self.deny)
        return {
            "hooks": ["tool.execute.before", "shell.env", "event"],
            "tools": [
                {
                    "id": "count_lines",
                    "description": "Count the lines of a text file.",
                    "schema": {
                        "type": "object",
                        "properties": {"path": {"type": "string", "description": "Path of the file"}},
                        "required": ["path"],
                    },
                }
            ],
        }

    def hook(self, params):
        name, hook_input, output = params["name"], params.get("input") or {}, params.get("output") or {}
        if name == "tool.execute.before":
            for value in (output.get("args") or {}).values():
                if isinstance(value, str) and any(word in value for word in self.deny):
                    raise Refused("%s must not touch %s" % (hook_input.get("tool"), value))
            return {"output": None}  # nothing changed
        if name == "shell.env":
            output.setdefault("env", {})["STARTED_BY"] = "agent"
            return {"output": output}
        return {"output": None}

    def event(self, params):
        for event in params["events"]:
            if event["type"] == "session.idle":
                self.turns += 1
                send({"method": "log", "params": {"level": "info", "message": "turn %d ended" % self.turns}})

    def execute(self, params):
        path, context = params["args"]["path"], params["context"]
        # Ask for permission first. An error response ends the call.
        self.request("ask", {"call": context["call"], "permission": "read", "patterns": [path], "always": ["*"], "metadata": {}})
        send({"method": "progress", "params": {"call": context["call"], "title": "counting", "metadata": {"path": path}}})
        with open(path, encoding="utf-8") as file:
            lines = sum(1 for _ in file)
        return {"title": path, "output": "%d lines" % lines, "metadata": {"lines": lines}}

    # Messages

    def request(self, method, params):
        """Send a request and wait for the response. Handle other messages afterwards."""
        self.asked += 1
        send({"id": "p%d" % self.asked, "method": method, "params": params})
        for line in sys.stdin:
            message = json.loads(line)
            if message.get("id") == "p%d" % self.asked and "method" not in message:
                if "error" in message:
                    raise Refused(message["error"]["message"])
                return message.get("result")
            self.later.append(message)
        raise SystemExit

    def answer(self, message):
        method, params = message.get("method"), message.get("params") or {}
        if method == "event":
            self.event(params)
            return
        methods = {"initialize": self.initialize, "hook": self.hook, "tool.execute": self.execute}
        methods["ping"] = methods["dispose"] = lambda params: None
        if "id" not in message:
            return  # a notification that we ignore, such as $/cancelRequest
        if method not in methods:
            send({"id": message["id"], "error": {"code": -32601, "message": "unknown method %s" % method}})
            return
        try:
            send({"id": message["id"], "result": methods[method](params)})
        except Exception as problem:  # report every error to lathe
            send({"id": message["id"], "error": {"code": 1, "message": str(problem) or repr(problem)}})

    def run(self):
        for line in sys.stdin:
            self.answer(json.loads(line))
            while self.later:
                self.answer(self.later.pop(0))


if __name__ == "__main__":
    Guard().run()
