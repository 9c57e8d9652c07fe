"""Answers in place of the models, so that the real command line programs run without an account or a network.

    model_server.py PORT_FILE LOG_FILE PLAY_FILE

Listens on a free port of 127.0.0.1 and writes it to PORT_FILE. Speaks as much of the Anthropic Messages API and of the
OpenAI Responses API as Claude Code and Codex need, each of them as either side. Standard library only.

PLAY_FILE is JSON: {"sides": {NAME: [[WORDS, [ANSWER, ...]], ...]}, "strangers": {"messages": NAME, "responses": NAME}}.
A conversation is of the side that its first prompt names ("You are the NAME."), else of the one that "strangers" names
for its API; a sub-agent of Claude is of the side "helper". The first rule whose words stand in the last prompt answers
it: the first such prompt with the first ANSWER and so on, the last one stays. An ANSWER is a STEP or a list of them, one
for each response within the turn. A STEP is a text, or an object with any of

    "say": text               "write": [name, contents]       "run": shell command       "tool": {"name", "input"}
    "gate": name              waits until the file GATE-name stands beside PORT_FILE
    "wait": seconds           before the first byte           "slow": seconds between pieces of the text
    "fail": {"status", "retry_after", "message", "times"}     instead of an answer, as often as "times" says (always)

LOG_FILE gets a JSON object a line: one for each request of the play ("fresh" when this prompt was not asked before), and
one with "done" when its answer is out. "at" is seconds since 1970.
"""
import gzip
import json
import os
import re
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NOTICE = re.compile(r"<task-notification>.*?</task-notification>", re.S)
REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.S)
CUT_OFF = re.compile(r"\[Request interrupted by user( for tool use)?\]")
# What Codex adds to a conversation in the person's name.
ADDED = re.compile(r"\s*(<[a-zA-Z_]+[^>]*>|# AGENTS\.md)")
SIDE = re.compile(r"You are the (\w+)")
FOLDER = re.compile(r"(?:[Ww]orking directory: *|<cwd>)([^\s\\<]+)")


def text_of(content):
    if isinstance(content, str):
        return content
    parts = [part.get("text", "") for part in content or [] if isinstance(part, dict)]
    return "\n".join(part for part in parts if part)


def new_id(kind):
    return kind + "_" + uuid.uuid4().hex[:24]


class Asked:
    """What a request asks: of whom, the first and the last prompt, where that stands, and how many responses it had."""

    def __init__(self):
        self.api, self.helper, self.first, self.prompt, self.place, self.step = "", False, "", "", (0, 0), 0
        self.tools, self.folder, self.session = {}, ".", ""

    def prompted(self, text, place):
        self.first = self.first or text
        self.prompt, self.place, self.step = text, place, 0


def of_messages(body, headers):
    asked = Asked()
    asked.api, asked.helper = "messages", bool(headers.get("x-claude-code-agent-id"))
    asked.session = headers.get("x-claude-code-session-id") or ""
    asked.tools = {tool.get("name"): tool for tool in body.get("tools") or []}
    for at, message in enumerate(body.get("messages") or []):
        if message.get("role") == "assistant":
            asked.step += 1
        if message.get("role") != "user":
            continue
        blocks = message.get("content")
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks or []
        whole = [block.get("text", "") for block in blocks if block.get("type") == "text"]
        # A report of the background comes in a reminder; all else in one is the program's own.
        texts = [REMINDER.sub(lambda found: "".join(NOTICE.findall(found.group(0))), text).strip() for text in whole]
        cut_off = any(CUT_OFF.search(text) for text in texts)
        texts = [text for text in texts if text and not CUT_OFF.fullmatch(text)]
        beside_a_result = any(block.get("type") == "tool_result" for block in blocks)
        if texts and (not beside_a_result or cut_off or NOTICE.search(texts[-1])):
            asked.prompted(texts[-1], (at, len(texts)))
    found = FOLDER.search(text_of(body.get("system"))) or FOLDER.search(json.dumps(body))
    asked.folder = found.group(1) if found else "."
    return asked


def of_responses(body, headers):
    asked = Asked()
    asked.api = "responses"
    asked.session = headers.get("session-id") or headers.get("session_id") or body.get("prompt_cache_key") or ""
    for tool in body.get("tools") or []:
        for one in tool.get("tools") or [tool]:
            asked.tools.setdefault(one.get("name"), one)
    items, answering = body.get("input") or [], False
    for at, item in enumerate(items if isinstance(items, list) else []):
        kind, role = item.get("type", "message"), item.get("role")
        if kind == "message" and role == "user":
            text = text_of(item.get("content"))
            found = FOLDER.search(text)
            asked.folder = found.group(1) if found else asked.folder
            if not ADDED.match(text):
                asked.prompted(text.strip(), (at, 0))
                answering = False
        elif kind.endswith("_output"):
            answering = False
        elif kind.endswith("_call") or (kind == "message" and role == "assistant"):
            # What stands together came in one response.
            asked.step += not answering
            answering = True
    return asked


class Play:
    """Which answer a prompt gets. The same prompt at the same place of a conversation (a retry, or what follows a tool)
    gets the same."""

    def __init__(self, file, folder):
        with open(file) as opened:
            self.play = json.load(opened)
        self.folder, self.lock = folder, threading.Lock()
        self.uses, self.given, self.tries = {}, {}, {}

    def side(self, asked):
        if asked.helper:
            return "helper"
        named = SIDE.search(asked.first)
        if named and named.group(1) in self.play["sides"]:
            return named.group(1)
        return self.play.get("strangers", {}).get(asked.api, "stranger")

    def step(self, asked):
        """The step, and what the log says of it."""
        side = self.side(asked)
        rules = self.play["sides"].get(side) or [["", ["READY"]]]
        words, answers = next((rule for rule in rules if rule[0] in asked.prompt), ["", ["READY"]])
        with self.lock:
            key = (side, asked.session, words, asked.prompt, asked.place)
            fresh = key not in self.given
            if fresh:
                used = self.uses.get((side, words), 0)
                self.uses[side, words] = used + 1
                self.given[key] = answers[min(used, len(answers) - 1)]
            steps = self.given[key]
            steps = steps if isinstance(steps, list) else [steps]
            step = steps[asked.step] if asked.step < len(steps) else "Done."
            step = dict({"say": step} if isinstance(step, str) else step)
            count = self.tries[key + (asked.step,)] = self.tries.get(key + (asked.step,), 0) + 1
        if "fail" in step and count > step["fail"].get("times", count):
            del step["fail"]
        return step, {"side": side, "api": asked.api, "prompt": asked.prompt, "fresh": fresh, "step": asked.step,
                      "try": count, "say": step.get("say"), "fails": step.get("fail", {}).get("status")}

    def hold(self, step):
        gate = step.get("gate")
        while gate and not os.path.exists(os.path.join(self.folder, "GATE-" + gate)):
            time.sleep(0.02)
        time.sleep(step.get("wait", 0))


def shell_of(asked, command):
    if asked.api == "messages":
        return "Bash", {"command": command, "description": "Run it"}
    if "exec_command" in asked.tools:
        return "exec_command", {"cmd": command, "yield_time_ms": 10000}
    return "shell", {"command": ["sh", "-c", command]}


def tool_of(asked, step):
    """Name and input of the tool that a step calls, if it calls one."""
    if "tool" in step:
        return step["tool"]["name"], step["tool"]["input"]
    if "run" in step:
        return shell_of(asked, step["run"])
    if "write" in step:
        name, contents = step["write"]
        if asked.api == "messages":
            return "Write", {"file_path": os.path.join(asked.folder, name), "content": contents}
        folder = os.path.dirname(name) or "."
        return shell_of(asked, "mkdir -p %s && printf '%s' > %s" % (folder, contents.replace("\n", "\\n"), name))
    return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def plain(self, status, value, headers=()):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers:
            self.send_header(name, text)
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
            return self.plain(200, {"input_tokens": len(raw) // 4})
        if path.endswith("/messages"):
            asked, serve = of_messages(body, self.headers), self.serve_messages
        elif path.endswith("/responses"):
            asked, serve = of_responses(body, self.headers), self.serve_responses
        else:
            return self.plain(404, {"error": {"message": "no"}})
        # The programs ask for titles and the like on their own: without tools, and not part of the play.
        if not body.get("tools"):
            return serve(asked, {"say": "ok"}, body)
        step, facts = self.server.play.step(asked)
        number = self.server.note(dict(facts))
        self.server.play.hold(step)
        try:
            self.refuse(asked, step["fail"]) if "fail" in step else serve(asked, step, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            facts["cut"] = True
        self.server.note({"done": number, "cut": facts.get("cut", False)})

    def refuse(self, asked, fail):
        status = fail["status"]
        kind = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}.get(status, "api_error")
        error = {"type": kind, "message": fail.get("message", "Refused by the test")}
        headers = [("retry-after", str(fail["retry_after"]))] if "retry_after" in fail else []
        value = {"type": "error", "error": error} if asked.api == "messages" else {"error": dict(error, code=kind)}
        self.plain(status, value, headers)

    def serve_messages(self, asked, step, body):
        blocks, tool = [], tool_of(asked, step)
        if step.get("say"):
            blocks.append({"type": "text", "text": step["say"]})
        if tool:
            blocks.append({"type": "tool_use", "id": new_id("toolu"), "name": tool[0], "input": tool[1]})
        usage = {"input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        stop = "tool_use" if tool else "end_turn"
        message = {"id": new_id("msg"), "type": "message", "role": "assistant", "model": body.get("model", "m"),
                   "content": blocks, "stop_reason": stop, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return self.plain(200, message)

        def events():
            yield {"type": "message_start", "message": dict(message, content=[], stop_reason=None)}
            for at, block in enumerate(blocks):
                if block["type"] == "text":
                    yield {"type": "content_block_start", "index": at, "content_block": {"type": "text", "text": ""}}
                    for piece in pieces(step):
                        yield {"type": "content_block_delta", "index": at, "delta": {"type": "text_delta", "text": piece}}
                else:
                    yield {"type": "content_block_start", "index": at, "content_block": dict(block, input={})}
                    delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
                    yield {"type": "content_block_delta", "index": at, "delta": delta}
                yield {"type": "content_block_stop", "index": at}
            yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
            yield {"type": "message_stop"}

        self.stream(events())

    def serve_responses(self, asked, step, body):
        items, tool = [], tool_of(asked, step)
        if step.get("say"):
            items.append({"type": "message", "id": new_id("msg"), "role": "assistant", "status": "completed",
                          "content": [{"type": "output_text", "text": step["say"], "annotations": []}]})
        if tool:
            items.append({"type": "function_call", "id": new_id("fc"), "call_id": new_id("call"), "status": "completed",
                          "name": tool[0], "arguments": json.dumps(tool[1])})
        usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110}
        response = {"id": new_id("resp"), "object": "response", "created_at": 0, "status": "completed",
                    "model": body.get("model", "m"), "output": items, "usage": usage, "error": None}
        if not body.get("stream"):
            return self.plain(200, response)

        def events():
            yield {"type": "response.created", "response": dict(response, status="in_progress", output=[], usage=None)}
            for at, item in enumerate(items):
                begun = dict(item, status="in_progress", content=[]) if item["type"] == "message" else item
                yield {"type": "response.output_item.added", "output_index": at, "item": begun}
                for piece in pieces(step) if item["type"] == "message" else ():
                    yield {"type": "response.output_text.delta", "item_id": item["id"], "output_index": at,
                           "content_index": 0, "delta": piece}
                yield {"type": "response.output_item.done", "output_index": at, "item": item}
            yield {"type": "response.completed", "response": response}

        self.stream(dict(event, sequence_number=at) for at, event in enumerate(events()))


def pieces(step):
    """The text of a step; where it is to come slowly, in pieces with a wait behind each."""
    text, slow = step["say"], step.get("slow", 0)
    if not slow:
        yield text
        return
    for at in range(0, len(text), 12):
        yield text[at:at + 12]
        time.sleep(slow)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, log, play):
        super().__init__(("127.0.0.1", 0), Handler)
        self.log, self.play, self.count, self.lock = log, play, 0, threading.Lock()

    def note(self, facts):
        with self.lock, open(self.log, "a") as log:
            self.count += 1
            log.write(json.dumps(dict({"number": self.count, "at": round(time.time(), 3)}, **facts)) + "\n")
            return self.count


def main():
    port_file, log, play = sys.argv[1:4]
    server = Server(log, Play(play, os.path.dirname(os.path.abspath(port_file))))
    with open(port_file + ".new", "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(port_file + ".new", port_file)
    server.serve_forever()


main()
