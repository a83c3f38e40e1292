#!/usr/bin/env python3
"""A plugin for lathe in Python, without any library.

It keeps tools away from files that must not be read, tells every command that it was started by an
agent, counts turns, and brings a tool of its own. Settings:

    {"plugin": [["./guard.py", {"deny": [".env", "secrets/"]}]]}

A plugin is a program that reads one JSON message a line and writes one JSON message a line. Standard
output belongs to the protocol; what people should read goes to standard error. docs/plugins.md has
all messages.
"""

import json
import sys


class Refused(Exception):
    """Says no to what was about to happen; its text is what the model reads."""


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


class Guard:
    def __init__(self):
        self.deny = [".env"]
        self.turns = 0
        self.asked = 0  # the number of our last request
        self.later = []  # what came in while we waited for an answer

    # What lathe asks

    def initialize(self, params):
        self.deny = (params.get("options") or {}).get("deny", self.deny)
        return {
            "hooks": ["tool.execute.before", "shell.env", "event"],
            "tools": [
                {
                    "id": "count_lines",
                    "description": "Counts the lines of a text file.",
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
                send({"method": "log", "params": {"level": "info", "message": "turn %d is over" % self.turns}})

    def execute(self, params):
        path, context = params["args"]["path"], params["context"]
        # A tool asks before it does what the user may not want. An answer that is an error ends the call.
        self.request("ask", {"call": context["call"], "permission": "read", "patterns": [path], "always": ["*"], "metadata": {}})
        send({"method": "progress", "params": {"call": context["call"], "title": "counting", "metadata": {"path": path}}})
        with open(path, encoding="utf-8") as file:
            lines = sum(1 for _ in file)
        return {"title": path, "output": "%d lines" % lines, "metadata": {"lines": lines}}

    # How messages come and go

    def request(self, method, params):
        """Asks lathe and waits for the answer. What else comes in meanwhile is done afterwards."""
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
            return  # a notification that we have no use for, as $/cancelRequest
        if method not in methods:
            send({"id": message["id"], "error": {"code": -32601, "message": "there is no method %s" % method}})
            return
        try:
            send({"id": message["id"], "result": methods[method](params)})
        except Exception as problem:  # whatever it is, lathe and the user must hear of it
            send({"id": message["id"], "error": {"code": 1, "message": str(problem) or repr(problem)}})

    def run(self):
        for line in sys.stdin:
            self.answer(json.loads(line))
            while self.later:
                self.answer(self.later.pop(0))


if __name__ == "__main__":
    Guard().run()
