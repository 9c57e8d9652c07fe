"""Answers in place of the models, so that the real command line programs run without an account or a network.

    model_server.py PORT_FILE LOG_FILE

Listens on a free port of 127.0.0.1 and writes it to PORT_FILE. Speaks as much of the Anthropic Messages API (the
implementer's) and of the OpenAI Responses API (the reviewer's) as Claude Code and Codex need for a checklist of three
phases: feedback once, none, twice. Every prompt and answer goes to LOG_FILE, a JSON object a line. Standard library only.
"""
import gzip
import json
import os
import re
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What the last prompt holds, and the answers to it in order; the last one stays. An answer may be a file to write
# (name, contents) and what is said after that.
IMPLEMENTER = [
    ("Feedback:", [
        (("src/one.txt", "one\nend\n"), "The closing line is there now."),
        (("src/three.txt", "three\n2026\n"), "The third file has its date."),
        (("src/three.txt", "2026\nthree\n"), "The date stands first."),
    ]),
    ("Implement the next phase", [
        (("src/one.txt", "one\n"), "Phase one is written: src/one.txt."),
        (("src/two.txt", "two\n"), "Done."),
        (("src/three.txt", "three\n"), "Done."),
        "COMPLETED",
    ]),
    ("", ["READY"]),
]
REVIEWER = [
    ("Review the implementer's work", [
        "One remark: src/one.txt has no closing line.",
        "The remark is dealt with.\n\nLGTM",
        "LGTM",
        "The third file needs a date.",
        "The date has to stand first.",
        "LGTM",
    ]),
    ("", ["READY"]),
]
REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.S)


class Play:
    """Which answer a prompt gets, and whether it is asked for the first time: the same prompt at the same place (a retry,
    or what comes after a tool) gets the same one again."""

    def __init__(self):
        self.lock, self.uses, self.given = threading.Lock(), {}, {}

    def answer(self, role, rules, prompt, place):
        for wanted, answers in rules:
            if wanted in prompt:
                break
        with self.lock:
            key = (role, wanted, prompt, place)
            fresh = key not in self.given
            if fresh:
                used = self.uses.get((role, wanted), 0)
                self.uses[role, wanted] = used + 1
                self.given[key] = answers[min(used, len(answers) - 1)]
            return self.given[key], fresh


def text_of(content):
    if isinstance(content, str):
        return content
    parts = [part.get("text", "") for part in content or [] if isinstance(part, dict)]
    return "\n".join(part for part in parts if part)


def new_id(kind):
    return kind + "_" + uuid.uuid4().hex[:24]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def plain(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def stream(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            self.wfile.write(("event: %s\ndata: %s\n\n" % (event["type"], json.dumps(event))).encode())
            self.wfile.flush()

    def do_HEAD(self):
        self.plain(200, {})

    def do_GET(self):
        listing = {"object": "list", "data": [], "models": [], "has_more": False}
        self.plain(200, listing) if self.path.startswith("/v1/models") else self.plain(404, {"error": {"message": "no"}})

    def body(self):
        raw = b""
        if "chunked" in (self.headers.get("Transfer-Encoding") or ""):
            while size := int(self.rfile.readline().split(b";")[0], 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(raw) if self.headers.get("Content-Encoding") == "gzip" else raw

    def do_POST(self):
        raw = self.body()
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            self.plain(200, {"input_tokens": len(raw) // 4})
        elif path.endswith("/messages"):
            self.serve_messages(body)
        elif path.endswith("/responses"):
            self.serve_responses(body)
        else:
            self.plain(404, {"error": {"message": "no"}})

    def choose(self, role, rules, prompt, place, body):
        # The programs ask for titles and the like on their own: without tools, and not part of the play.
        if not body.get("tools"):
            return "ok"
        answer, fresh = self.server.play.answer(role, rules, prompt, place)
        if fresh:
            with self.server.play.lock, open(self.server.log, "a") as log:
                log.write(json.dumps({"role": role, "prompt": prompt, "answer": answer}) + "\n")
        return answer

    def serve_messages(self, body):
        prompt, place, wrote = "", 0, False
        for at, message in enumerate(body.get("messages") or []):
            if message.get("role") != "user":
                continue
            blocks = message.get("content")
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks or []
            if any(block.get("type") == "tool_result" for block in blocks):
                wrote = True
                continue
            texts = [REMINDER.sub("", block.get("text", "")).strip() for block in blocks if block.get("type") == "text"]
            texts = [text for text in texts if text]
            if texts:
                prompt, place, wrote = texts[-1], at, False
        answer = self.choose("implementer", IMPLEMENTER, prompt, place, body)
        block = {"type": "text", "text": answer if isinstance(answer, str) else answer[1]}
        if not isinstance(answer, str) and not wrote:
            name, contents = answer[0]
            found = re.search(r"[Ww]orking directory: *([^\s\\<]+)", json.dumps(body))
            folder = found.group(1) if found else "."
            block = {"type": "tool_use", "id": new_id("toolu"), "name": "Write",
                     "input": {"file_path": os.path.join(folder, name), "content": contents}}
        usage = {"input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        stop = "end_turn" if block["type"] == "text" else "tool_use"
        message = {"id": new_id("msg"), "type": "message", "role": "assistant", "model": body.get("model", "m"),
                   "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return self.plain(200, message)
        if stop == "end_turn":
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = dict(block, input={})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        self.stream([
            {"type": "message_start", "message": dict(message, content=[], stop_reason=None)},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ])

    def serve_responses(self, body):
        prompt, place = "", 0
        items = body.get("input") or []
        for at, item in enumerate(items if isinstance(items, list) else []):
            text = text_of(item.get("content"))
            if item.get("role") == "user" and not text.lstrip().startswith(("<", "# AGENTS")):
                prompt, place = text.strip(), at
        text = self.choose("reviewer", REVIEWER, prompt, place, body)
        item = {"type": "message", "id": new_id("msg"), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]}
        usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110}
        response = {"id": new_id("resp"), "object": "response", "created_at": 0, "status": "completed",
                    "model": body.get("model", "m"), "output": [item], "usage": usage, "error": None}
        if not body.get("stream"):
            return self.plain(200, response)
        begun = dict(response, status="in_progress", output=[], usage=None)
        events = [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added", "output_index": 0, "item": dict(item, status="in_progress", content=[])},
            {"type": "response.output_text.delta", "item_id": item["id"], "output_index": 0, "content_index": 0, "delta": text},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        self.stream([dict(event, sequence_number=at) for at, event in enumerate(events)])


def main():
    port_file, log = sys.argv[1:3]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.play, server.log = Play(), log
    with open(port_file + ".new", "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(port_file + ".new", port_file)
    server.serve_forever()


main()
